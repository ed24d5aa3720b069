// One who waits for a connection.

import CCoreDataRuntime
import CoreDataValues
import Foundation
import Synchronization

/// Made and admitted under the lock of the pool; waits and is woken outside it.
final class Waiter: Sendable {
    private let semaphore = DispatchSemaphore(value: 0)
    private let admitted = Atomic<Bool>(false)
    /// When it was made, in ticks.
    let since = coredata_ticks()

    /// Whether the place is his.
    var isAdmitted: Bool { admitted.load(ordering: .acquiring) }

    @discardableResult
    func admit() -> Waiter {
        admitted.store(true, ordering: .releasing)
        return self
    }

    func wake() { semaphore.signal() }

    /// Whether he was woken in time, and before the task that waits was cancelled.
    func wait(seconds: Double) -> Bool {
        guard let cancellation = Cancellation.current else { return waitUncancelled(seconds: seconds) }
        let end = Date(timeIntervalSinceNow: min(seconds, 1e9))
        while !cancellation.isCancelled, Date() < end {
            if semaphore.wait(timeout: .now() + .milliseconds(20)) == .success { return true }
        }
        return false
    }

    private func waitUncancelled(seconds: Double) -> Bool {
        let nanoseconds = max(0, seconds * 1e9)
        guard nanoseconds < 9e18 else {
            semaphore.wait()
            return true
        }
        return semaphore.wait(timeout: .now() + .nanoseconds(Int(nanoseconds))) == .success
    }
}
