// Stacks of programs that this project did not write.

import CoreDataTestSupport
import Foundation
import Testing

import CoreData

/// A model read from its text, as a file would have it.
func foreignModel(_ text: String) throws -> NSManagedObjectModel {
    let folder = CoreDataTestSupport.Folder()
    let package = folder.file("Model.xcdatamodel")
    try FileManager.default.createDirectory(at: package, withIntermediateDirectories: true)
    try Data(text.utf8).write(to: package.appendingPathComponent("contents"))
    return try NSManagedObjectModel(loading: package)
}

/// A container over a SQLite store in a folder of its own. Blocks run in contexts of their own and hold nothing afterwards.
final class ForeignStack: Sendable {
    let container: NSPersistentContainer
    private let place: URL

    init(_ text: String) throws {
        place = FileManager.default.temporaryDirectory.appendingPathComponent("coredata-foreign-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        container = NSPersistentContainer(name: "Foreign", managedObjectModel: try foreignModel(text))
        container.persistentStoreDescriptions = [
            NSPersistentStoreDescription(url: place.appendingPathComponent("foreign.sqlite"))
        ]
        container.loadPersistentStores { _, error in #expect(error == nil) }
    }

    deinit { try? FileManager.default.removeItem(at: place) }

    /// Runs a block in a context of its own and saves what it did.
    func step<T: Sendable>(_ block: @Sendable (NSManagedObjectContext) throws -> T) throws -> T {
        let context = container.newBackgroundContext()
        context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        return try context.performAndWait {
            let result = try block(context)
            if context.hasChanges { try context.save() }
            return result
        }
    }

    /// Runs a block so many times on each of two threads.
    func twice(_ times: Int, _ block: @escaping @Sendable (Int, Int) throws -> Void) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for thread in 0..<2 {
                group.addTask { () throws in for round in 0..<times { try block(thread, round) } }
            }
            try await group.waitForAll()
        }
    }
}
