// Mapping models that programs make, carried out by the migration manager.

import CoreDataTestSupport
import Testing

@testable import CoreData

/// Writes down in which order it is called.
final class LoggingPolicy: NSEntityMigrationPolicy {
    private func log(_ what: String, _ mapping: NSEntityMapping, _ manager: NSMigrationManager) {
        (manager.userInfo?["log"] as? NSMutableArray)?.add("\(mapping.name ?? "") \(what)")
    }
    override func begin(_ mapping: NSEntityMapping, with manager: NSMigrationManager) throws {
        log("begin", mapping, manager)
    }
    override func createDestinationInstances(
        forSource sInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
    ) throws {
        try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
        log("create", mapping, manager)
        #expect(manager.currentEntityMapping === mapping)
    }
    override func endInstanceCreation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {
        log("endCreation", mapping, manager)
    }
    override func createRelationships(
        forDestination dInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
    ) throws {
        try super.createRelationships(forDestination: dInstance, in: mapping, manager: manager)
        log("relate", mapping, manager)
    }
    override func endRelationshipCreation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {
        log("endRelating", mapping, manager)
    }
    override func performCustomValidation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {
        log("validate", mapping, manager)
    }
    override func end(_ mapping: NSEntityMapping, manager: NSMigrationManager) throws { log("end", mapping, manager) }
}

/// Functions for value expressions, an object for each word of a title, and a stop.
final class TitlePolicy: NSEntityMigrationPolicy {
    override class var functions: [String: Function] {
        ["shout:times:": function(TitlePolicy.shout), "fail": { _, _ in throw CocoaError(.fileLocking) }]
    }
    func shout(_ arguments: [Any?]) throws -> Any? {
        let times = (arguments[1] as? NSNumber)?.intValue ?? 0
        return ((arguments[0] as? String)?.uppercased() ?? "-") + String(repeating: "!", count: times)
    }
}

final class SplittingPolicy: NSEntityMigrationPolicy {
    override func createDestinationInstances(
        forSource sInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
    ) throws {
        for name in ["one", "two"] {
            let shelf = manager.destinationContext.make(
                "Shelf", ["place": "\(sInstance.value(forKey: "name") ?? "") \(name)"])
            manager.associate(sourceInstance: sInstance, withDestinationInstance: shelf, for: mapping)
        }
    }
    override func endRelationshipCreation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {
        let shelves = manager.destinationInstances(forEntityMappingName: mapping.name, sourceInstances: nil)
        let sources = manager.sourceInstances(forEntityMappingName: mapping.name, destinationInstances: shelves)
        #expect(sources.map { $0.value(forKey: "name") as? String } == ["Ann", "Ann", "Bob", "Bob"])
        #expect(
            manager.destinationInstances(forEntityMappingName: mapping.name, sourceInstances: [sources[2]]) == [
                shelves[2], shelves[3],
            ])
        #expect(manager.sourceInstances(forEntityMappingName: mapping.name, destinationInstances: nil) == sources)
        #expect(manager.sourceEntity(for: mapping) == sources[0].entity)
        #expect(manager.destinationEntity(for: mapping) == shelves[0].entity)
        #expect(manager.destinationInstances(forEntityMappingName: "Nothing", sourceInstances: nil).isEmpty)
    }
    override func end(_ mapping: NSEntityMapping, manager: NSMigrationManager) throws {
        manager.reset()
        #expect(manager.destinationInstances(forEntityMappingName: mapping.name, sourceInstances: nil).isEmpty)
    }
}

final class StoppingPolicy: NSEntityMigrationPolicy {
    override func begin(_ mapping: NSEntityMapping, with manager: NSMigrationManager) throws {
        manager.cancelMigrationWithError(CocoaError(.userCancelled))
    }
}

/// Has another thread look at the progress and cancel, while objects are made.
final class InterruptedPolicy: NSEntityMigrationPolicy {
    private var count = 0
    override func createDestinationInstances(
        forSource sInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
    ) throws {
        try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
        count += 1
        guard count == 2 else { return }
        nonisolated(unsafe) let manager = manager
        let done = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            let progress = manager.migrationProgress
            manager.cancelMigrationWithError(CocoaError(.userCancelled, userInfo: ["progress": progress]))
            done.signal()
        }
        done.wait()
    }
}

