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

extension Pool {
    /// - Throws: 134090 when the place was not given in time, 134070 when the store was closed meanwhile, `CancellationError`
    ///   when the task that waits was cancelled.
    func wait(
        for waiter: Waiter, in line: WritableKeyPath<State, [Waiter]>, _ tooLate: () -> StoreError
    ) throws {
        counter.waited()
        let start = DispatchTime.now().uptimeNanoseconds
        defer { tellWait(for: waiter, in: line, since: start) }
        if !waiter.wait(seconds: options.connectionTimeout) {
            let isLate = state.withLock { state in
                guard !waiter.isAdmitted else { return false }
                state[keyPath: line].removeAll { $0 === waiter }
                return true
            }
            if isLate, Cancellation.current?.isCancelled == true { throw CancellationError() }
            if isLate { throw tooLate() }
        }
        if !waiter.isAdmitted { throw SQLiteError.closed(path) }
    }

    private func tellWait(for waiter: Waiter, in line: WritableKeyPath<State, [Waiter]>, since start: UInt64) {
        guard let listener = options.listener, listener.isListening else { return }
        let purpose: ConnectionPurpose =
            line == \.writersInLine ? .write : line == \.readersInLine ? .read : .pinnedView
        let seconds = Double(DispatchTime.now().uptimeNanoseconds - start) / 1e9
        listener.hear(StoreWait(purpose: purpose, seconds: seconds, isAdmitted: waiter.isAdmitted), path: path)
    }
}
