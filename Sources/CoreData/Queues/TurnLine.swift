// The lines in which the writers of a coordinator stand, and its readers where stores have few connections.

import Synchronization

/// Gives one turn, or a few, to one block after the other, in the order of their tickets. Who waits holds no thread, and is given up when
/// his time is over.
final class TurnLine: Sendable {
    private struct State {
        var taken = 0
        var waiting = Waiting<AwaitedBlock>()
        var nextTicket = 0
    }
    private let state = Mutex(State())
    private let count: Atomic<Int>
    private let alarm = Alarm()

    init(turns: Int) { count = Atomic(turns) }

    /// How many may have a turn at once; those who have one keep it.
    var turns: Int {
        get { count.load(ordering: .relaxed) }
        set { count.store(newValue, ordering: .relaxed) }
    }

    /// How many wait.
    var waitingCount: Int { state.withLock { $0.waiting.count } }

    /// A place in the order of the line. Who comes again with the same ticket goes before all who came later.
    func takeTicket() -> Int {
        state.withLock { state in
            defer { state.nextTicket += 1 }
            return state.nextTicket
        }
    }

    enum Entry { case hasTurn, waits, isCancelled }

    func enter(_ block: AwaitedBlock, _ ticket: Int) -> Entry {
        let entry: Entry = state.withLock { state in
            // Who is cancelled from here on is found among the waiting.
            if block.call.isOver { return .isCancelled }
            guard state.taken < turns else {
                block.call.waits()
                state.waiting.add(block, ticket)
                return .waits
            }
            state.taken += 1
            return .hasTurn
        }
        if entry == .waits, let deadline = block.call.deadline {
            alarm.set(deadline) { [weak self] in self?.giveUpLate(at: $0) }
        }
        return entry
    }

    private func giveUpLate(at now: UInt64) -> UInt64? {
        let (late, deadline) = state.withLock { ($0.waiting.removeLate(at: now), $0.waiting.deadline) }
        for block in late { block.end(.isLate) }
        return deadline
    }

    /// Ends a turn; the one that answers has the next.
    func leave() -> AwaitedBlock? {
        state.withLock { state in
            if state.taken <= turns, let next = state.waiting.removeFirst() { return next }
            state.taken -= 1
            return nil
        }
    }

    /// Takes a block that waits out of the line.
    func remove(_ ticket: Int) -> AwaitedBlock? { state.withLock { $0.waiting.remove(ticket) } }
}
