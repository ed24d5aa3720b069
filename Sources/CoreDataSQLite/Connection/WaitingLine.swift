// A lock whose callers can leave: who uses a store's one writer next.

import CoreDataValues
import Foundation

/// A lock that callers get in the order they came, and whose line a cancelled task leaves.
///
/// Made of the system's own locks, which the thread sanitizer knows.
final class WaitingLine: @unchecked Sendable {
    private final class Caller: @unchecked Sendable {
        let condition = NSCondition()
        var isCalled = false

        func call() {
            condition.lock()
            isCalled = true
            condition.signal()
            condition.unlock()
        }

        /// Waits until called, or until the task is cancelled; answers whether it was called.
        func wait(_ cancellation: Cancellation?) -> Bool {
            condition.lock()
            defer { condition.unlock() }
            while !isCalled {
                guard let cancellation else {
                    condition.wait()
                    continue
                }
                if cancellation.isCancelled { return false }
                _ = condition.wait(until: Date(timeIntervalSinceNow: 0.02))
            }
            return true
        }
    }

    private let lock = NSLock()
    private var isTaken = false
    private var line: [Caller] = []

    /// - Throws: `CancellationError` if the task that waits for this is cancelled before its turn.
    func withTurn<R>(_ body: () throws -> R) throws -> R {
        try enter(Cancellation.current)
        defer { leave() }
        return try body()
    }

    /// Waits for its turn even if the task is cancelled, for what must be done.
    func withLastTurn(_ body: () -> Void) {
        // Without a cancellation nothing ends the wait.
        guard (try? enter(nil)) != nil else { return }
        defer { leave() }
        body()
    }

    private func enter(_ cancellation: Cancellation?) throws {
        let caller: Caller? = lock.withLock {
            guard isTaken else {
                isTaken = true
                return nil
            }
            let caller = Caller()
            line.append(caller)
            return caller
        }
        guard let caller, !caller.wait(cancellation) else { return }
        let hasLeft = lock.withLock {
            let place = line.firstIndex { $0 === caller }
            if let place { line.remove(at: place) }
            return place != nil
        }
        // Called in this very moment: hand the turn on.
        if !hasLeft { leave() }
        throw CancellationError()
    }

    private func leave() {
        let next: Caller? = lock.withLock {
            guard !line.isEmpty else {
                isTaken = false
                return nil
            }
            return line.removeFirst()
        }
        next?.call()
    }
}
