// Metadata and property-list stores that mean harm.

import CoreDataSeeds
import CoreDataTestSupport
import CoreDataValues
import Foundation
import Testing

@testable import CoreData

@Suite("Hostile metadata")
struct HostileMetadataTests {
    enum Harm: String, CaseIterable, Sendable {
        case shared, deep, inItself, cutShort, entities, deepXML

        var bytes: [UInt8] {
            var list = ListBytes()
            switch self {
            case .shared: return list.bytes(top: list.dictionary([("a", list.shared(40))]))
            case .deep: return list.bytes(top: list.dictionary([("a", list.nested(100_000))]))
            case .inItself: return list.bytes(top: list.dictionary([("a", list.add(ListBytes.array([0])))]))
            case .cutShort: return list.bytes(top: list.dictionary([("a", list.text("b"))])).dropLast(40)
            case .entities:
                let names = (0..<40).map { "<!ENTITY e\($0 + 1) \"&e\($0);&e\($0);\">" }.joined()
                return Array(
                    "<!DOCTYPE plist [<!ENTITY e0 \"ha\">\(names)]><plist><dict><key>a</key><string>&e40;</string></dict></plist>"
                        .utf8)
            case .deepXML:
                return Array(
                    ("<plist><dict><key>a</key>" + String(repeating: "<array>", count: 100_000)
                        + String(repeating: "</array>", count: 100_000) + "</dict></plist>").utf8)
            }
        }

        /// What the error must say.
        var clause: String {
            switch self {
            case .shared: "more than 200000 things"
            case .deep, .deepXML: "512 levels"
            case .inItself: "inside itself"
            case .cutShort: "cut short"
            case .entities: "document type"
            }
        }
    }

    /// A store with one patient, closed.
    private func store(_ type: String = NSSQLiteStoreType) throws -> Rig {
        let rig = Rig()
        let store = try rig.add(type)
        let context = rig.context()
        _ = context.make("Patient", ["name": "Eve"])
        try context.save()
        store.metadata["mine"] = "kept"
        try context.save()
        try rig.coordinator.remove(store)
        return Rig(in: rig.folder)
    }

    private func write(_ bytes: [UInt8], _ rig: Rig) throws {
        try SQLiteFile(rig.folder.file("store")).run("UPDATE Z_METADATA SET Z_PLIST = ?", bytes)
    }

