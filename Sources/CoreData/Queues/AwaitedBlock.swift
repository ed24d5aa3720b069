// A block that a task awaits, from the call until it has run.

import CoreDataValues
import Foundation
import Synchronization

/// How the wait of a block ended.
enum Admission: Sendable { case admitted, isCancelled, isLate }

/// A block that waits for a thread.
struct AwaitedBlock: Sendable {
    let call: AwaitedCall
    let kind: ActiveBlocks.Kind
    /// Runs the block if it was admitted, and resumes its task in any case.
    private let run: @Sendable (Admission) -> Void
    /// The next block of the same line, which may begin now that this one has run or was given up.
    let follower: (@Sendable () -> AwaitedBlock?)?
    /// Whether it stands in the line of a coordinator's writers, and not in that of its readers.
    var isWriter: Bool { kind == .any && follower != nil }
    /// Told how long the block had to wait, if it had to.
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

    /// Ends the wait: the block runs now or never.
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

/// Calls back when a deadline has passed. It sets one timer, however many calls wait.
final class Alarm: Sendable {
    private static let queue = DispatchQueue(label: "CoreData.deadlines")
    private static let rest: UInt64 = 5_000_000
    private let next = Mutex<UInt64?>(nil)

    /// Calls `ring` at a deadline, unless an earlier one is set, which sees to this one too.
    ///
    /// - Parameter ring: gives up the calls that are late and answers the deadline of the others.
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
