// What a migration leaves alone: other stores' files, and what a program has defined itself.

import CoreDataTestSupport
import Foundation
import Testing

@testable import CoreData

@Suite("Neighbours of a migrated store") struct NeighbourTests {
    private typealias V = Versions
    private static let photo = V.attribute(
        "photo", "Binary", "optional=\"YES\" allowsExternalBinaryDataStorage=\"YES\"")

    private static func withPhotos(_ later: String = V.attribute("more")) throws -> V {
        try V(
            V.entity("Item", "", V.attribute("title"), photo),
            V.entity("Item", "", V.attribute("title"), photo, later))
    }

    private func mapping(_ names: String...) -> NSMappingModel {
        let mapping = NSEntityMapping()
        (mapping.name, mapping.sourceEntityName, mapping.destinationEntityName) = ("Items", "Item", "Item")
        mapping.sourceExpression = SourceExpression.all(of: "Item")
        mapping.attributeMappings = names.map { NSPropertyMapping($0, NSExpression(format: "$source.\($0)")) }
        let model = NSMappingModel()
        model.entityMappings = [mapping]
        return model
    }

    private func migrate(_ versions: V, by mapping: NSMappingModel?) throws {
        let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .sqlite, at: versions.store)
        let recorded = try #require(metadata[NSStoreModelVersionHashesKey] as? [String: Data])
        let chain = try VersionChain(of: recorded, at: versions.store, in: versions.url, order: nil)
        try ChainMigration(
            url: versions.store, type: NSSQLiteStoreType, configuration: nil, options: nil, chain: chain,
            mappings: [mapping]
        ).perform(0)
    }

    /// Makes a store with one photo of so many bytes, or says how many the photo has.
    private func photo(_ model: NSManagedObjectModel, at url: URL, _ count: Int? = nil) throws -> Int? {
        let coordinator = try NSPersistentStoreCoordinator(model, at: url)
        let context = coordinator.context()
        defer { try? coordinator.close() }
        return try context.performAndWait {
            if let count {
                context.make("Item", ["title": "1", "photo": Data(repeating: 7, count: count)])
                try context.save()
            }
            return try context.all("Item").first.flatMap { $0.value(forKey: "photo") as? Data }?.count
        }
    }

    @Test(
        "A store whose name differs by its extension keeps its large values, and so does a file that is not ours",
        arguments: [true, false])
    func shared(_ isMapped: Bool) throws {
        let versions = try Self.withPhotos()
        _ = try photo(versions.model(1), at: versions.store, 300_000)
        let other = versions.folder.file("shop.db")
        _ = try photo(versions.model(1), at: other, 400_000)
        let foreign = versions.folder.file(".shop_SUPPORT/_EXTERNAL_DATA/\(UUID().uuidString)")
        try Data("x".utf8).write(to: foreign)
        try migrate(versions, by: isMapped ? mapping("title", "photo") : nil)
        #expect(try photo(versions.model(2), at: versions.store) == 300_000)
        #expect(try photo(versions.model(1), at: other) == 400_000)
        #expect(FileManager.default.fileExists(atPath: foreign.path))
        try NSPersistentStoreCoordinator(managedObjectModel: versions.model(1)).destroyPersistentStore(
            at: versions.store, ofType: NSSQLiteStoreType)
        #expect(try photo(versions.model(1), at: other) == 400_000)
    }

    @Test("A migration into another file leaves the source as it was, also where both have one folder of large values")
    func source() throws {
        let versions = try Self.withPhotos()
        _ = try photo(versions.model(1), at: versions.store, 300_000)
        let later = versions.folder.file("shop.new")
        let manager = NSMigrationManager(
            sourceModel: try versions.model(1), destinationModel: try versions.model(2))
        try manager.migrateStore(
            from: versions.store, type: .sqlite, mapping: mapping("title", "photo"), to: later, type: .sqlite)
        #expect(try photo(versions.model(1), at: versions.store) == 300_000)
        #expect(try photo(versions.model(2), at: later) == 300_000)
    }

    @Test(
        "A backup that would have the store's own large values is refused, and nothing is changed; another one keeps its own"
    )
    func backup() throws {
        let versions = try V(
            V.entity("Item", "", V.attribute("title"), Self.photo), V.entity("Item", "", V.attribute("title")))
        _ = try photo(versions.model(1), at: versions.store, 300_000)
        let plan = try NSPersistentStoreCoordinator(managedObjectModel: NSManagedObjectModel()).migrationPlan(
            at: versions.store, toVersionsOf: versions.url)
        let refused = versions.folder.file("shop.backup")
        let error = caught { try plan.run(backup: refused) }
        #expect(error?.number == 134030 && error?.sentence.contains("extension") == true)
        #expect(!FileManager.default.fileExists(atPath: refused.path))
        #expect(try photo(versions.model(1), at: versions.store) == 300_000)
        let kept = versions.folder.file("before.sqlite")
        try plan.run(backup: kept)
        #expect(try photo(versions.model(1), at: kept) == 300_000)
    }

    @Test(
        "A mapped migration puts a program's own triggers, indexes and views back, and leaves out what makes no sense")
    func definitions() throws {
        let versions = try V(
            V.entity("Item", "", V.attribute("title"), V.attribute("gone")),
            V.entity("Item", "", V.attribute("title"), V.attribute("more")))
        try versions.open(1) { context in
            context.make("Item", ["title": "1"])
            try context.save()
        }
        try versions.write(
            """
            CREATE TABLE own (a, b); CREATE INDEX ownindex ON ZITEM(ZTITLE); CREATE VIEW badview AS SELECT ZGONE FROM ZITEM;
            CREATE TRIGGER owntrigger AFTER INSERT ON ZITEM BEGIN INSERT INTO own VALUES (new.Z_PK, 'x'); END
            """)
        try migrate(versions, by: mapping("title"))
        let left = try versions.sql(
            "SELECT name FROM sqlite_master WHERE name LIKE 'own%' OR name = 'badview' ORDER BY 1")
        #expect("\(left)".contains("ownindex") && "\(left)".contains("owntrigger") && !"\(left)".contains("badview"))
        #expect("\(try versions.sql("SELECT COUNT(*) FROM own"))".contains("0"))
        try versions.open(2, NSSQLiteStoreType, [:]) { context in
            context.make("Item", ["title": "2"])
            try context.save()
        }
        #expect("\(try versions.sql("SELECT COUNT(*) FROM own"))".contains("1"))
    }

    @Test("A program that has not the version that wrote a store does not take what it would lose from it (134130)")
    func olderProgram() throws {
        let first = V.entity("Item", "", V.attribute("title"))
        let versions = try V(first, V.entity("Item", "", V.attribute("title"), V.attribute("note")))
        let older = try V(first)
        try versions.open(2) { context in
            context.make("Item", ["title": "a", "note": "precious"])
            try context.save()
        }
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: try older.model(1))
        let error = caught {
            try coordinator.addPersistentStore(
                ofType: NSSQLiteStoreType, configurationName: nil, at: versions.store, options: V.automatic)
        }
        #expect(error?.number == 134130 && error?.sentence.contains("Item.note") == true, "\(error?.sentence ?? "")")
        #expect(try versions.open(2, NSSQLiteStoreType, [:]) { try $0.values("Item", "note") } == ["precious"])
    }

    @Test("Whoever reads a fault after another has migrated the store is told so at the next save (134100)")
    func readAfterwards() throws {
        let versions = try V(
            V.entity("Item", "", V.attribute("title")),
            V.entity("Item", "", V.attribute("title"), V.attribute("more")))
        try versions.open(1) { context in
            context.make("Item", ["title": "a"])
            try context.save()
        }
        try versions.open(1, NSSQLiteStoreType, [:]) { context in
            let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
            request.includesPropertyValues = false
            let fault = try #require(context.fetch(request).first)
            try versions.open(2) { _ in }
            #expect(fault.value(forKey: "title") == nil)
            context.make("Item", ["title": "b"])
            #expect(caught { try context.save() }?.number == 134100)
        }
        #expect(try versions.open(2, NSSQLiteStoreType, [:]) { try $0.values("Item", "title") } == ["a"])
    }
}