    private func expectRefused(_ rig: Rig, _ type: String, _ clause: String) {
        let url = rig.folder.file("store")
        for body in [
            { _ = try rig.add(type) },
            { _ = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .init(rawValue: type), at: url) },
            { try NSPersistentStoreCoordinator.setMetadata(["a": 1], type: .init(rawValue: type), at: url) },
        ] {
            #expect(code(of: body) == 134080)
            let said = sentence(of: body)
            #expect(said.contains(clause) && said.contains(url.path), "\(said)")
        }
    }

    @Test(
        "A SQLite store whose metadata mean harm is refused at once with 134080, and the error names the limit",
        arguments: Harm.allCases)
    func sqlite(_ harm: Harm) throws {
        let rig = try store()
        try write(harm.bytes, rig)
        expectRefused(rig, NSSQLiteStoreType, harm.clause)
    }

    @Test("Metadata over 16 MB are not read, and not written")
    func size() throws {
        let rig = try store()
        var list = ListBytes()
        let data = list.data([UInt8](repeating: 1, count: ArchiveLimits.metadataBytes))
        try write(list.bytes(top: list.dictionary([("a", data)])), rig)
        expectRefused(rig, NSSQLiteStoreType, "\(ArchiveLimits.metadataBytes)")

        let other = try store()
        let url = other.folder.file("store")
        let tooMuch = ["a": Data(repeating: 1, count: ArchiveLimits.metadataBytes)]
        #expect(code { try NSPersistentStoreCoordinator.setMetadata(tooMuch, type: .sqlite, at: url) } == 134060)
        let store = try other.add()
        #expect(store.metadata["mine"] as? String == "kept")
    }

    @Test("Values that lie deeper than they are read again are not taken as metadata")
    func deepValues() throws {
        let rig = try store()
        func nested(_ depth: Int) -> Any { depth == 0 ? "x" : [nested(depth - 1)] }
        let url = rig.folder.file("store")
        #expect(
            code { try NSPersistentStoreCoordinator.setMetadata(["a": nested(600)], type: .sqlite, at: url) } == 134060)
        try NSPersistentStoreCoordinator.setMetadata(["a": nested(400)], type: .sqlite, at: url)
        #expect(try rig.add().metadata["a"] is [Any])
    }

    @Test("A property-list store that means harm is refused at once with 134080", arguments: Harm.allCases)
    func propertyList(_ harm: Harm) throws {
        let rig = try store(NSPropertyListStoreType)
        try Data(harm.bytes).write(to: rig.folder.file("store"))
        expectRefused(rig, NSPropertyListStoreType, harm.clause)
    }

    @Test(
        "So is one whose objects are one object many times over, and one whose own metadata mean harm",
        arguments: [true, false])
    func propertyListParts(_ isMetadata: Bool) throws {
        let rig = try store(NSPropertyListStoreType)
        let url = rig.folder.file("store")
        let sound = try PropertyList(Data(contentsOf: url), .document(bytes: 1 << 20)).top
        var list = ListBytes()
        func text(_ key: String) -> (String, Int) { (key, list.text(sound[key]?.text ?? "")) }
        var entries = [text("format"), text(NSStoreUUIDKey), text(NSStoreTypeKey)]
        entries.append((NSStoreModelVersionHashesKey, list.dictionary([])))
        entries.append(("next", list.dictionary([])))
        entries.append(("pairs", list.array([])))
        let values = list.dictionary((0..<3_000).map { ("k\($0)", 0) })
        let object = list.dictionary([
            ("entity", list.text("Patient")), ("id", list.integer(1)), ("version", list.integer(1)), ("values", values),
        ])
        entries.append(("objects", list.array(isMetadata ? [] : Array(repeating: object, count: 3_000))))
        if isMetadata { entries.append(("metadata", list.data(Harm.shared.bytes))) }
        try Data(list.bytes(top: list.dictionary(entries))).write(to: url)
        expectRefused(rig, NSPropertyListStoreType, "more than 200000 things")
    }

    @Test("A property-list store in XML is read, and one whose list is not shared may be of any size")
    func honest() throws {
        let rig = Rig()
        let store = try rig.add(NSPropertyListStoreType)
        let context = rig.context()
        for number in 0..<5_000 { _ = context.make("Patient", ["name": "Eve \(number % 7)", "age": number]) }
        try context.save()
        try rig.coordinator.remove(store)
        let url = rig.folder.file("store")
        let list = try PropertyListSerialization.propertyList(from: Data(contentsOf: url), format: nil)
        for format in [PropertyListSerialization.PropertyListFormat.binary, .xml] {
            try PropertyListSerialization.data(fromPropertyList: list, format: format, options: 0).write(to: url)
            let again = Rig(in: rig.folder)
            try again.add(NSPropertyListStoreType)
            #expect(try again.context().count(for: NSFetchRequest<NSManagedObject>(entityName: "Patient")) == 5_000)
        }
    }

    @Test(
        "Stores whose metadata or whole file have bytes changed open or are refused, and never trap", arguments: 0..<8)
    func mutations(_ seed: Int) throws {
        var random = SplitMix(UInt64(seed))
        let sqlite = try store()
        let file = try store(NSPropertyListStoreType)
        let url = file.folder.file("store")
        let content = [UInt8](try Data(contentsOf: url))
        let metadata = try metadataBytes(sqlite)
        for _ in 0..<60 {
            var changed = content
            for _ in 0...random.below(3) {
                changed[random.below(changed.count)] = UInt8(truncatingIfNeeded: random.next())
            }
            try Data(changed).write(to: url)
            let again = Rig(in: file.folder)
            // Where the hashes differ it would be looked for a model that has them.
            guard
                (try? again.add(NSPropertyListStoreType, options: [NSIgnorePersistentStoreVersioningOption: true]))
                    != nil
            else { continue }
            _ = try? again.context().all("Patient").map { $0.value(forKey: "name") }
        }
        for _ in 0..<60 {
            var changed = metadata
            for _ in 0...random.below(3) {
                changed[random.below(changed.count)] = UInt8(truncatingIfNeeded: random.next())
            }
            try write(changed, sqlite)
            _ = try? NSPersistentStoreCoordinator.metadataForPersistentStore(
                type: .sqlite, at: sqlite.folder.file("store"))
        }
    }

    private func metadataBytes(_ rig: Rig) throws -> [UInt8] {
        try SQLiteFile(rig.folder.file("store")).bytes("SELECT Z_PLIST FROM Z_METADATA")[0]
    }
}
