// A block that a task awaits, from the call until it has run.

import CoreDataValues
import Foundation
import Synchronization

/// How the wait of a block has ended.
enum Admission: Sendable { case admitted, isCancelled, isLate }

/// A block that waits for a thread.
struct AwaitedBlock: Sendable {
    let call: AwaitedCall
    let kind: ActiveBlocks.Kind
    /// Runs the block and lets its task go on; where the block was not admitted it lets the task go on alone.
    private let run: @Sendable (Admission) -> Void
    /// The block that may begin now because this one is over or was given up.
    let follower: (@Sendable () -> AwaitedBlock?)?
    /// Who is told if the block had to wait, and of what.
    private let observers: Observers?
    private let purpose: CoreDataEvent.Wait.Purpose

    init(
        _ call: AwaitedCall, _ kind: ActiveBlocks.Kind, waitingFor purpose: CoreDataEvent.Wait.Purpose = .block,
        telling observers: Observers? = nil, follower: (@Sendable () -> AwaitedBlock?)? = nil,
        run: @escaping @Sendable (Admission) -> Void
    ) {
        (self.call, self.kind, self.purpose) = (call, kind, purpose)
        (self.observers, self.follower, self.run) = (observers, follower, run)
    }

    /// Ends the wait: the block runs now, or never.
    func end(_ admission: Admission) {
        if let start = call.endWait(), let observers, observers.isListening {
            observers.tell(
                .wait(
                    CoreDataEvent.Wait(
                        purpose: purpose,
                        duration: .nanoseconds(Int64(clamping: DispatchTime.now().uptimeNanoseconds &- start)),
                        isAdmitted: admission == .admitted, storePath: "")))
        }
        run(admission)
    }
}

/// Rings when those who wait have waited long enough. One timer is set, however many they are.
final class Alarm: Sendable {
    private static let queue = DispatchQueue(label: "CoreData.deadlines")
    private static let rest: UInt64 = 5_000_000
    private let next = Mutex<UInt64?>(nil)

    /// Rings at a deadline, unless that is done earlier anyway.
    ///
    /// - Parameter ring: sees to those who are late, and answers the deadline of those who are not.
    func set(_ deadline: UInt64, _ ring: @escaping @Sendable (_ now: UInt64) -> UInt64?) {
        let isFirst = next.withLock { next in
            guard deadline < next ?? .max else { return false }
            next = deadline
            return true
        }
        guard isFirst else { return }
        Alarm.queue.asyncAfter(deadline: DispatchTime(uptimeNanoseconds: deadline)) { [self] in
            next.withLock { if $0 == deadline { $0 = nil } }
            let now = DispatchTime.now().uptimeNanoseconds
            if let later = ring(now) { set(max(later, now + Alarm.rest), ring) }
        }
    }
}