@Suite struct MigrationManagerTests {
    private let versions = Versions()
    private let first: NSManagedObjectModel
    private let second: NSManagedObjectModel

    init() throws {
        first = try versions.model("A", Versions.first)
        second = try versions.model("B", Versions.second)
        try versions.library(first, at: versions.file("old.sqlite"))
    }

    private func property(_ name: String, _ expression: String) -> NSPropertyMapping {
        let property = NSPropertyMapping()
        property.name = name
        property.valueExpression = NSExpression(format: expression)
        return property
    }

    private func entity(
        _ name: String, _ from: String?, _ to: String?, _ attributes: [NSPropertyMapping] = [],
        _ relationships: [NSPropertyMapping] = [],
        policy: NSEntityMigrationPolicy.Type? = nil, type: NSEntityMappingType = .customEntityMappingType
    ) -> NSEntityMapping {
        let mapping = NSEntityMapping()
        mapping.name = name
        mapping.mappingType = type
        mapping.sourceEntityName = from
        mapping.destinationEntityName = to
        mapping.attributeMappings = attributes
        mapping.relationshipMappings = relationships
        mapping.entityMigrationPolicyClassName = policy.map { String(reflecting: $0) }
        return mapping
    }

    private func model(_ mappings: NSEntityMapping...) -> NSMappingModel {
        let model = NSMappingModel()
        model.entityMappings = mappings
        return model
    }

    private static let instances = "FUNCTION($manager, 'destinationInstancesForEntityMappingNamed:sourceInstances:', "

    private var authors: NSEntityMapping {
        entity(
            "AuthorToPerson", "Author", "Person",
            [property("fullName", "$source.name"), property("born", "$source.born")])
    }

    private var books: NSEntityMapping {
        entity(
            "BookToBook", "Book", "Book",
            [property("title", "$source.title"), property("pages", "$source.pages"), property("kind", "$source.kind")],
            [property("author", "\(Self.instances)'AuthorToPerson', $source.author)")])
    }

    @discardableResult
    private func migrate(
        _ model: NSMappingModel, to name: String = "new.sqlite", type: NSPersistentStore.StoreType = .sqlite,
        _ info: [AnyHashable: Any]? = nil
    ) throws -> NSMigrationManager {
        let manager = NSMigrationManager(sourceModel: first, destinationModel: second)
        manager.userInfo = info
        try manager.migrateStore(
            from: versions.file("old.sqlite"), type: .sqlite, mapping: model, to: versions.file(name), type: type)
        return manager
    }

    /// A mapping model that is refused leaves nothing behind.
    private func refusal(_ model: NSMappingModel) -> CocoaError? {
        let error = thrown { try migrate(model) }
        #expect(!FileManager.default.fileExists(atPath: versions.file("new.sqlite").path))
        let left = (try? versions.folder.names()) ?? []
        #expect(!left.contains { $0.contains("migration-") })
        return error
    }

    // MARK: Passes

    @Test("13.4: three passes go through the mappings in order, with every hook of a policy")
    func passes() throws {
        let log = NSMutableArray()
        let (a, b) = (authors, books)
        a.entityMigrationPolicyClassName = "LoggingPolicy"
        b.entityMigrationPolicyClassName = "MappingTests.LoggingPolicy"
        let added = entity("Shelf", nil, "Shelf", policy: LoggingPolicy.self, type: .addEntityMappingType)
        let manager = try migrate(model(a, b, added), ["log": log])
        #expect(manager.migrationProgress == 1)
        #expect(manager.mappingModel.entityMappings.count == 3)
        let creates =
            ["AuthorToPerson begin", "AuthorToPerson create", "AuthorToPerson create", "AuthorToPerson endCreation"]
            + ["BookToBook begin"] + Array(repeating: "BookToBook create", count: 3) + [
                "BookToBook endCreation", "Shelf begin", "Shelf endCreation",
            ]
        let relates =
            ["AuthorToPerson relate", "AuthorToPerson relate", "AuthorToPerson endRelating"]
            + Array(repeating: "BookToBook relate", count: 3) + ["BookToBook endRelating", "Shelf endRelating"]
        let ends = [
            "AuthorToPerson validate", "BookToBook validate", "Shelf validate", "AuthorToPerson end", "BookToBook end",
            "Shelf end",
        ]
        #expect(log.compactMap { $0 as? String } == creates + relates + ends)
    }

