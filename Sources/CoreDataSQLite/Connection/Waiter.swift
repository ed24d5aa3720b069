// One who waits for a connection.

import Dispatch
import Synchronization

/// Made and admitted under the lock of the pool; waits and is woken outside it.
final class Waiter: Sendable {
    private let semaphore = DispatchSemaphore(value: 0)
    private let admitted = Atomic<Bool>(false)

    /// Whether the place is his.
    var isAdmitted: Bool { admitted.load(ordering: .acquiring) }

    @discardableResult
    func admit() -> Waiter {
        admitted.store(true, ordering: .releasing)
        return self
    }

    func wake() { semaphore.signal() }

    /// Whether he was woken in time.
    func wait(seconds: Double) -> Bool {
        let nanoseconds = max(0, seconds * 1e9)
        guard nanoseconds < 9e18 else {
            semaphore.wait()
            return true
        }
        return semaphore.wait(timeout: .now() + .nanoseconds(Int(nanoseconds))) == .success
    }
}
