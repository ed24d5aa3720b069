// A block that a task awaits, from the call until it has run.

import CoreDataValues
import Synchronization

/// What a waiting block and the task that awaits it know of each other.
final class AwaitedCall: Sendable {
    let cancellation = Cancellation()
    /// Whether a block that has not begun is given up when its task is cancelled.
    let endsWhenCancelled: Bool
    private let place = Atomic<Int>(-1)

    init(endsWhenCancelled: Bool) { self.endsWhenCancelled = endsWhenCancelled }

    var isOver: Bool { endsWhenCancelled && cancellation.isCancelled }

    /// The ticket under which the block waits, for whoever waits with it.
    var ticket: Int {
        get { place.load(ordering: .relaxed) }
        set { place.store(newValue, ordering: .relaxed) }
    }
}

/// A block that waits for a thread.
struct AwaitedBlock: Sendable {
    let call: AwaitedCall
    let kind: ActiveBlocks.Kind
    /// Runs the block and lets its task go on; with false it lets the task go on alone, since the call was cancelled.
    let run: @Sendable (_ begins: Bool) -> Void
    /// The block that may begin now because this one is over or was given up.
    let follower: (@Sendable () -> AwaitedBlock?)?

    init(
        _ call: AwaitedCall, _ kind: ActiveBlocks.Kind, follower: (@Sendable () -> AwaitedBlock?)? = nil,
        run: @escaping @Sendable (_ begins: Bool) -> Void
    ) {
        (self.call, self.kind, self.run, self.follower) = (call, kind, run, follower)
    }
}

/// Those who wait, by their tickets. Who leaves does so without a trace.
struct Waiting<Caller> {
    private var callers: [Int: Caller] = [:]
    /// Nobody with a lower ticket waits, and nobody with this one or a higher.
    private var range = 0..<0

    var count: Int { callers.count }

    mutating func add(_ caller: Caller, _ ticket: Int) {
        range = callers.isEmpty ? ticket..<ticket + 1 : min(range.lowerBound, ticket)..<max(range.upperBound, ticket + 1)
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
