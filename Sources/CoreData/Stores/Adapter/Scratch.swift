// Contexts for the code of other people's stores.

import CoreDataValues
import Foundation

/// Runs code with a context of its own, dropped afterwards.
///
/// A store's methods are given managed objects and contexts; they get objects of a scratch context, never those of the program,
/// so that a store may run on any thread and a save that fails has changed nothing.
enum Scratch {
    static func run<R>(
        on coordinator: NSPersistentStoreCoordinator, _ body: (NSManagedObjectContext) throws -> R
    ) throws -> R {
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        // The store is asked: what the coordinator remembers of it is no answer.
        context.stalenessInterval = 0
        return try withoutActuallyEscaping(body) { body in
            nonisolated(unsafe) let run = body
            return try context.performAndWait { Carried(try run(context)) }.value
        }
    }

    /// The same with objects that read one store's rows from another place: from what a save is about to make of them.
    static func run<R>(
        on coordinator: NSPersistentStoreCoordinator, showing store: NSPersistentStore, as rows: any StoreReader,
        _ body: (NSManagedObjectContext) throws -> R
    ) throws -> R {
        let view = NSPersistentStoreCoordinator(viewing: coordinator, store: store, as: rows)
        return try run(on: view, body)
    }

    private struct Carried<R>: @unchecked Sendable {
        let value: R
        init(_ value: R) { self.value = value }
    }
}
