// Requests that a context passes on, and the lock of programs that share one.

import CoreDataValues
import Foundation
import Synchronization

extension NSManagedObjectContext {
    /// Carries a request out.
    ///
    /// A fetch request answers an `NSAsynchronousFetchResult` that is complete; an asynchronous one answers it at once and
    /// completes it later.
    /// - Throws: 134091 for a save request (`save()` saves); what fetching throws; `unsupported`, naming its class, for any other.
    @discardableResult
    public final func execute(_ request: NSPersistentStoreRequest) throws -> NSPersistentStoreResult {
        checkQueue()
        return try request.result(in: self)
    }
}

/// A lock that threads may agree on. It gives nobody the context, which belongs to its queue: use `performAndWait` for that.
extension NSManagedObjectContext: NSLocking {
    /// Guards the making of locks, which few contexts ever need.
    private static let making = Mutex<Void>(())

    private var recursiveLock: NSRecursiveLock {
        NSManagedObjectContext.making.withLock { _ in
            if let sharedLock { return sharedLock }
            let made = NSRecursiveLock()
            sharedLock = made
            return made
        }
    }

    /// Waits for the lock. May be nested.
    public final func lock() { recursiveLock.lock() }
    public final func unlock() { recursiveLock.unlock() }
    /// Takes the lock if no other thread has it.
    public final func tryLock() -> Bool { recursiveLock.try() }
}