    @Test(
        "A required relationship that the second pass fills is no error; one that nobody fills is one in the third, with the object"
    )
    func required() throws {
        try migrate(model(authors, books), to: "whole.sqlite")
        let titles = try versions.with(second, at: versions.file("whole.sqlite")) { context in
            try context.all("Book", by: "title").map {
                ($0.value(forKey: "author") as? NSManagedObject)?.value(forKey: "fullName") as? String
            }
        }
        #expect(titles == ["Ann", "Bob", "Ann"])
        let lonely = books
        lonely.relationshipMappings = []
        let error = refusal(model(authors, lonely))
        #expect(error?.code == .validationMultipleErrors)
        let errors = error?.userInfo[NSDetailedErrorsKey] as? [any Error]
        #expect(errors?.count == 3)
        #expect((errors?.first as? CocoaError)?.validationKey == "author")
    }

    @Test("The source stays as it was, and the new store has another UUID and the program's metadata")
    func source() throws {
        let metadata = { (model: NSManagedObjectModel, name: String) in
            try NSPersistentStoreCoordinator.metadataForPersistentStore(
                ofType: NSSQLiteStoreType, at: self.versions.file(name))
        }
        let url = versions.file("old.sqlite")
        var own = try metadata(first, "old.sqlite")
        own["flavour"] = "plum"
        try NSPersistentStoreCoordinator.setMetadata(own, forPersistentStoreOfType: NSSQLiteStoreType, at: url)
        try migrate(model(authors, books))
        #expect(try metadata(second, "new.sqlite")["flavour"] as? String == "plum")
        #expect(try metadata(second, "new.sqlite")[NSStoreUUIDKey] as? String != own[NSStoreUUIDKey] as? String)
        #expect(
            try versions.with(first, at: url) { try $0.count(for: NSFetchRequest<NSManagedObject>(entityName: "Book")) }
                == 3)
    }

    @Test(
        "A store goes to one of another type; objects that were there stay",
        arguments: [NSBinaryStoreType, NSXMLStoreType, NSSQLiteStoreType])
    func types(type: String) throws {
        for _ in 1...2 {
            try migrate(model(authors, books), to: "other", type: NSPersistentStore.StoreType(rawValue: type))
        }
        let count = try versions.with(second, at: versions.file("other"), type: type) { context in
            try context.all("Book", by: "title").map { $0.value(forKeyPath: "author.fullName") as? String }
        }
        #expect(count == ["Ann", "Ann", "Bob", "Bob", "Ann", "Ann"])
    }

    // MARK: Expressions

    @Test(
        "Value expressions have their variables, key paths, functions of the policy and of the language, and constants")
    func expressions() throws {
        func title(_ expression: String) throws -> [String?] {
            let mapping = books
            mapping.attributeMappings = [property("title", expression), property("kind", "$source.title")]
            mapping.entityMigrationPolicyClassName = "TitlePolicy"
            try? FileManager.default.removeItem(at: versions.file("new.sqlite"))
            try migrate(model(authors, mapping), ["shelf": "high", "deep": ["er": "deeper"]])
            return try versions.with(second, at: versions.file("new.sqlite")) { context in
                try context.all("Book", by: "kind").map { $0.value(forKey: "title") as? String }
            }
        }
        #expect(try title("'same'") == ["same", "same", "same"])
        #expect(try title("$source.author.name") == ["Ann", "Bob", "Ann"])
        #expect(try title("$manager.userInfo.shelf") == ["high", "high", "high"])
        #expect(try title("$manager.userInfo.deep.er") == ["deeper", "deeper", "deeper"])
        #expect(try title("$entityMapping.name") == ["BookToBook", "BookToBook", "BookToBook"])
        #expect(try title("$propertyMapping.name") == ["title", "title", "title"])
        #expect(try title("$destination.entity.name") == ["Book", "Book", "Book"])
        #expect(
            try title("FUNCTION($entityPolicy, 'shout:times:', $source.author.name, 2)") == ["ANN!!", "BOB!!", "ANN!!"])
        #expect(
            try title("lowercase:(FUNCTION($entityPolicy, 'shout:times:', $source.title, 1))") == [
                "apples!", "mice!", "zebras!",
            ])
        #expect(try title("TERNARY($source.pages == nil, 'thin', $source.kind)") == ["food", "thin", "nature"])
        #expect(try title("CAST($source.author.books.@count, 'NSString')") == ["2", "1", "2"])
    }

    @Test("FETCH finds source objects, for values as for the objects of a mapping")
    func fetches() throws {
        let some =
            "FETCH(FUNCTION($manager, 'fetchRequestForSourceEntityNamed:predicateString:', 'Book', \"kind == 'nature'\"), $manager.sourceContext, NO)"
        let nature = books
        nature.name = "Nature"
        nature.sourceExpression = NSExpression(format: some)
        let rest = books
        rest.name = "Rest"
        rest.sourceExpression = NSExpression(format: some.replacingOccurrences(of: "==", with: "!="))
        rest.attributeMappings?.append(property("kind", "'was other'"))
        let people = authors
        people.attributeMappings?.append(property("rank", some.replacingOccurrences(of: ", NO)", with: ", YES)")))
        people.relationshipMappings = [
            property(
                "books",
                "FUNCTION($manager, 'destinationInstancesForSourceRelationshipNamed:sourceInstances:', 'books', $source.books)"
            )
        ]
        try migrate(model(people, nature, rest))
        try versions.with(second, at: versions.file("new.sqlite")) { context in
            let kinds = try context.all("Book", by: "title").map { $0.value(forKey: "kind") as? String }
            #expect(kinds == ["was other", "nature", "nature"])
            let people = try context.all("Person", by: "fullName")
            #expect(people.map { ($0.value(forKey: "rank") as? NSNumber)?.intValue } == [2, 2])
            let books = (people[0].value(forKey: "books") as? NSOrderedSet)?.array ?? []
            #expect(books.map { ($0 as? NSManagedObject)?.value(forKey: "title") as? String } == ["Zebras", "Apples"])
        }
    }

    @Test("One source object becomes several, which are found from either side")
    func split() throws {
        try migrate(model(entity("Split", "Author", "Shelf", policy: SplittingPolicy.self)))
        let places = try versions.with(second, at: versions.file("new.sqlite")) { context in
            try context.all("Shelf", by: "place").map { $0.value(forKey: "place") as? String }
        }
        #expect(places == ["Ann one", "Ann two", "Bob one", "Bob two"])
    }

    // MARK: Refusals

    @Test(
        "A mapping that cannot be carried out is refused before anything is written",
        arguments: [
            ("$source.nothing", 134110, "nothing"), ("$manager.nothing", 134110, "nothing"),
            ("FUNCTION($entityPolicy, 'whisper:', $source.title)", 134170, "whisper:"),
            ("FUNCTION($source.title, 'integerValue')", 134110, "integerValue"), ("$zork", 134110, "zork"),
            ("FUNCTION($manager, 'destroy')", 134110, "destroy"), ("FUNCTION($source, 'shout')", 134110, "shout"),
            (
                "FUNCTION($manager, 'destinationInstancesForEntityMappingNamed:sourceInstances:', 'Nobody', $source)",
                134110, "Nobody"
            ),
            (
                "FUNCTION($manager, 'destinationInstancesForSourceRelationshipNamed:sourceInstances:', 'wheels', $source.tags)",
                134110, "wheels"
            ),
        ])
    func refused(expression: String, code: Int, word: String) throws {
        let mapping = books
        mapping.attributeMappings = [property("title", expression)]
        let error = refusal(model(authors, mapping))
        #expect(error?.errorCode == code)
        #expect(error?.sentence.contains(word) == true && error?.sentence.contains("BookToBook") == true)
    }

    @Test("Entities, properties, versions, policies and names that do not fit are refused by name")
    func misfits() throws {
        func says(_ word: String, _ code: Int = 134110, _ change: (NSEntityMapping) -> Void) {
            let mapping = books
            change(mapping)
            let error = refusal(model(authors, mapping))
            #expect(error?.errorCode == code)
            #expect(error?.sentence.contains(word) == true)
        }
        says("Wagon") { $0.sourceEntityName = "Wagon" }
        says("another version") { $0.destinationEntityVersionHash = Data([1]) }
        says("wheels") { $0.attributeMappings = [property("wheels", "1")] }
        says("NoSuchPolicy", 134170) { $0.entityMigrationPolicyClassName = "NoSuchPolicy" }
        says("AuthorToPerson") { $0.name = "AuthorToPerson" }
    }

    @Test("A value that the attribute cannot hold names the mapping, the property and the source object")
    func wrongValues() throws {
        let mapping = books
        mapping.attributeMappings = [property("title", "$source.title"), property("pages", "$source.title")]
        let error = refusal(model(authors, mapping))
        #expect(error?.code == .migration)
        #expect(error?.validationKey == "pages")
        #expect((error?.userInfo[NSAffectedObjectsErrorKey] as? [NSManagedObjectID])?.first?.entity.name == "Book")
        let related = books
        related.relationshipMappings = [property("author", "$source.author")]
        #expect(refusal(model(authors, related))?.validationKey == "author")
    }

    @Test("Errors: what a policy throws, a cancelled migration, stores that cannot be opened, no mapping model")
    func errors() throws {
        let failing = books
        failing.entityMigrationPolicyClassName = "TitlePolicy"
        failing.attributeMappings = [property("title", "FUNCTION($entityPolicy, 'fail')")]
        #expect(refusal(model(authors, failing))?.code == .fileLocking)
        let stopped = authors
        stopped.entityMigrationPolicyClassName = "StoppingPolicy"
        let cancelled = refusal(model(stopped))
        #expect(cancelled?.code == .migrationCancelled)
        #expect((cancelled?.underlying as? CocoaError)?.code == .userCancelled)
        let interrupted = books
        interrupted.entityMigrationPolicyClassName = "InterruptedPolicy"
        let ended = refusal(model(authors, interrupted))
        #expect(ended?.code == .migrationCancelled)
        let progress = (ended?.underlying as? CocoaError)?.userInfo["progress"] as? Float ?? 0
        #expect(progress > 0 && progress < 1, "seen by the thread that cancelled")
        let manager = NSMigrationManager(sourceModel: first, destinationModel: second)
        let (old, new) = (versions.file("old.sqlite"), versions.file("new.sqlite"))
        #expect(!FileManager.default.fileExists(atPath: new.path))
        #expect(
            thrown {
                try manager.migrateStore(
                    from: old, sourceType: NSSQLiteStoreType, with: nil, toDestinationURL: new,
                    destinationType: NSSQLiteStoreType)
            }?.code == .migrationMissingMappingModel)
        let missing = thrown {
            try manager.migrateStore(
                from: versions.file("none"), type: .sqlite, mapping: model(authors), to: new, type: .sqlite)
        }
        #expect(missing?.code == .migrationManagerSourceStore)
        #expect(missing?.underlying != nil)
        try Data("no store".utf8).write(to: versions.file("text"))
        let taken = thrown {
            try manager.migrateStore(
                from: old, type: .sqlite, mapping: model(authors), to: versions.file("text"), type: .sqlite)
        }
        #expect(taken?.code == .migrationManagerDestinationStore)
        #expect(
            thrown {
                try manager.migrateStore(from: old, type: .sqlite, mapping: model(authors), to: old, type: .sqlite)
            }?.code == .migrationManagerDestinationStore)
    }
}
