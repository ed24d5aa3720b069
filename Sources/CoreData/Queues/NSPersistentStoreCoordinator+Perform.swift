// Work on the coordinator's own queue, and requests that go to it directly.

import CoreDataFoundation
import CoreDataValues
import Foundation

extension NSPersistentStoreCoordinator {
    static let holders = ThreadHolders()

    /// Runs a block on the coordinator's queue later.
    ///
    /// Nothing requires this: every method of a coordinator may be called from any thread.
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

    /// Carries a request out in a context: a fetch answers the array of its results.
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

    // MARK: IDs

    /// The ID that the text of a URI was made from.
    public final func managedObjectID(for string: String) -> NSManagedObjectID? {
        URL(string: string).flatMap { managedObjectID(forURIRepresentation: $0) }
    }

    /// The ID that the text of a URI was made from, given as UTF-8; nil where it is none of a store here.
    ///
    /// - Parameters:
    ///   - text: the first byte.
    ///   - length: how many bytes of the text to read.
    public final func managedObjectID(fromUTF8String text: UnsafePointer<CChar>, length: Int) -> NSManagedObjectID? {
        let bytes = UnsafeRawBufferPointer(start: text, count: max(0, length))
        return managedObjectID(for: String(decoding: bytes, as: UTF8.self))
    }
}

/// Throws the error of a result under a `rethrows` that only `block` can justify.
private func rethrow<T>(_ result: Result<T, any Error>, as block: () throws -> T) rethrows -> T {
    func pass(_ block: () throws -> T, _ rescue: (any Error) throws -> T) rethrows -> T {
        switch result {
        case .success(let value): return value
        case .failure(let error): return try rescue(error)
        }
    }
    return try pass(block) { throw $0 }
}

/// Which coordinators the present thread runs a block of.
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

extension NSPersistentStoreCoordinator {
    /// Adds the store that a description describes, at once or, if it asks for it, on a queue in the background.
    ///
    /// The block is called once, with the error if there is one.
    public final func addPersistentStore(
        with storeDescription: NSPersistentStoreDescription,
        completionHandler block: @escaping (NSPersistentStoreDescription, (any Error)?) -> Void
    ) {
        nonisolated(unsafe) let described = storeDescription
        nonisolated(unsafe) let completed = block
        let add: @Sendable () -> Void = {
            do {
                try self.addPersistentStore(
                    ofType: described.type, configurationName: described.configuration, at: described.url,
                    options: described.storeOptions)
                completed(described, nil)
            } catch { completed(described, error) }
        }
        if storeDescription.shouldAddStoreAsynchronously {
            DispatchQueue.global().async(execute: add)
        } else {
            add()
        }
    }

    @discardableResult
    public final func addPersistentStore(
        type: NSPersistentStore.StoreType, configuration: String? = nil, at storeURL: URL,
        options: [AnyHashable: Any]? = nil
    ) throws -> NSPersistentStore {
        try addPersistentStore(
            ofType: type.rawValue, configurationName: configuration, at: storeURL, options: options)
    }
}
