// Requests that a context executes, and its lock.

import CoreDataValues
import Foundation
import Synchronization

extension NSManagedObjectContext {
    /// Executes a request.
    ///
    /// A fetch request returns a complete `NSAsynchronousFetchResult`; an asynchronous one returns it at once and
    /// completes it later.
    /// - Throws: 134091 for a save request (use `save()`); what fetching throws; `unsupported` for any other class.
    @discardableResult
    public final func execute(_ request: NSPersistentStoreRequest) throws -> NSPersistentStoreResult {
        checkQueue()
        return try request.result(in: self)
    }
}

/// A lock that threads may agree on. It gives no access to the context: use `performAndWait` for that.
extension NSManagedObjectContext: NSLocking {
    /// Guards the creation of locks, which few contexts need.
    private static let making = Mutex<Void>(())

    private var recursiveLock: NSRecursiveLock {
        NSManagedObjectContext.making.withLock { _ in
            if let sharedLock { return sharedLock }
            let made = NSRecursiveLock()
            sharedLock = made
            return made
        }
    }

    /// Waits for the lock, which is recursive.
    public final func lock() { recursiveLock.lock() }
    public final func unlock() { recursiveLock.unlock() }
    /// Acquires the lock unless another thread has it.
    public final func tryLock() -> Bool { recursiveLock.try() }
}
