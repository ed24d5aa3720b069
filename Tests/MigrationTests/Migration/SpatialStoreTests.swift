// Stores of photo libraries, which keep places in R-trees.

import CoreDataSeeds
import CoreDataTestSupport
import Foundation
import Testing

@testable import CoreData

@Suite("Stores with R-trees") struct SpatialStoreTests {
    private static var libraries: [String] {
        guard Corpus.isPresent else { return [] }
        return ["stores", "stores-emptied"].flatMap { folder -> [String] in
            let tests = "\(folder)/ink-splatters+osxphotos/tests"
            let names = try? FileManager.default.contentsOfDirectory(
                atPath: Corpus.root.appendingPathComponent(tests).path)
            return (names ?? []).sorted().map { "\(tests)/\($0)/database/Photos.sqlite" }
        }
        .filter { FileManager.default.fileExists(atPath: Corpus.root.appendingPathComponent($0).path) }
    }

    /// The entity whose places an R-tree keeps.
    private static func asset(_ model: NSManagedObjectModel) throws -> NSEntityDescription {
        try #require(model.entitiesByName["Asset"] ?? model.entitiesByName["GenericAsset"])
    }

    @Test(
        "A library of photos takes a new attribute, loses its R-tree and gets it back, and its objects can be saved all the time",
        .enabled(if: Corpus.isPresent), arguments: libraries)
    func library(_ path: String) throws {
        let versions = try Versions([])
        for ending in ["", "-wal"] {
            let file = Corpus.root.appendingPathComponent(path + ending)
            guard FileManager.default.fileExists(atPath: file.path) else { continue }
            try FileManager.default.copyItem(
                at: file,
                to: versions.store.deletingLastPathComponent()
                    .appendingPathComponent(versions.store.lastPathComponent + ending))
        }
        let first = try NSPersistentStoreCoordinator.cachedModelForPersistentStore(at: versions.store)
        let before = try Self.counts(versions, first)
        let added = try #require(first.copy() as? NSManagedObjectModel)
        let note = NSAttributeDescription()
        (note.name, note.attributeType, note.isOptional, note.defaultValue) = (
            "libraryNote", .stringAttributeType, true, "new"
        )
        try Self.asset(added).properties.append(note)
        #expect(try Self.counts(versions, added) == before, "with an attribute more")
        let bare = try #require(added.copy() as? NSManagedObjectModel)
        try Self.asset(bare).indexes = []
        #expect(try Self.counts(versions, bare) == before, "without the index")
        #expect(try Self.counts(versions, added) == before, "with the index again")
    }

    /// How many objects each entity has, once some have been changed and saved.
    private static func counts(_ versions: Versions, _ model: NSManagedObjectModel) throws -> [String: Int] {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        defer { try? coordinator.close() }
        var options = Versions.automatic
        options[NSPersistentHistoryTrackingKey] = true
        try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: versions.store, options: options)
        let context = coordinator.context()
        let request = NSFetchRequest<NSManagedObject>(entityName: try asset(model).name ?? "")
        request.fetchLimit = 3
        for object in try context.fetch(request) { object.setValue(47.5, forKey: "latitude") }
        try context.save()
        var counts: [String: Int] = [:]
        for entity in model.entities where !entity.isAbstract {
            let name = entity.name ?? ""
            counts[name] = try context.count(for: NSFetchRequest<NSManagedObject>(entityName: name))
        }
        return counts
    }
}
