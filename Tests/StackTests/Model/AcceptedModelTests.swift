// Models that Core Data accepts, loaded from files as Xcode leaves them.

import CoreDataTestSupport
import CoreDataValues
import Synchronization
import Testing

@testable import CoreData

/// Writes model files into a folder and takes down what is told of them.
private struct ModelFolder {
    let folder = Folder()

    func write(_ entities: String, _ path: String = "M.xcdatamodel") throws -> URL {
        let place = folder.file(path)
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        try Data("<model>\n\(entities)\n</model>".utf8).write(to: place.appendingPathComponent("contents"))
        return place
    }

    func model(_ entities: String) throws -> NSManagedObjectModel { try NSManagedObjectModel(loading: write(entities)) }
}

@Suite(.serialized) struct AcceptedModelTests {
    private let files = ModelFolder()

    /// What was told of this test's models meanwhile; other tests may run beside it.
    private func told<T>(_ body: () throws -> T) rethrows -> (answer: T, warnings: [String]) {
        let lines = Lines()
        let former = CoreDataWarning.handler
        CoreDataWarning.handler = { lines.add($0) }
        defer { CoreDataWarning.handler = former }
        let answer = try body()
        return (answer, lines.all.filter { $0.contains(files.folder.url.path) })
    }

    private final class Lines: Sendable {
        private let held = Mutex<[String]>([])
        func add(_ line: String) { held.withLock { $0.append(line) } }
        var all: [String] { held.withLock { $0 } }
    }

    private func attribute(_ fields: String) -> String {
        "<entity name=\"Thing\"><attribute name=\"a\" optional=\"YES\" \(fields)/></entity>"
    }

    private static let gallery = """
        <entity name="Artist">
            <relationship name="thumbnail" optional="YES" maxCount="1" destinationEntity="Image" inverseName="thumbnail" inverseEntity="Image"/>
            <relationship name="images" optional="YES" toMany="YES" destinationEntity="Image" inverseName="artist" inverseEntity="Image"/>
        </entity>
        <entity name="Image">
            <attribute name="name" optional="YES" attributeType="String"/>
            <relationship name="artist" optional="YES" maxCount="1" destinationEntity="Artist" inverseName="thumbnail" inverseEntity="Artist"/>
            <relationship name="thumbnail" optional="YES" maxCount="1" destinationEntity="Artist" inverseName="thumbnail" inverseEntity="Artist"/>
        </entity>
        """

