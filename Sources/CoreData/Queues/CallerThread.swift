// What a thread knows of its work: contexts and coordinators that it holds, and how it is cancelled.

import CCoreDataRuntime
import CoreDataValues

/// Takes what the caller's thread knows to another thread, which does the caller's work while the caller waits.
///
/// Needed for the main queue alone: libdispatch runs its blocks on the main thread, those of `sync` too, as long as
/// that thread has a run loop; blocks of every other queue run on the thread that waits.
struct CallerThread {
    private let holder = coredata_current_holder()
    private let coordinators = NSPersistentStoreCoordinator.holders.held
    private let cancellation = Cancellation.current

    /// Runs a block that holds the contexts and coordinators of the caller, and is cancelled when the caller is.
    func goOn<T>(_ body: () throws -> T) rethrows -> T {
        let (formerHolder, formerCoordinators) = (coredata_current_holder(), NSPersistentStoreCoordinator.holders.held)
        coredata_set_current_holder(holder)
        NSPersistentStoreCoordinator.holders.held = coordinators
        defer {
            coredata_set_current_holder(formerHolder)
            NSPersistentStoreCoordinator.holders.held = formerCoordinators
        }
        guard let cancellation else { return try body() }
        return try cancellation.covering(body)
    }
}
