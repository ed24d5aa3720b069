// Migrations that leave the clean-up for later.

import CoreDataTestSupport
import Foundation
import Testing

@testable import CoreData

@Suite("Deferred migrations") struct DeferredTests {
    private typealias V = Versions

    private static let photo = V.attribute(
        "photo", "Binary", "optional=\"YES\" allowsExternalBinaryDataStorage=\"YES\"")
    private static func index(_ property: String) -> String {
        "<fetchIndex name=\"by\(property)\"><fetchIndexElement property=\"\(property)\" type=\"Binary\" order=\"ascending\"/></fetchIndex>"
    }
    private static let first =
        V.entity(
            "Item", "", V.attribute("title"), V.attribute("age", "Integer 64"), photo,
            V.toOne("owner", "Person", "items"), V.toMany("tags", "Tag", "items"),
            index("title"), index("age"))
        + V.entity("Person", "", V.attribute("name"), photo, V.toMany("items", "Item", "owner"))
        + V.entity("Tag", "", V.attribute("name"), V.toMany("items", "Item", "tags"))
    private static let second =
        V.entity("Item", "", V.attribute("title"), V.attribute("count", "Integer 64", "defaultValueString=\"4\""))
        + V.entity("Tag", "", V.attribute("name"))
    private static var deferring: [String: Any] {
        V.automatic.merging([NSPersistentStoreDeferredLightweightMigrationOptionKey: true]) { first, _ in first }
    }

    private func filled(_ versions: String...) throws -> V {
        let versions = try V(versions)
        try versions.open(1) { context in
            for number in 1...3 {
                let person = context.make(
                    "Person", ["name": "p\(number)", "photo": Data(repeating: 1, count: 200_000)])
                let tag = context.make("Tag", ["name": "g\(number)"])
                context.make(
                    "Item",
                    [
                        "title": "i\(number)", "age": number, "owner": person, "tags": NSSet(object: tag),
                        "photo": Data(repeating: 2, count: 200_000),
                    ])
            }
            try context.save()
        }
        return versions
    }

    private func files(_ versions: V) -> Int {
        let folder = versions.folder.file(".shop_SUPPORT").appendingPathComponent("_EXTERNAL_DATA")
        return ((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []).count
    }

    private func parts(_ versions: V) throws -> Set<String> {
        Set(
            try versions.sql("SELECT name FROM sqlite_master")
                + versions.sql("SELECT 'ZITEM.' || name FROM pragma_table_info('ZITEM')"))
    }

    private func isPending(_ versions: V) throws -> Bool {
        let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .sqlite, at: versions.store)
        return metadata[NSPersistentStoreDeferredLightweightMigrationOptionKey] as? Bool == true
    }

    private static let removed: Set<String> = [
        "ZITEM.ZAGE", "ZITEM.ZOWNER", "ZITEM.ZPHOTO", "ZPERSON", "Z_1TAGS", "Z_Item_bytitle", "Z_Item_byage",
        "ZITEM_ZOWNER_INDEX",
    ]