    @Test(
        "Models of one bundle that contradict each other are no merged model: a warning names both, and one that cannot be read"
    )
    func merged() throws {
        let first = try files.write("<entity name=\"Thing\"/>", "A.xcdatamodel")
        let bundle = try #require(Bundle(url: files.folder.url))
        let second = try files.write("<entity name=\"Other\"/>", "B.xcdatamodel")
        #expect(NSManagedObjectModel.mergedModel(from: [bundle])?.entities.count == 2)
        let broken = try files.write("<entity/>", "C.xcdatamodel")
        let partial = told { NSManagedObjectModel.mergedModel(from: [bundle]) }
        #expect(
            partial.answer?.entities.count == 2 && partial.warnings.count == 1
                && partial.warnings[0].contains(broken.path))
        try FileManager.default.removeItem(at: broken)
        _ = try files.write("<entity name=\"Thing\" isAbstract=\"YES\"/>", "B.xcdatamodel")
        let (model, warnings) = told { NSManagedObjectModel.mergedModel(from: [bundle]) }
        #expect(model == nil)
        #expect(warnings.count == 1 && warnings[0].contains("'Thing'"))
        #expect([first, second].allSatisfy { warnings[0].contains("\($0.path)/contents:2") }, "\(warnings)")
    }

    @Test("A relationship whose inverse names another one back is loaded with a warning, and each side is what it says")
    func inverses() throws {
        let url = try files.write(Self.gallery)
        let (model, warnings) = try told { try NSManagedObjectModel(loading: url) }
        #expect(warnings.count == 2)
        #expect(
            warnings.contains {
                $0.hasPrefix(url.path + "/contents:8:5: warning: ")
                    && $0.contains("“Image.artist” has the inverse “Artist.thumbnail”")
            })
        #expect(model.warnings == warnings)
        // As declared, so that stores are recognised.
        let artist = try #require(model.entitiesByName["Image"]?.relationshipsByName["artist"])
        #expect(artist.inverseRelationship?.name == "thumbnail" && artist.inverseRelationship?.owner?.name == "Artist")
        var declared = Relationship(name: "artist", destinationName: "Artist")
        (declared.inverseName, declared.isOptional) = ("thumbnail", true)
        #expect(artist.versionHash == VersionHash.propertyHash(declared, owner: "Image"))
        for type in StoreMaker.types {
            let stack = try Stack(type, model: model, undo: false)
            let (painter, image) = (stack.context.make("Artist"), stack.context.make("Image", ["name": "i"]))
            image.setValue(painter, forKey: "artist")
            #expect(painter.value(forKey: "thumbnail") == nil)
            painter.setValue(image, forKey: "thumbnail")
            #expect(image.value(forKey: "thumbnail") as? NSManagedObject === painter)
            try stack.context.save()
            let context = stack.another()
            let read = try #require(try context.all("Image").first)
            #expect((read.value(forKey: "artist") as? NSManagedObject)?.entity.name == "Artist", "\(type)")
            #expect((read.value(forKey: "thumbnail") as? NSManagedObject)?.entity.name == "Artist")
        }
    }

    @Test(
        "A to-many that names a to-one as its inverse and is not named back has the members that the to-one's column says"
    )
    func lentColumn() throws {
        let stack = try Stack(model: try told { try files.model(Self.gallery) }.answer, undo: false)
        let (painter, image) = (stack.context.make("Artist"), stack.context.make("Image", ["name": "i"]))
        image.setValue(painter, forKey: "artist")
        try stack.context.save()
        let context = stack.another()
        let read = try #require(try context.all("Artist").first)
        #expect((read.value(forKey: "images") as? NSSet)?.count == 1)
        read.setValue(Set([context.make("Image", ["name": "j"])]), forKey: "images")
        try context.save()
        let reader = stack.another()
        let again = try reader.all("Image").filter { $0.value(forKey: "artist") != nil }
        #expect(again.map { $0.value(forKey: "name") as? String } == ["j"])
    }

    @Test(
        "Of versions without a current one the one is taken that the store was written with, else the last, with a warning"
    )
    func versions() throws {
        for (name, attribute) in [("M", "one"), ("M 2", "two"), ("M 10", "ten")] {
            _ = try files.write(
                "<entity name=\"Thing\"><attribute name=\"\(attribute)\" optional=\"YES\" attributeType=\"String\"/></entity>",
                "M.xcdatamodeld/\(name).xcdatamodel")
        }
        let package = files.folder.file("M.xcdatamodeld")
        func keys(_ model: NSManagedObjectModel?) -> [String] {
            model.map { Array($0.entitiesByName["Thing"]?.attributesByName.keys ?? [:].keys) } ?? []
        }
        let (last, warnings) = try told { try NSManagedObjectModel(loading: package) }
        #expect(keys(last) == ["ten"])
        #expect(
            warnings.count == 1 && warnings[0].hasPrefix(package.path + "/M 10.xcdatamodel/contents:1:1: warning: "))
        let second = try NSManagedObjectModel(loading: package.appendingPathComponent("M 2.xcdatamodel"))
        let store = try Stack(model: second)
        let metadata = store.coordinator.metadata(for: store.coordinator.persistentStores[0])
        let (fitting, told) = try told { try NSManagedObjectModel(loading: package, forStoreMetadata: metadata) }
        #expect(keys(fitting) == ["two"] && told.count == 1 && told[0].contains("“M 2” is taken"))
        // A list without a name is as good as none; a store of none of them leaves the last.
        try Data("<plist version=\"1.0\"><dict/></plist>".utf8).write(
            to: package.appendingPathComponent(".xccurrentversion"))
        #expect(
            keys(try self.told { try NSManagedObjectModel(loading: package, forStoreMetadata: [:]) }.answer) == ["ten"])
    }

    final class HomeContainer: NSPersistentContainer, @unchecked Sendable {
        nonisolated(unsafe) static var home = URL(fileURLWithPath: "/")
        override class func defaultDirectoryURL() -> URL { home }
    }

    @Test("A container's store decides between versions only where the package does not")
    func container() throws {
        for name in ["M", "M 2"] {
            _ = try files.write(
                "<entity name=\"Thing\"><attribute name=\"v\(name.count)\" optional=\"YES\" attributeType=\"String\"/></entity>",
                "M.xcdatamodeld/\(name).xcdatamodel")
        }
        let package = files.folder.file("M.xcdatamodeld")
        let first = try NSManagedObjectModel(loading: package.appendingPathComponent("M.xcdatamodel"))
        let made = NSPersistentStoreCoordinator(managedObjectModel: first)
        let store = try made.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: files.folder.file("M.sqlite"), options: nil)
        try made.remove(store)
        HomeContainer.home = files.folder.url
        let chosen = try told { try HomeContainer.model(at: package, "M") }
        #expect(chosen.answer == first && chosen.warnings.count == 1)
        #expect(try told { try HomeContainer.model(at: package, "Other") }.answer != first)
    }

    @Test("Transformers are found by the names of their classes")
    func transformers() throws {
        final class Reversing: ValueTransformer {
            override func transformedValue(_ value: Any?) -> Any? {
                (value as? String).map { Data($0.utf8.reversed()) }
            }
            override func reverseTransformedValue(_ value: Any?) -> Any? {
                (value as? Data).flatMap { String(data: Data($0.reversed()), encoding: .utf8) }
            }
        }
        ValueTransformer.setValueTransformer(Reversing(), forName: NSValueTransformerName("AcceptedReversing"))
        for name in [
            "NSSecureUnarchiveFromDataTransformer", "NSSecureUnarchiveFromData", "Reversing",
            String(reflecting: Reversing.self),
        ] {
            let text = attribute("attributeType=\"Transformable\" valueTransformerName=\"\(name.xml)\"")
            let stack = try Stack(model: try files.model(text), undo: false)
            _ = stack.context.make("Thing", ["a": "kept"])
            try stack.context.save()
            #expect(try stack.another().all("Thing").first?.value(forKey: "a") as? String == "kept", "\(name)")
        }
        #expect(ValueTransformer(forName: NSValueTransformerName("Nobody")) == nil)
        #expect(!ValueTransformer.valueTransformerNames().contains(NSValueTransformerName("Reversing")))
    }

    @Test("Bounds, lengths and patterns of a model are validation predicates with the codes of their errors")
    func predicates() throws {
        let cases: [(String, [Any], [Any], [Int])] = [
            ("attributeType=\"Integer 16\" minValueString=\"2\" maxValueString=\"5\"", [2, 5], [1, 6], [1620, 1610]),
            (
                "attributeType=\"String\" minValueString=\"2\" maxValueString=\"4\"", ["ab", "abcd"], ["a", "abcde"],
                [1670, 1660]
            ),
            ("attributeType=\"String\" regularExpressionString=\"[0-9]+\"", ["12"], ["x"], [1680]),
            ("attributeType=\"Float\" minValueString=\"0.7\"", [Float(0.7)], [Float(0.6)], [1620]),
            (
                "attributeType=\"Date\" minDateTimeInterval=\"10\"", [Date(timeIntervalSinceReferenceDate: 10)],
                [Date(timeIntervalSinceReferenceDate: 9)], [1640]
            ),
        ]
        for (fields, right, wrong, codes) in cases {
            let model = try files.model(attribute(fields))
            let property = try #require(model.entitiesByName["Thing"]?.propertiesByName["a"])
            #expect(
                property.validationPredicates.count == codes.count
                    && property.validationWarnings.map { "\($0)" } == codes.map { "\($0)" })
            #expect(right.allSatisfy { value in property.validationPredicates.allSatisfy { $0.evaluate(with: value) } })
            for (value, predicate) in zip(wrong, property.validationPredicates) {
                #expect(!predicate.evaluate(with: value), "\(predicate)")
            }
            let copy = try #require(property.copy() as? NSPropertyDescription)
            #expect(copy.validationPredicates.count == codes.count)
            // One error a rule, not two.
            let stack = try Stack(model: model, undo: false)
            stack.context.make("Thing").setValue(wrong[0], forKey: "a")
            #expect(code { try stack.context.save() } == codes[0])
            copy.setValidationPredicates([], withValidationWarnings: nil)
            #expect(copy.validationPredicates.isEmpty && !property.validationPredicates.isEmpty)
        }
        let free = NSAttributeDescription()
        free.setValidationPredicates([NSPredicate(value: true)], withValidationWarnings: ["never"])
        #expect(free.validationPredicates.count == 1 && free.validationWarnings as? [String] == ["never"])
    }

    @Test("Defaults of binary and transformable attributes are kept", arguments: StoreMaker.types)
    func defaults(_ type: String) throws {
        for (kind, value) in [("Binary", Data("#555555".utf8) as NSObject), ("Transformable", "#555555" as NSString)] {
            let model = try files.model(attribute("attributeType=\"\(kind)\" defaultValueString=\"#555555\""))
            #expect(
                (model.entitiesByName["Thing"]?.attributesByName["a"]?.defaultValue as? NSObject)?.isEqual(value)
                    == true || kind == "Transformable")
            let stack = try Stack(type, model: model, undo: false)
            let shown = stack.context.make("Thing").value(forKey: "a")
            #expect("\(shown ?? "")" == "\(kind == "Binary" ? Data("#555555".utf8) as Any : "#555555")")
            try stack.context.save()
            let read = try stack.another().all("Thing").first?.value(forKey: "a")
            #expect("\(read ?? "")" == "\(kind == "Binary" ? Data("#555555".utf8) as Any : "#555555")")
        }
    }

    @Test("An entity that is its own sub-entity is an error of the model, in a file with its place and in code")
    func ownSubentity() throws {
        let text = sentence {
            _ = try files.model("<entity name=\"A\"/>\n<entity name=\"Loop\" parentEntity=\"Loop\"/>")
        }
        #expect(
            text.contains("M.xcdatamodel/contents:3:1: error: ") && text.contains("“Loop” inherits from itself"),
            "\(text)")
        let round = sentence {
            _ = try files.model("<entity name=\"A\" parentEntity=\"B\"/>\n<entity name=\"B\" parentEntity=\"A\"/>")
        }
        #expect(round.contains("contents:2:1: error: "))
        let (entity, model) = (NSEntityDescription(), NSManagedObjectModel())
        entity.name = "Loop"
        entity.subentities = [entity]
        model.entities = [entity]
        #expect(model.entityVersionHashesByName.isEmpty && entity.versionHash.isEmpty)
        #expect(throws: SchemaError.self) { try model.freeze() }
        entity.subentities = []
    }

    @Test(
        "A model that cannot be stored yet is refused by every store, by name",
        arguments: [NSSQLiteStoreType, NSInMemoryStoreType])
    func unstorable(_ type: String) throws {
        let model = NSManagedObjectModel(EntityDraft("Shape", [Clinic.attribute("path", .undefined)]))
        let folder = Folder()
        let error = caught { _ = try NSPersistentStoreCoordinator(model, type, at: folder.file("x.sqlite")) }
        #expect(error.number == 134060)
        #expect(error.sentence.hasPrefix("unsupported: the attribute Shape.path is of undefined type"))
        #expect(!FileManager.default.fileExists(atPath: folder.file("x.sqlite").path))
    }
}

extension String {
    fileprivate var xml: String {
        replacingOccurrences(of: "<", with: "&lt;").replacingOccurrences(of: ">", with: "&gt;")
    }
}
