// What a waiting block and the task that awaits it know of each other.

import CoreDataValues
import Foundation
import Synchronization

/// What a waiting block and the task that awaits it know of each other.
final class AwaitedCall: Sendable {
    let cancellation = Cancellation()
    /// Whether a block that has not begun is given up when its task is cancelled.
    let endsWhenCancelled: Bool
    /// Nanoseconds that the block waits at most; nil for one that is never given up for being late.
    let patience: UInt64?
    private let place = Atomic<Int>(-1)
    private let start = Atomic<UInt64>(0)

    init(endsWhenCancelled: Bool, patience: UInt64? = nil) {
        (self.endsWhenCancelled, self.patience) = (endsWhenCancelled, patience)
    }

    var isOver: Bool { endsWhenCancelled && cancellation.isCancelled }

    /// The ticket under which the block waits, for whoever waits with it.
    var ticket: Int {
        get { place.load(ordering: .relaxed) }
        set { place.store(newValue, ordering: .relaxed) }
    }

    /// The block has to wait, since now unless it did before.
    func waits() {
        _ = start.compareExchange(expected: 0, desired: DispatchTime.now().uptimeNanoseconds, ordering: .relaxed)
    }

    /// When its wait began; nil for a block that has none.
    private var waitsSince: UInt64? {
        let start = start.load(ordering: .relaxed)
        return start == 0 ? nil : start
    }

    /// Answers when the wait began that is over now.
    func endWait() -> UInt64? {
        defer { start.store(0, ordering: .relaxed) }
        return waitsSince
    }

    /// Until when a waiting block may wait.
    var deadline: UInt64? {
        guard let patience, let waitsSince else { return nil }
        let (end, isEndless) = waitsSince.addingReportingOverflow(patience)
        return isEndless ? nil : end
    }
}
