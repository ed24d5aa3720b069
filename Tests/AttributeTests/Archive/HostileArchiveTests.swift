// Archives in the rows of a file that mean harm: reading them is an error of the read and nothing else.

import CoreDataSeeds
import CoreDataTestSupport
import CoreDataValues
import Foundation
import Testing

@testable import CoreData

/// A class that codes itself and holds others, of which it may hold itself.
final class Chain: NSObject, NSSecureCoding {
    static var supportsSecureCoding: Bool { true }
    let links: [Any]
    init(_ links: [Any]) { self.links = links }
    init?(coder: NSCoder) {
        links = coder.decodeObject(of: [NSArray.self, Chain.self, NSString.self], forKey: "links") as? [Any] ?? []
    }
    func encode(with coder: NSCoder) { coder.encode(links as NSArray, forKey: "links") }
}

/// A program's transformer that hands its bytes to Foundation.
final class Careless: ValueTransformer {
    override class func transformedValueClass() -> AnyClass { NSData.self }
    override func transformedValue(_ value: Any?) -> Any? {
        value.flatMap { try? PropertyListSerialization.data(fromPropertyList: $0, format: .binary, options: 0) }
    }
    override func reverseTransformedValue(_ value: Any?) -> Any? {
        (value as? Data).flatMap { try? PropertyListSerialization.propertyList(from: $0, format: nil) }
    }
}

final class ChainTransformer: NSSecureUnarchiveFromDataTransformer {
    override class var allowedTopLevelClasses: [AnyClass] { super.allowedTopLevelClasses + [Chain.self] }
}

@Suite("Hostile archives")
struct HostileArchiveTests {
    static let chain = NSStringFromClass(Chain.self)

    enum Harm: String, CaseIterable, Sendable {
        case shared, deep, inItself, many, cutShort, sharedList, deepXML

        /// An archive made of objects of one class, which have their parts under a key.
        func bytes(_ name: String, _ key: String) -> [UInt8] {
            var archive = ArchiveBytes()
            func holder(_ members: [Int]) -> Int {
                if key == "NS.objects" { return archive.object(name, members) }
                return archive.object(name, key, archive.object("NSArray", members))
            }
            switch self {
            case .shared:
                var last = archive.text("ha")
                for _ in 0..<40 { last = holder([last, last]) }
                return archive.bytes(root: last)
            case .deepXML:
                let arrays = [("<array>", 100_000), ("</array>", 100_000)].map { String(repeating: $0.0, count: $0.1) }
                    .joined()
                return Array("<plist><dict><key>$objects</key>\(arrays)<key>$top</key><dict/></dict></plist>".utf8)
            case .deep:
                var last = archive.text("ha")
                for _ in 0..<30_000 { last = holder([last]) }
                return archive.bytes(root: last)
            case .inItself:
                let root = key == "NS.objects" ? holder([archive.next(name)]) : inCircle(&archive, name, key)
                return archive.bytes(root: root)
            case .many: return archive.bytes(root: holder((0..<100_001).map { archive.text("\($0)") }))
            case .cutShort: return archive.bytes(root: holder([])).dropLast(50)
            case .sharedList:
                var list = ListBytes()
                return list.bytes(top: list.dictionary([("$objects", list.shared(40)), ("$top", list.dictionary([]))]))
            }
        }

        private func inCircle(_ archive: inout ArchiveBytes, _ name: String, _ key: String) -> Int {
            _ = archive.next(name)
            let next = archive.next("NSArray")
            let array = archive.object("NSArray", [next + 1])
            return archive.object(name, key, array)
        }

        var clause: String {
            switch self {
            case .shared, .sharedList: "more than 200000 things"
            case .deep, .deepXML: "512 levels"
            case .inItself: "inside itself"
            case .many: "more than the 100000 "
            case .cutShort: "amaged"
            }
        }
    }

    private func model() -> NSManagedObjectModel {
        ValueTransformer.setValueTransformer(Careless(), forName: NSValueTransformerName("Careless"))
        ValueTransformer.setValueTransformer(ChainTransformer(), forName: NSValueTransformerName("Chains"))
        var site = EntityDraft(name: "Site")
        site.attributes = [
            ("plain", nil), ("secure", "Chains"), ("any", "NSUnarchiveFromData"), ("careless", "Careless"),
        ].map { Clinic.transformable($0.0, $0.1) }
        site.attributes.append(Clinic.attribute("name", .string))
        return NSManagedObjectModel(site)
    }

    /// A store with one site whose attribute has these bytes.
    private func stack(_ key: String, _ bytes: [UInt8]) throws -> Stack {
        let stack = try Stack(model: model())
        _ = stack.context.make("Site", ["name": "North"])
        try stack.context.save()
        stack.context.reset()
        try SQLiteFile(stack.folder.file("store.sqlite")).run("UPDATE ZSITE SET Z\(key.uppercased()) = ?", bytes)
        return stack
    }

