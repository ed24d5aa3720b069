// The line of a coordinator's writers, and that of its readers where stores have few connections.

import Synchronization

/// Gives one turn, or a few, to blocks in the order of their tickets. A block that waits holds no thread, and is given
/// up when its time is over.
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

    /// How many blocks may have a turn at once. Lowering it takes no turn away.
    var turns: Int {
        get { count.load(ordering: .relaxed) }
        set { count.store(newValue, ordering: .relaxed) }
    }

    /// How many blocks wait, and since when the first of them does.
    var report: (count: Int, since: UInt64?) { state.withLock { $0.waiting.report } }

    /// A number that orders the line: a block that retries with its ticket goes before all that came later.
    func takeTicket() -> Int {
        state.withLock { state in
            defer { state.nextTicket += 1 }
            return state.nextTicket
        }
    }

    enum Entry { case hasTurn, waits, isCancelled }

    func enter(_ block: AwaitedBlock, _ ticket: Int) -> Entry {
        let entry: Entry = state.withLock { state in
            // A call that is cancelled from here on is found among the waiting.
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

    /// Ends a turn and answers the block that has it next.
    func leave() -> AwaitedBlock? {
        state.withLock { state in
            if state.taken <= turns, let next = state.waiting.removeFirst() { return next }
            state.taken -= 1
            return nil
        }
    }

    /// Removes a waiting block from the line.
    func remove(_ ticket: Int) -> AwaitedBlock? { state.withLock { $0.waiting.remove(ticket) } }
}
