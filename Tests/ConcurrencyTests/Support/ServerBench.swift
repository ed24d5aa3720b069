// What the server tests share: threads that are waited for, and files looked at from outside.

import CoreDataTestSupport
import CoreDataValues
import Foundation
import Synchronization

@testable import CoreData

/// A thread that runs at once and is waited for.
final class Worker: Sendable {
    private let done = DispatchSemaphore(value: 0)
    private let failure = Mutex<(any Error)?>(nil)

    init(_ body: @escaping @Sendable () throws -> Void) {
        Thread.detachNewThread {
            do { try body() } catch { self.failure.withLock { $0 = error } }
            self.done.signal()
        }
    }

    /// Throws what the body threw.
    func join() throws {
        done.wait()
        done.signal()
        if let error = failure.withLock({ $0 }) { throw error }
    }

    func hasEnded(within seconds: Double) -> Bool {
        guard done.wait(timeout: .now() + seconds) == .success else { return false }
        done.signal()
        return true
    }
}

/// Reads a store and stays in the read until it is let go.
final class LongRead: Sendable {
    private let leaving = DispatchSemaphore(value: 0)
    private let worker: Worker

    init(_ coordinator: NSPersistentStoreCoordinator, _ entity: String) {
        let rows = coordinator.persistentStores[0].rows
        let index = rows.schema.entity(named: entity)?.index
        let entered = DispatchSemaphore(value: 0)
        let leaving = leaving
        worker = Worker {
            defer { entered.signal() }
            guard let index else { return }
            try rows.fetch(FetchPlan(entity: index), .latest) { _ in
                entered.signal()
                leaving.wait()
                return .stop
            }
        }
        entered.wait()
    }

    func end() throws {
        leaving.signal()
        try worker.join()
    }
}

extension URL {
    var fileSize: Int { (try? FileManager.default.attributesOfItem(atPath: path)[.size] as? Int) ?? 0 }
    var log: URL { URL(fileURLWithPath: path + "-wal") }
    var exists: Bool { FileManager.default.fileExists(atPath: path) }

    /// The first value that a statement answers on a connection of its own.
    func ask(_ sql: String) -> String? { (try? SQLiteFile(self, for: .reading).rows(sql))?.first }
}

extension NSPersistentStoreCoordinator {
    /// Work in a context of its own.
    func inContext<T>(_ body: (NSManagedObjectContext) throws -> T) throws -> T {
        let context = context()
        return try withoutActuallyEscaping(body) { body in
            nonisolated(unsafe) let run = body
            return try context.performAndWait { try run(context) }
        }
    }

    func count(_ entity: String) throws -> Int {
        try inContext { try $0.count(for: NSFetchRequest<NSManagedObject>(entityName: entity)) }
    }
}