    @Test(
        "13.7 What the model has no use for any more is in the file after an open with the option, its key is true, and others open the store"
    )
    func deferred() throws {
        let versions = try filled(Self.first, Self.second)
        #expect(Self.removed.isSubset(of: try parts(versions)))
        try versions.open(2, NSSQLiteStoreType, Self.deferring) { context in
            #expect(
                try context.values("Item", "title") == ["i1", "i2", "i3"]
                    && context.values("Item", "count") == ["4", "4", "4"])
            let store = try #require(context.persistentStoreCoordinator?.persistentStores.first)
            #expect(store.metadata[NSPersistentStoreDeferredLightweightMigrationOptionKey] as? Bool == true)
            context.make("Item", ["title": "new"])
            try context.save()
        }
        #expect(Self.removed.subtracting(try parts(versions)) == [])
        #expect(try isPending(versions) && files(versions) == 6)
        let rest = try versions.sql("SELECT ZAGE FROM ZITEM ORDER BY 1")
        #expect(rest == ["", "1", "2", "3"])
        for options in [[:], V.automatic, Self.deferring] {
            let titles = try versions.open(2, NSSQLiteStoreType, options) { try $0.values("Item", "title") }
            #expect(titles == ["i1", "i2", "i3", "new"])
        }
        #expect(try isPending(versions))
    }

    @Test("13.7 The task does one step a call while others work with the store, and the last one clears the key")
    func task() throws {
        let versions = try filled(Self.first, Self.second)
        try versions.open(2, NSSQLiteStoreType, Self.deferring) { _ in }
        try versions.open(2, NSSQLiteStoreType, [:]) { other in
            try versions.open(2, NSSQLiteStoreType, [:]) { context in
                let coordinator = try #require(context.persistentStoreCoordinator)
                var steps: [Set<String>] = []
                while try isPending(versions) {
                    let (before, count) = (try parts(versions), files(versions))
                    try coordinator.finishDeferredLightweightMigrationTask()
                    let gone = before.subtracting(try parts(versions)).intersection(Self.removed)
                    #expect(gone.count == 1 || gone.isEmpty && files(versions) == count - 3, "\(gone)")
                    steps.append(gone)
                    other.make("Item", ["title": "n\(steps.count)"])
                    try other.save()
                    #expect(
                        try other.count(for: NSFetchRequest<NSManagedObject>(entityName: "Item")) == 3 + steps.count)
                    try #require(steps.count < 20)
                }
                #expect(steps.reduce(into: Set()) { $0.formUnion($1) } == Self.removed && files(versions) == 0)
                let left = try parts(versions)
                try coordinator.finishDeferredLightweightMigrationTask()
                try coordinator.finishDeferredLightweightMigration()
                #expect(try parts(versions) == left && left.isDisjoint(with: ["OCDCLEANUP"]))
            }
        }
        #expect(try versions.sql("PRAGMA integrity_check") == ["ok"])
    }

    @Test(
        "13.7 Finishing leaves the tables that a migration without the option leaves, but for the order of columns; a store that is read only refuses"
    )
    func finish() throws {
        let (versions, plain) = (try filled(Self.first, Self.second), try filled(Self.first, Self.second))
        try versions.open(2, NSSQLiteStoreType, Self.deferring) { _ in }
        try plain.open(2) { _ in }
        var options = V.automatic
        options[NSReadOnlyPersistentStoreOption] = true
        try versions.open(2, NSSQLiteStoreType, options) { context in
            let error = caught { try context.persistentStoreCoordinator?.finishDeferredLightweightMigration() }
            #expect(error?.number == 134030)
        }
        try versions.open(2) { try $0.persistentStoreCoordinator?.finishDeferredLightweightMigration() }
        #expect(try parts(versions) == parts(plain) && files(versions) == 0 && files(plain) == 0)
        #expect(try !isPending(versions))
    }

    /// Finishes step by step, as a program does by the key; fails where that does not end.
    private func tidy(_ coordinator: NSPersistentStoreCoordinator, _ store: NSPersistentStore) throws {
        var steps = 0
        while store.metadata[NSPersistentStoreDeferredLightweightMigrationOptionKey] as? Bool == true {
            try coordinator.finishDeferredLightweightMigrationTask()
            steps += 1
            try #require(steps < 20)
        }
    }

    @Test(
        "13.7 A copy of another file has nothing put off and no key",
        arguments: [NSSQLiteStoreType, NSXMLStoreType, NSBinaryStoreType, NSInMemoryStoreType])
    func copies(_ type: String) throws {
        let versions = try filled(Self.first, Self.second)
        try versions.open(2, NSSQLiteStoreType, Self.deferring) { context in
            let coordinator = try #require(context.persistentStoreCoordinator)
            let store = try #require(coordinator.persistentStores.first)
            store.metadata = store.metadata.merging(["Shop": "x"]) { _, new in new }
            let made = try coordinator.migratePersistentStore(
                store, to: versions.folder.file("copy"), options: nil, withType: type)
            #expect(made.metadata[NSPersistentStoreDeferredLightweightMigrationOptionKey] == nil)
            #expect(made.metadata["Shop"] as? String == "x")
            #expect(try context.values("Item", "title") == ["i1", "i2", "i3"])
        }
        #expect(try isPending(versions))
    }

    @Test(
        "13.7 Where nothing of ours is left to do finishing clears the key that a store has from elsewhere, as from Core Data",
        arguments: [NSSQLiteStoreType, NSXMLStoreType, NSBinaryStoreType], [true, false])
    func keyAlone(_ type: String, _ isByStep: Bool) throws {
        let versions = try V(Self.second)
        try versions.open(1, type) { context in
            context.make("Item", ["title": "x"])
            try context.save()
        }
        func metadata() throws -> [String: Any] {
            try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: type, at: versions.store)
        }
        let key = NSPersistentStoreDeferredLightweightMigrationOptionKey
        let before = try metadata().merging(["Shop": "x"]) { _, new in new }
        try NSPersistentStoreCoordinator.setMetadata(
            before.merging([key: true]) { _, new in new }, forPersistentStoreOfType: type, at: versions.store)
        try versions.open(1, type, [NSReadOnlyPersistentStoreOption: true]) { context in
            let error = caught { try context.persistentStoreCoordinator?.finishDeferredLightweightMigration() }
            #expect(error?.number == 134030)
        }
        #expect(try metadata()[key] as? Bool == true)
        try versions.open(1, type) { context in
            let coordinator = try #require(context.persistentStoreCoordinator)
            let store = try #require(coordinator.persistentStores.first)
            if isByStep { try tidy(coordinator, store) } else { try coordinator.finishDeferredLightweightMigration() }
            #expect(store.metadata[key] == nil)
            context.make("Item", ["title": "y"])
            try context.save()
        }
        #expect(try metadata()[key] == nil)
        #expect(try metadata() as NSDictionary == before as NSDictionary)
        let titles = try versions.open(1, type, [:]) { try $0.values("Item", "title") }
        #expect(titles == ["x", "y"])
    }

    @Test(
        "A uniqueness constraint that goes refuses nothing meanwhile, and an index that another model defines otherwise is made anew"
    )
    func indexes() throws {
        let unique =
            "<uniquenessConstraints><uniquenessConstraint><constraint value=\"code\"/></uniquenessConstraint></uniquenessConstraints>"
        let other = Self.index("code").replacingOccurrences(of: "ascending", with: "descending")
        let versions = try V(
            V.entity("Item", "", V.attribute("code"), V.attribute("age"), Self.index("code"), unique),
            V.entity("Item", "", V.attribute("code"), other))
        try versions.open(1) { context in
            context.make("Item", ["code": "a", "age": "x"])
            try context.save()
        }
        try versions.open(2, NSSQLiteStoreType, Self.deferring) { context in
            context.make("Item", ["code": "a"])
            try context.save()
            #expect(try context.values("Item", "code") == ["a", "a"])
        }
        #expect(try versions.sql("SELECT sql LIKE '%DESC%' FROM sqlite_master WHERE name = 'Z_Item_bycode'") == ["1"])
        #expect(try versions.sql("SELECT name FROM pragma_table_info('ZITEM') WHERE name = 'ZAGE'") == ["ZAGE"])
    }

    @Test("A property that takes the name of one that goes has its own values, with the option as without")
    func names() throws {
        let versions = try V(
            V.entity("Item", "", V.attribute("name"), V.attribute("title")),
            V.entity("Item", "", V.attribute("name", "String", "optional=\"YES\" elementID=\"title\"")))
        try versions.open(1) { context in
            context.make("Item", ["name": "n", "title": "t"])
            try context.save()
        }
        try versions.open(2, NSSQLiteStoreType, Self.deferring) { context in
            let names = try context.values("Item", "name")
            #expect(names == ["t"])
        }
        #expect(try !isPending(versions))
    }

    @Test("An index of a table that stays makes room for one that is wanted, whatever it was made for")
    func clash() throws {
        let versions = try V(
            V.entity("Old", "", V.attribute("text")), V.entity("New", "", V.attribute("text"), Self.index("text")))
        try versions.open(1) { context in
            context.make("Old", ["text": "x"])
            try context.save()
        }
        // Files that Core Data has migrated have indexes under the names of former entities.
        try versions.write("CREATE INDEX Z_New_bytext ON ZOLD (ZTEXT)")
        try versions.open(2, NSSQLiteStoreType, Self.deferring) { _ in }
        #expect(try versions.sql("SELECT tbl_name FROM sqlite_master WHERE name = 'Z_New_bytext'") == ["ZNEW"])
        #expect(try versions.sql("SELECT ZTEXT FROM ZOLD") == ["x"])
    }

    @Test(
        "A later migration, inferred or mapped, first does what an earlier one has put off, so that names are free again",
        arguments: [false, true])
    func later(_ isMapped: Bool) throws {
        let third =
            V.entity(
                "Item", "", V.attribute("title"), V.attribute("age"),
                V.attribute("count", "Integer 64", "defaultValueString=\"4\""))
            + V.entity("Tag", "", V.attribute("name")) + V.entity("Person", "elementID=\"Human\"", V.attribute("name"))
        let versions = try filled(Self.first, Self.second, third)
        try versions.open(2, NSSQLiteStoreType, Self.deferring) { _ in }
        if isMapped {
            let (from, to) = (try versions.model(2), try versions.model(3))
            let manager = NSMigrationManager(sourceModel: from, destinationModel: to)
            manager.usesStoreSpecificMigrationManager = false
            try manager.migrateInPlace(
                versions.store, type: NSSQLiteStoreType, options: nil,
                with: NSMappingModel.inferredMappingModel(forSourceModel: from, destinationModel: to))
        }
        try versions.open(3) { context in
            let (titles, ages, people) = try (
                context.values("Item", "title"), context.values("Item", "age"), context.all("Person")
            )
            #expect(titles == ["i1", "i2", "i3"] && ages == ["nil", "nil", "nil"] && people.isEmpty)
        }
        #expect(try !isPending(versions) && !parts(versions).contains("OCDCLEANUP") && files(versions) == 0)
    }

    @Test("Stores that are written anew put nothing off", arguments: [NSXMLStoreType, NSBinaryStoreType])
    func files(_ type: String) throws {
        let versions = try V(
            V.entity("Item", "", V.attribute("title"), V.attribute("age")), V.entity("Item", "", V.attribute("title")))
        try versions.open(1, type) { context in
            context.make("Item", ["title": "x"])
            try context.save()
        }
        try versions.open(2, type, Self.deferring) { context in
            try context.persistentStoreCoordinator?.finishDeferredLightweightMigration()
            let metadata = context.persistentStoreCoordinator?.persistentStores.first?.metadata
            #expect(metadata?[NSPersistentStoreDeferredLightweightMigrationOptionKey] == nil)
            #expect(try context.values("Item", "title") == ["x"])
        }
    }

    @Test(
        "Files of rows that are deleted while their column waits go with its clean-up, or with the next migration",
        arguments: ["finish", "inferred", "mapped"])
    func deletedRows(_ how: String) throws {
        let versions = try filled(Self.first, Self.second, Self.second + V.entity("New", "", V.attribute("x")))
        try versions.open(2, NSSQLiteStoreType, Self.deferring) { context in
            context.delete(try context.all("Item")[1])
            try context.save()
        }
        try versions.write("DELETE FROM ZPERSON WHERE Z_PK = 1")
        #expect(files(versions) == 6)
        switch how {
        case "finish": try versions.open(2) { try $0.persistentStoreCoordinator?.finishDeferredLightweightMigration() }
        case "inferred": try versions.open(3) { _ in }
        default:
            let (from, to) = (try versions.model(2), try versions.model(3))
            let manager = NSMigrationManager(sourceModel: from, destinationModel: to)
            manager.usesStoreSpecificMigrationManager = false
            try manager.migrateInPlace(
                versions.store, type: NSSQLiteStoreType, options: nil,
                with: NSMappingModel.inferredMappingModel(forSourceModel: from, destinationModel: to))
        }
        #expect(files(versions) == 0)
        #expect(try !isPending(versions) && !parts(versions).contains("OCDCLEANUP"))
    }

    @Test(
        "Views and triggers of a program's own over what waits do not keep clean-up from ending: those that make sense stay, others are told"
    )
    func definitions() throws {
        let versions = try filled(Self.first, Self.second)
        try versions.open(2, NSSQLiteStoreType, Self.deferring) { _ in }
        try versions.write(
            """
            CREATE TABLE LOG (x);
            CREATE VIEW Ages AS SELECT ZAGE FROM ZITEM;
            CREATE VIEW Titles AS SELECT ZTITLE FROM ZITEM;
            CREATE VIEW People AS SELECT ZNAME FROM ZPERSON;
            CREATE TRIGGER NoteAge AFTER UPDATE OF ZTITLE ON ZITEM BEGIN INSERT INTO LOG VALUES (OLD.ZAGE); END;
            CREATE TRIGGER NoteTitle AFTER UPDATE OF ZTITLE ON ZITEM BEGIN INSERT INTO LOG VALUES (NEW.ZTITLE); END;
            CREATE TRIGGER NotePerson AFTER UPDATE OF ZTITLE ON ZITEM BEGIN DELETE FROM ZPERSON; END;
            CREATE INDEX ByAge ON ZITEM (ZAGE, ZTITLE);
            """)
        try versions.open(2) { context in
            try context.persistentStoreCoordinator?.finishDeferredLightweightMigration()
            try context.all("Item")[0].setValue("other", forKey: "title")
            try context.save()
        }
        #expect(Self.removed.isDisjoint(with: try parts(versions)))
        #expect(try !isPending(versions))
        let own = try versions.sql("SELECT name FROM sqlite_master WHERE type IN ('view', 'trigger') ORDER BY name")
        #expect(own == ["NoteTitle", "Titles"])
        #expect(try versions.sql("SELECT x FROM LOG") == ["other"])
        #expect(try !parts(versions).contains("ByAge"))
    }

    @Test("A column that a program has built into the table stays, and the rest is cleaned up")
    func builtIn() throws {
        let versions = try filled(Self.first, Self.second)
        try versions.open(2, NSSQLiteStoreType, Self.deferring) { _ in }
        try versions.write("ALTER TABLE ZITEM ADD COLUMN DOUBLED AS (ZAGE * 2)")
        try versions.open(2) { context in
            try context.persistentStoreCoordinator?.finishDeferredLightweightMigration()
            context.make("Item", ["title": "new"])
            try context.save()
        }
        #expect(try versions.sql("SELECT COUNT(*) FROM ZITEM") == ["4"])
        #expect(try parts(versions).intersection(Self.removed) == ["ZITEM.ZAGE"])
        #expect(try !isPending(versions))
    }
}
