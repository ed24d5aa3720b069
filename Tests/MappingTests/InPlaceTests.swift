// Mapped migrations into the file that the store is in.

import CoreDataTestSupport
import Synchronization
import Testing

@testable import CoreData

/// Does something in the middle of a migration.
final class InterruptingPolicy: NSEntityMigrationPolicy {
    override func endInstanceCreation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {
        try (manager.userInfo?["interrupt"] as? () throws -> Void)?()
    }
}

@Suite struct InPlaceTests {
    private let versions = Versions()
    private let first: NSManagedObjectModel
    private let second: NSManagedObjectModel

    init() throws {
        first = try versions.model("A", Versions.first)
        second = try versions.model("B", InferredMappingTests.optional)
    }

    private var mapping: NSMappingModel {
        get throws {
            let mapping = try NSMappingModel.inferredMappingModel(forSourceModel: first, destinationModel: second)
            mapping.entityMappings[0].entityMigrationPolicyClassName = "InterruptingPolicy"
            return mapping
        }
    }

    private func migrate(_ url: URL, type: String = NSSQLiteStoreType, _ interrupt: @escaping () throws -> Void = {})
        throws
    {
        let manager = NSMigrationManager(sourceModel: first, destinationModel: second)
        manager.userInfo = ["interrupt": interrupt]
        try manager.migrateInPlace(url, type: type, options: nil, with: mapping)
    }

    private func inode(_ url: URL) -> UInt64 {
        var facts = stat()
        return stat(url.path, &facts) == 0 ? UInt64(facts.st_ino) : 0
    }

    @Test(
        "A store is migrated where it is, in the same file for SQLite",
        arguments: [NSSQLiteStoreType, NSBinaryStoreType, NSPropertyListStoreType])
    func inPlace(type: String) throws {
        let url = versions.file("library")
        try versions.library(first, at: url, type: type)
        let before = inode(url)
        try migrate(url, type: type)
        if type == NSSQLiteStoreType { #expect(inode(url) == before) }
        try versions.with(second, at: url, type: type) { context in
            let names = try context.all("Book", by: "title").map {
                $0.value(forKeyPath: "author.fullName") as? String
            }
            #expect(names == ["Ann", "Bob", "Ann"])
            let tags = try context.all("Tag", by: "word").map { ($0.value(forKey: "books") as? NSSet)?.count }
            #expect(tags == [2, 1])
        }
        let left = try versions.folder.names()
        #expect(!left.contains { $0.contains("migration") })
    }

    @Test("A failure leaves the store as it was, openable with the old model")
    func failure() throws {
        let url = versions.file("library")
        try versions.library(first, at: url)
        #expect(thrown { try migrate(url) { throw CocoaError(.fileLocking) } }?.code == .fileLocking)
        let count = try versions.with(first, at: url) {
            try $0.count(for: NSFetchRequest<NSManagedObject>(entityName: "Book"))
        }
        #expect(count == 3)
    }

    @Test(
        "Nobody writes to a store between its being read and its being replaced; readers see the former state until then"
    )
    func others() throws {
        let url = versions.file("library")
        try versions.library(first, at: url)
        let coordinator = try NSPersistentStoreCoordinator(
            first, at: url, options: [NSPersistentStoreTimeoutOption: 0.05])
        let context = coordinator.context()
        try migrate(url) {
            let (count, refused) = try context.performAndWait {
                let count = try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Note"))
                context.make("Note", ["text": "late"])
                defer { context.rollback() }
                do { try context.save() } catch { return (count, true) }
                return (count, false)
            }
            #expect(count == 1)
            #expect(refused)
        }
        try versions.with(second, at: url) { context in
            let count = try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Book"))
            #expect(count == 3)
        }
    }

    @Test("What a killed migration left beside the store is removed by the next one")
    func leftovers() throws {
        let url = versions.file("library")
        try versions.library(first, at: url)
        let left = versions.file(".library.OpenCoreData-migration")
        try FileManager.default.createDirectory(at: left, withIntermediateDirectories: true)
        try Data("copy".utf8).write(to: left.appendingPathComponent("library"))
        try migrate(url)
        #expect(!FileManager.default.fileExists(atPath: left.path))
    }

    @Test("Large values go along with their files")
    func files() throws {
        let old = try versions.model(
            "C",
            "<entity name=\"Photo\"><attribute name=\"data\" optional=\"YES\" attributeType=\"Binary\" allowsExternalBinaryDataStorage=\"YES\"/></entity>"
        )
        let new = try versions.model(
            "D",
            "<entity name=\"Photo\"><attribute name=\"data\" optional=\"YES\" attributeType=\"Binary\" allowsExternalBinaryDataStorage=\"YES\"/><attribute name=\"name\" optional=\"YES\" attributeType=\"String\"/></entity>"
        )
        let url = versions.file("photos")
        let large = Data(repeating: 7, count: 300_000)
        try versions.with(old, at: url) { context in
            context.make("Photo", ["data": large])
            try context.save()
        }
        let manager = NSMigrationManager(sourceModel: old, destinationModel: new)
        let mapping = try NSMappingModel.inferredMappingModel(forSourceModel: old, destinationModel: new)
        mapping.entityMappings[0].attributeMappings?.first { $0.name == "name" }?.valueExpression = NSExpression(
            forConstantValue: "x")
        try manager.migrateInPlace(url, type: NSSQLiteStoreType, options: nil, with: mapping)
        try versions.with(new, at: url) { context in
            let photo = try context.all("Photo", by: "name")[0]
            #expect(photo.value(forKey: "data") as? Data == large)
            #expect(photo.value(forKey: "name") as? String == "x")
        }
        let folder = versions.file(".photos_SUPPORT/_EXTERNAL_DATA")
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { !$0.hasPrefix(".") }.count == 1)
    }
}
