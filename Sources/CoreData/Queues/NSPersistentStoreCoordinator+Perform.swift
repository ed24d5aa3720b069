// Work on the coordinator's own queue, and requests that go to it directly.

import CoreDataFoundation
import CoreDataValues
import Foundation

extension NSPersistentStoreCoordinator {
    static let holders = ThreadHolders()

    /// Runs a block on the coordinator's queue later.
    ///
    /// No call requires this: every method of a coordinator may be called from any thread.
    public final func perform(_ block: @escaping @Sendable () -> Void) {
        queue.async { self.holding(block) }
    }

    /// Runs a block on the coordinator's queue and waits for it. May be nested.
    @preconcurrency
    public final func performAndWait<T>(_ block: @Sendable () throws -> T) rethrows -> T { try waiting(block) }

    /// Runs a block on the coordinator's queue and waits for it. May be nested.
    @preconcurrency
    public final func performAndWait(_ block: @Sendable () -> Void) { waiting(block) }

    private func waiting<T>(_ block: () throws -> T) rethrows -> T {
        if NSPersistentStoreCoordinator.holders.isHeld(self) { return try block() }
        return try queue.sync { try holding(block) }
    }

    /// Runs a block on the coordinator's queue and suspends the caller until it is done.
    @preconcurrency
    public final func perform<T>(_ block: @escaping @Sendable () throws -> T) async rethrows -> T {
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        let result = await context.awaiting(.enqueued) { Result { try self.performAndWait(block) } }
        return try rethrow(result, as: block)
    }

    private func holding<T>(_ block: () throws -> T) rethrows -> T {
        NSPersistentStoreCoordinator.holders.enter(self)
        defer { NSPersistentStoreCoordinator.holders.leave(self) }
        return try block()
    }

    /// Executes a request in a context: a fetch answers the array of its results.
    ///
    /// - Throws: `unsupported` for a save request; save the context instead.
    public final func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext) throws -> Any {
        guard context.persistentStoreCoordinator === self else {
            misuse("execute(_:with:) was given a context of another coordinator.")
        }
        return try request.executed(in: context)
    }

    // MARK: NSLocking

    public final func lock() { recursiveLock.lock() }
    public final func unlock() { recursiveLock.unlock() }
    public final func tryLock() -> Bool { recursiveLock.try() }

}

/// Throws the error of a result from a function that rethrows. Swift allows that only in a call of `block`.
private func rethrow<T>(_ result: Result<T, any Error>, as block: () throws -> T) rethrows -> T {
    func pass(_ block: () throws -> T, _ rescue: (any Error) throws -> T) rethrows -> T {
        switch result {
        case .success(let value): return value
        case .failure(let error): return try rescue(error)
        }
    }
    return try pass(block) { throw $0 }
}

/// The coordinators of which the current thread runs a block.
final class ThreadHolders: Sendable {
    private let key = "CoreData.coordinator.holders"

    var held: [ObjectIdentifier] {
        get { Thread.current.threadDictionary[key] as? [ObjectIdentifier] ?? [] }
        set { Thread.current.threadDictionary[key] = newValue }
    }

    func isHeld(_ coordinator: NSPersistentStoreCoordinator) -> Bool { held.contains(ObjectIdentifier(coordinator)) }
    func enter(_ coordinator: NSPersistentStoreCoordinator) { held.append(ObjectIdentifier(coordinator)) }
    func leave(_ coordinator: NSPersistentStoreCoordinator) { held.removeLast() }
}
