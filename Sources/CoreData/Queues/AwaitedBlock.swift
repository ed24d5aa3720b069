// A block that a task awaits, from the call until it has run.

import CoreDataValues
import Foundation
import Synchronization

/// How the wait of a block has ended.
enum Admission: Sendable { case admitted, isCancelled, isLate }

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
    fileprivate func endWait() -> UInt64? {
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

/// Those who wait, by their tickets. Who leaves does so without a trace.
struct Waiting<Caller> {
    private var callers: [Int: Caller] = [:]
    /// Nobody with a lower ticket waits, and nobody with this one or a higher.
    private var range = 0..<0

    var count: Int { callers.count }

    mutating func add(_ caller: Caller, _ ticket: Int) {
        range =
            callers.isEmpty ? ticket..<ticket + 1 : min(range.lowerBound, ticket)..<max(range.upperBound, ticket + 1)
        callers[ticket] = caller
    }

    mutating func remove(_ ticket: Int) -> Caller? { callers.removeValue(forKey: ticket) }

    /// The lowest ticket.
    var first: Int? {
        mutating get {
            if callers.isEmpty { return nil }
            while callers[range.lowerBound] == nil { range = range.lowerBound + 1..<range.upperBound }
            return range.lowerBound
        }
    }

    /// Takes out the one with the lowest ticket.
    mutating func removeFirst() -> Caller? { first.flatMap { remove($0) } }
}

extension Waiting<AwaitedBlock> {
    /// Takes out those whose time is over, in the order of their tickets.
    mutating func removeLate(at now: UInt64) -> [AwaitedBlock] {
        let late = callers.filter { $0.value.call.deadline.map { $0 <= now } ?? false }.keys.sorted()
        return late.compactMap { remove($0) }
    }

    /// When the time of the first of them is over.
    var deadline: UInt64? { callers.values.compactMap(\.call.deadline).min() }
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
