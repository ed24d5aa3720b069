// What a thread knows of the work that it does.

import CCoreDataRuntime
import CoreDataValues

/// Takes what the caller's thread knows along to another thread, which goes on with the caller's work while that one waits.
///
/// libdispatch runs the blocks of the main queue on the main thread as long as that has a run loop, `sync` or not; those of every
/// other queue it runs on the thread that waits.
struct CallerThread {
    private let holder = coredata_current_holder()
    private let coordinators = NSPersistentStoreCoordinator.holders.held
    private let cancellation = Cancellation.current

    /// Runs a block that holds the contexts and coordinators which the caller holds, and can be cancelled as the caller can.
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
