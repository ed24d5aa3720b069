// What must come along, and what must stay, when a store is migrated as a whole.

import CoreDataTestSupport
import Foundation
import Synchronization
import Testing

@testable import CoreData

@Suite("What a migration leaves alone and takes along") struct WholeStoreTests {
    private typealias V = Versions
    private static var tracked: [String: Any] { V.automatic.merging([NSPersistentHistoryTrackingKey: true]) { $1 } }
    private static let item = V.entity("Item", "", V.attribute("title"))
    private static let counted = V.entity(
        "Item", "", V.attribute("title"), V.attribute("count", "Integer 64", "defaultValueString=\"4\""))

    private var coordinator: NSPersistentStoreCoordinator {
        NSPersistentStoreCoordinator(managedObjectModel: NSManagedObjectModel())
    }

    private func fill(_ versions: V, _ options: [String: Any] = V.automatic) throws {
        try versions.open(1, NSSQLiteStoreType, options) { context in
            for number in 1...3 {
                context.make("Item", ["title": "t\(number)"])
                try context.save()
            }
        }
    }

    /// A mapping model that says more than the models do: every count is 9.
    private func mapping(_ versions: V) throws -> NSMappingModel {
        let mapping = try NSMappingModel.inferredMappingModel(
            forSourceModel: versions.model(1), destinationModel: versions.model(2))
        let items = mapping.entityMappings.first { $0.destinationEntityName == "Item" }
        items?.attributeMappings?.first { $0.name == "count" }?.valueExpression = NSExpression(forConstantValue: 9)
        return mapping
    }

    private func chain(_ versions: V, mapped: Bool, configuration: String? = nil) throws -> ChainMigration {
        let recorded = try NSPersistentStoreCoordinator.metadataForPersistentStore(
            ofType: NSSQLiteStoreType, at: versions.store)
        let hashes = try #require(recorded[NSStoreModelVersionHashesKey] as? [String: Data])
        return ChainMigration(
            url: versions.store, type: NSSQLiteStoreType, configuration: configuration, options: nil,
            chain: try VersionChain(of: hashes, at: versions.store, in: versions.url, order: nil),
            mappings: [mapped ? try mapping(versions) : nil])
    }

    // MARK: Histories

    private func titles(_ context: NSManagedObjectContext, after token: NSPersistentHistoryToken? = nil) throws
        -> [String]
    {
        let request = NSPersistentHistoryChangeRequest.fetchHistory(after: token)
        let found =
            (try context.execute(request) as? NSPersistentHistoryResult)?.result as? [NSPersistentHistoryTransaction]
            ?? []
        return found.flatMap { $0.changes ?? [] }.map { change in
            let names = change.updatedProperties.map { $0.map(\.name).sorted() } ?? []
            return
                "\(change.changedObjectID.entity.name ?? "") \(change.changedObjectID.key.number) \(change.changeType.rawValue) \(names)"
        }
    }

    @Test(
        "A store with a history is migrated, with its history, by whoever does not ask for one",
        arguments: ["chain", "plan", "opening"])
    func unasked(_ way: String) throws {
        let versions = try V(Self.item, Self.counted)
        try fill(versions, Self.tracked)
        let before = try versions.open(1, NSSQLiteStoreType, Self.tracked) { try titles($0) }
        switch way {
        case "chain": try coordinator.migrateStore(at: versions.store, toVersionsOf: versions.url)
        case "plan":
            let plan = try coordinator.migrationPlan(at: versions.store, toVersionsOf: versions.url)
            let findings = try plan.rehearse()
            #expect(findings.isEmpty, "\(findings)")
            try plan.run()
        default:
            // Its changes would not be recorded: it is read-only then.
            try versions.open(2) { context in
                #expect(context.persistentStoreCoordinator?.persistentStores.first?.isReadOnly == true)
                let counts = try context.values("Item", "count")
                #expect(counts == ["4", "4", "4"])
            }
        }
        let after = try versions.open(2, NSSQLiteStoreType, Self.tracked) { try titles($0) }
        #expect(before.count == 3 && after == before)
    }