    /// The getter answers nil, the next save throws, names the limit, and all else goes on.
    private func expectReadError(_ key: String, _ bytes: [UInt8], _ clause: String) throws {
        let stack = try stack(key, bytes)
        let context = stack.another()
        #expect(try context.all("Site").first?.value(forKey: key) == nil)
        do {
            try context.save()
            Issue.record("the error of the read was not thrown")
        } catch {
            #expect((error as? CocoaError)?.code.rawValue == 134060)
            let said = sentence(error)
            #expect(said.contains("Site.\(key)") && said.contains(clause), "\(said)")
        }
        let site = try #require(try context.all("Site").first)
        #expect(site.value(forKey: "name") as? String == "North")
        site.setValue("South", forKey: "name")
        try context.save()
    }

    @Test("An archive of the classes of property lists that means harm is a read error", arguments: Harm.allCases)
    func plain(_ harm: Harm) throws {
        try expectReadError("plain", harm.bytes("NSArray", "NS.objects"), harm.clause)
    }

    @Test(
        "So is one of a class that codes itself: Foundation never sees it", arguments: Harm.allCases, ["secure", "any"])
    func secure(_ harm: Harm, _ key: String) throws {
        try expectReadError(key, harm.bytes(Self.chain, "links"), harm.clause)
    }

    @Test(
        "A program's own transformer is not handed a property list that stands for 2^40 things, lies too deep or holds itself"
    )
    func careless() throws {
        var shared = ListBytes()
        try expectReadError("careless", shared.bytes(top: shared.shared(40)), "more than 200000 things")
        var deep = ListBytes()
        try expectReadError("careless", deep.bytes(top: deep.nested(100_000)), "512 levels")
        var circle = ListBytes()
        try expectReadError("careless", circle.bytes(top: circle.add(ListBytes.array([0]))), "inside itself")
    }

    @Test("Sound archives are read: of classes that code themselves, shared objects, many objects, in XML")
    func sound() throws {
        let stack = try Stack(model: model())
        let shared = Chain(["end"])
        let numbers = (0..<90_000).map { Double($0) / 3 }
        _ = stack.context.make(
            "Site",
            ["secure": Chain([shared, shared]), "any": Chain([shared]), "plain": numbers, "careless": ["a": 1]])
        try stack.context.save()
        stack.context.reset()
        let site = try #require(try stack.another().all("Site").first)
        let chain = try #require(site.value(forKey: "secure") as? Chain)
        #expect(chain.links.count == 2 && (chain.links[0] as? Chain)?.links as? [String] == ["end"])
        #expect(site.value(forKey: "any") is Chain && site.value(forKey: "plain") as? [Double] == numbers)
        #expect(site.value(forKey: "careless") as? [String: Int] == ["a": 1])

        let archiver = NSKeyedArchiver(requiringSecureCoding: true)
        archiver.outputFormat = .xml
        archiver.encode(["one", "two"] as NSArray, forKey: NSKeyedArchiveRootObjectKey)
        archiver.finishEncoding()
        let xml = try self.stack("plain", [UInt8](archiver.encodedData))
        #expect(try xml.another().all("Site").first?.value(forKey: "plain") as? [String] == ["one", "two"])
    }

    @Test("What could not be read again is not saved: an object that holds itself, more objects than are read")
    func writing() throws {
        let stack = try Stack(model: model())
        let site = stack.context.make("Site", ["plain": (0..<100_001).map { "\($0)" }])
        #expect(throws: CocoaError.self) { try stack.context.save() }
        func nested(_ depth: Int) -> Any { depth == 0 ? "x" : [nested(depth - 1)] }
        site.setValue(nested(600), forKey: "careless")
        site.setValue(nil, forKey: "plain")
        #expect(throws: CocoaError.self) { try stack.context.save() }
        site.setValue(nil, forKey: "careless")
        try stack.context.save()
    }

    @Test("Archives with bytes changed are read or are read errors, and never trap", arguments: 0..<10)
    func mutations(_ seed: Int) throws {
        var random = SplitMix(UInt64(seed))
        let transformers = [ChainTransformer(), NSSecureUnarchiveFromDataTransformer.allowing(nil)]
        let values: [Any] = [
            Chain([Chain(["a"]), "b"]),
            ["a", Date(), URL(fileURLWithPath: "/"), NSNull(), Decimal(1.5), ["k": 1]] as [Any],
        ]
        for value in values {
            let sound = [UInt8](try #require(transformers[0].reverseTransformedValue(value) as? Data))
            for _ in 0..<200 {
                var changed = sound
                for _ in 0...random.below(3) {
                    changed[random.below(changed.count)] = UInt8(truncatingIfNeeded: random.next())
                }
                for transformer in transformers { _ = transformer.transformedValue(Data(changed)) }
            }
        }
    }
}
