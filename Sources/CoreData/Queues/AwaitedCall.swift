// The state that a waiting block shares with the task that awaits it.

import CoreDataValues
import Foundation
import Synchronization

/// The state that a waiting block shares with the task that awaits it.
final class AwaitedCall: Sendable {
    let cancellation: Cancellation
    /// Whether a block that has not begun is given up when its task is cancelled.
    let endsWhenCancelled: Bool
    /// How many nanoseconds the block waits at most; nil for a block that is never given up for being late.
    let patience: UInt64?
    private let place = Atomic<Int>(-1)
    private let start = Atomic<UInt64>(0)

    init(endsWhenCancelled: Bool, patience: UInt64? = nil, isOfWriter: Bool = false) {
        cancellation = Cancellation(isOfWriter: isOfWriter)
        (self.endsWhenCancelled, self.patience) = (endsWhenCancelled, patience)
    }

    var isOver: Bool { endsWhenCancelled && cancellation.isCancelled }

    /// The number under which the block stands in the line that it waits in.
    var ticket: Int {
        get { place.load(ordering: .relaxed) }
        set { place.store(newValue, ordering: .relaxed) }
    }

    /// Notes that the block has to wait from now on, unless it was waiting already.
    func waits() {
        _ = start.compareExchange(expected: 0, desired: DispatchTime.now().uptimeNanoseconds, ordering: .relaxed)
    }

    /// When the wait began; nil for a block that does not wait.
    var waitsSince: UInt64? {
        let start = start.load(ordering: .relaxed)
        return start == 0 ? nil : start
    }

    /// Ends the wait and answers when it began; nil for a block that did not wait.
    func endWait() -> UInt64? {
        defer { start.store(0, ordering: .relaxed) }
        return waitsSince
    }

    /// The time at which a waiting block is given up; nil for never.
    var deadline: UInt64? {
        guard let patience, let waitsSince else { return nil }
        let (end, isEndless) = waitsSince.addingReportingOverflow(patience)
        return isEndless ? nil : end
    }
}