    @Test("A mapping model that says no more than the models do takes the history along") func byStatements() throws {
        let versions = try V(Self.item, Self.counted)
        try fill(versions, Self.tracked)
        let before = try versions.open(1, NSSQLiteStoreType, Self.tracked) { try titles($0) }
        let (first, second) = (try versions.model(1), try versions.model(2))
        try NSMigrationManager(sourceModel: first, destinationModel: second).migrateInPlace(
            versions.store, type: NSSQLiteStoreType, options: nil,
            with: NSMappingModel.inferredMappingModel(forSourceModel: first, destinationModel: second))
        #expect(try versions.open(2, NSSQLiteStoreType, Self.tracked) { try titles($0) } == before)
    }

    @Test("13.3 A token from before what a migration has cut off is too old (134301)") func cut() throws {
        let versions = try V(Self.item + V.entity("Note", "", V.attribute("text")), Self.item)
        let (old, new) = try versions.open(1, NSSQLiteStoreType, Self.tracked) { context in
            var tokens: [NSPersistentHistoryToken] = []
            for entity in ["Item", "Note", "Item", "Item"] {
                context.make(entity)
                try context.save()
                tokens.append(
                    try #require(context.persistentStoreCoordinator?.currentPersistentHistoryToken(fromStores: nil)))
            }
            return (tokens[0], tokens[2])
        }
        try versions.open(2, NSSQLiteStoreType, Self.tracked) { context in
            #expect(caught { _ = try titles(context, after: old) }?.number == 134301)
            let rest = try titles(context, after: new)
            #expect(rest == ["Item 3 0 []"], "\(rest)")
        }
    }

    @Test(
        "The history of an entity with a derived attribute is taken along, although its values were computed anew; it tells of what was set"
    )
    func derived() throws {
        let upper =
            "<attribute name=\"upper\" optional=\"YES\" attributeType=\"String\" derived=\"YES\" derivationExpression=\"uppercase:(title)\"/>"
        let versions = try V(
            V.entity("Item", "", V.attribute("title"), upper),
            V.entity(
                "Item", "", V.attribute("title"), V.attribute("count", "Integer 64", "defaultValueString=\"4\""), upper)
        )
        try fill(versions, Self.tracked)
        let before = try versions.open(1, NSSQLiteStoreType, Self.tracked) { context in
            try context.all("Item")[0].setValue("new", forKey: "title")
            try context.save()
            return try titles(context)
        }
        #expect(before.last == "Item 1 1 [\"title\"]", "\(before)")
        #expect(try versions.open(2, NSSQLiteStoreType, Self.tracked) { try titles($0) } == before)
    }

    @Test(
        "An object made after a migration gets no ID that another one had before",
        arguments: [NSSQLiteStoreType, NSXMLStoreType, NSBinaryStoreType])
    func keys(_ type: String) throws {
        let versions = try V(Self.item, Self.counted)
        func number(_ object: NSManagedObject) -> Int {
            Int(object.objectID.uriRepresentation().lastPathComponent.dropFirst()) ?? 0
        }
        let last = try versions.open(1, type) { context in
            let items = (1...2).map { _ in context.make("Item") }
            try context.save()
            let last = items.max { number($0) < number($1) }
            let highest = last.map(number) ?? 0
            last.map(context.delete)
            try context.save()
            return highest
        }
        let next = try versions.open(2, type) { context in
            let item = context.make("Item")
            try context.save()
            return number(item)
        }
        #expect(last == 2 && next > last)
    }

    // MARK: Configurations and others' tables

    @Test("A step of a chain leaves a store with its configuration", arguments: [false, true]) func configuration(
        _ mapped: Bool
    ) throws {
        func version(_ item: String) -> String {
            item + V.entity("Note", "", V.attribute("text"))
                + "<configuration name=\"Local\"><memberEntity name=\"Item\"/></configuration>"
        }
        let versions = try V(version(Self.item), version(Self.counted))
        func open<Result>(_ number: Int, _ body: (NSManagedObjectContext) throws -> Result) throws -> Result {
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: try versions.model(number))
            try coordinator.addPersistentStore(
                ofType: NSSQLiteStoreType, configurationName: "Local", at: versions.store)
            defer { try? coordinator.close() }
            let context = coordinator.context()
            return try body(context)
        }
        try open(1) { context in
            context.make("Item", ["title": "t"])
            try context.save()
        }
        try chain(versions, mapped: mapped, configuration: "Local").perform(0)
        #expect(try open(2) { try $0.values("Item", "count") } == [mapped ? "9" : "4"])
        #expect(try versions.sql("SELECT name FROM sqlite_master WHERE name = 'ZNOTE'").isEmpty)
    }

    @Test(
        "Of two that carry a store through the same versions the second finds the steps done", arguments: [false, true])
    func twice(_ mapped: Bool) throws {
        let versions = try V(Self.item, Self.counted)
        try fill(versions)
        let (first, late) = (try chain(versions, mapped: mapped), try chain(versions, mapped: mapped))
        try first.perform(0)
        try late.perform(0)
        #expect(
            try versions.open(2, NSSQLiteStoreType, [:]) { try $0.values("Item", "count") }
                == Array(repeating: mapped ? "9" : "4", count: 3))
    }

    @Test("What a program has defined over a table that is made anew stays, but for what names a column that goes")
    func definitions() throws {
        let note = V.entity("Note", "", V.attribute("text"))
        let versions = try V(
            V.entity("Item", "", V.attribute("title"), V.attribute("age", "Integer 64")) + note, Self.item + note,
            V.entity("Item", "", V.attribute("name", "String", "optional=\"YES\" elementID=\"title\"")) + note)
        try versions.open(1) { context in
            context.make("Item", ["title": "t", "age": 1])
            try context.save()
        }
        let kept = ["both", "by_title", "on_item", "on_note", "pointing", "titles"]
        for sql in [
            "TABLE audit (a)", "TABLE pointing (item INTEGER REFERENCES ZITEM (Z_PK))",
            "VIEW ages AS SELECT ZAGE FROM ZITEM", "VIEW both AS SELECT * FROM titles",
            "VIEW titles AS SELECT ZTITLE FROM ZITEM",
            "INDEX by_age ON ZITEM (ZAGE)", "INDEX by_title ON ZITEM (ZTITLE)",
            "TRIGGER on_age AFTER UPDATE ON ZITEM BEGIN INSERT INTO audit VALUES (NEW.ZAGE); END",
            "TRIGGER on_item AFTER INSERT ON ZITEM BEGIN INSERT INTO audit VALUES (NEW.ZTITLE); END",
            "TRIGGER on_note AFTER INSERT ON ZNOTE BEGIN INSERT INTO audit SELECT ZTITLE FROM ZITEM; END",
        ] { try versions.write("CREATE \(sql)") }
        for version in 2...3 {
            try versions.open(version) { context in
                context.make("Note", ["text": "n"])
                try context.save()
                try context.all("Item")[0].setValue("new", forKey: version == 2 ? "title" : "name")
                try context.save()
            }
            let names = try versions.sql("SELECT name FROM sqlite_master WHERE name NOT GLOB '[ZOs]*' ORDER BY name")
            #expect(names == ["audit"] + kept)
            #expect(try versions.sql("SELECT * FROM both") == ["new"])
        }
        #expect(try versions.sql("SELECT a FROM audit") == ["t", "new"])
        #expect(try versions.sql("SELECT name FROM sqlite_master WHERE sql LIKE '%Z_FORMER%'").isEmpty)
    }

    @Test("Tables of others stay, whatever their names begin with", arguments: [false, true]) func foreign(
        _ mapped: Bool
    ) throws {
        let tags = V.toMany("tags", "Tag", "items")
        let tag = V.entity("Tag", "", V.attribute("name"), V.toMany("items", "Item", "tags"))
        let versions = try V(
            V.entity("Item", "", V.attribute("title"), tags) + tag,
            V.entity(
                "Item", "", V.attribute("title"), V.attribute("count", "Integer 64", "defaultValueString=\"4\""), tags)
                + tag)
        try versions.open(1) { context in
            context.make("Item", ["title": "t", "tags": NSSet(object: context.make("Tag"))])
            try context.save()
        }
        for name in ["zipcodes", "achangelog", "OPENCOREDATANOTES", "Z_9OTHER"] {
            try versions.write(
                "CREATE TABLE \"\(name)\" (a); INSERT INTO \"\(name)\" VALUES ('kept'); CREATE INDEX \"by \(name)\" ON \"\(name)\" (a)"
            )
        }
        try chain(versions, mapped: mapped).perform(0)
        for name in ["zipcodes", "achangelog", "OPENCOREDATANOTES", "Z_9OTHER"] {
            #expect(try versions.sql("SELECT a FROM \"\(name)\"") == ["kept"])
        }
        try versions.open(2, NSSQLiteStoreType, [:]) { context in
            let items = try context.all("Item").map {
                "\($0.value(forKey: "count") ?? "") \(($0.value(forKey: "tags") as? NSSet)?.count ?? 0)"
            }
            #expect(items == [mapped ? "9 1" : "4 1"])
        }
    }

    // MARK: Leftovers

    @Test("What a killed migration left beside a store is removed when the store is opened, not by who only reads it")
    func leftovers() throws {
        let versions = try V(Self.item, Self.counted)
        try fill(versions)
        let left = versions.folder.file(".shop.sqlite.OpenCoreData-migration")
        let other = versions.folder.file(".shop.sqlite.OpenCoreData-migrations")
        for place in [left, other] {
            try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
            try Data("copy".utf8).write(to: place.appendingPathComponent("shop.sqlite"))
        }
        try versions.open(1, NSSQLiteStoreType, [NSReadOnlyPersistentStoreOption: true]) { _ in }
        #expect(FileManager.default.fileExists(atPath: left.path))
        // One that works is left alone.
        let held = Foundation.open(left.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        #expect(flock(held, LOCK_EX | LOCK_NB) == 0)
        try versions.open(1) { _ in }
        #expect(FileManager.default.fileExists(atPath: left.appendingPathComponent("shop.sqlite").path))
        close(held)
        try versions.open(1) { _ in }
        #expect(!FileManager.default.fileExists(atPath: left.path))
        #expect(FileManager.default.fileExists(atPath: other.path))
    }

    @Test("A store that was opened read-only is not migrated by a mapping model either (134030)") func readOnly() throws
    {
        let versions = try V(Self.item, Self.counted)
        try fill(versions)
        let before = try Data(contentsOf: versions.store)
        let manager = NSMigrationManager(sourceModel: try versions.model(1), destinationModel: try versions.model(2))
        let error = caught {
            try manager.migrateInPlace(
                versions.store, type: NSSQLiteStoreType, options: [NSReadOnlyPersistentStoreOption: true],
                with: mapping(versions))
        }
        #expect(error?.number == 134030)
        #expect(try Data(contentsOf: versions.store) == before)
    }

    // MARK: Hashes that cannot be computed

    private static let place =
        "<composite name=\"Place\"><attribute name=\"lat\" optional=\"YES\" attributeType=\"Double\"/></composite>"
    private static func pinned(_ more: String...) -> String {
        V.entity(
            "Pin", "",
            ([
                V.attribute("title"),
                "<attribute name=\"place\" optional=\"YES\" attributeType=\"Composite\" composite=\"Place\"/>",
            ] + more)
            .joined()) + place
    }

    @Test("Where hashes that cannot be compared fit several versions, the store's copy of its model tells which it has")
    func copied() throws {
        func stamped(_ attribute: String) -> String {
            let stamp = V.attribute("stamp", "Date", "optional=\"YES\" derived=\"YES\" derivationExpression=\"now()\"")
            return Self.item + V.entity("Note", "", stamp, attribute)
        }
        let renamed = V.attribute("text", "String", "optional=\"YES\" elementID=\"note\"")
        let versions = try V(stamped(V.attribute("note")), stamped(V.attribute("hint")), stamped(renamed))
        try versions.open(1) { context in
            context.make("Note", ["note": "n"])
            try context.save()
        }
        try NSPersistentStoreCoordinator.recordOthersHash(of: "Note", at: versions.store)
        let plan = try coordinator.migrationPlan(
            at: versions.store, toVersionsOf: versions.url, versions: ["Shop 1", "Shop 3"])
        #expect(plan.steps.map(\.from) == ["Shop 1"])
        #expect(try versions.open(3) { try $0.values("Note", "text") } == ["n"])
    }

    @Test(
        "Where a store's hash of an entity with a composite attribute is another one's, the other entities tell the version, and the log says so"
    )
    func composite() throws {
        let versions = try V(Self.item + Self.pinned(), Self.counted + Self.pinned(V.attribute("note")))
        try versions.open(1) { context in
            context.make("Item", ["title": "t"])
            context.make("Pin", ["title": "p", "place": ["lat": 1.5]])
            try context.save()
        }
        try NSPersistentStoreCoordinator.recordOthersHash(of: "Pin", at: versions.store)
        #expect(try versions.open(1, NSSQLiteStoreType, [:]) { try $0.values("Pin", "title") } == ["p"])
        let told = Mutex<[String]>([])
        CoreDataWarning.handler = { line in told.withLock { $0.append(line) } }
        defer { CoreDataWarning.handler = nil }
        let pins = try versions.open(2) { context in
            try context.all("Pin").map {
                "\($0.value(forKey: "title") ?? "") \($0.value(forKeyPath: "place.lat") ?? "")"
            }
        }
        #expect(pins == ["p 1.5"])
        #expect(
            told.withLock { $0.filter { $0.contains(versions.store.path) && $0.contains("the hashes of Pin") } }.count
                == 1)
    }

    @Test("A mapping model with another one's hash of an entity with a composite attribute fits by its other entities")
    func foreignMapping() throws {
        let versions = try V(Self.item + Self.pinned(), Self.counted + Self.pinned(V.attribute("note")))
        try versions.open(1) { context in
            context.make("Item", ["title": "t"])
            context.make("Pin", ["title": "p", "place": ["lat": 1.5]])
            try context.save()
        }
        let (first, second) = (try versions.model(1), try versions.model(2))
        let mapping = try mapping(versions)
        let pin = try #require(mapping.entityMappings.first { $0.destinationEntityName == "Pin" })
        (pin.sourceEntityVersionHash, pin.destinationEntityVersionHash) = (
            Data(repeating: 9, count: 32), Data(repeating: 8, count: 32)
        )
        #expect(mapping.fit(try first.schema(), try second.schema()) != nil)
        #expect(mapping.fit(try second.schema(), try first.schema()) == nil)
        try NSMigrationManager(sourceModel: first, destinationModel: second).migrateInPlace(
            versions.store, type: NSSQLiteStoreType, options: nil, with: mapping)
        try versions.open(2, NSSQLiteStoreType, [:]) { (context: NSManagedObjectContext) throws in
            #expect(try context.values("Item", "count") == ["9"])
            #expect(try context.all("Pin").map { $0.value(forKeyPath: "place.lat") as? Double } == [1.5])
        }
    }
}
