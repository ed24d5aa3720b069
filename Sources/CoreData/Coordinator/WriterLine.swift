// The line in which the writers of a coordinator stand.

import Synchronization

/// Gives the turn to one writer after the other, in the order of their tickets. Who waits holds no thread.
final class WriterLine: Sendable {
    private struct State {
        var isTaken = false
        var waiting = Waiting<AwaitedBlock>()
        var nextTicket = 0
    }
    private let state = Mutex(State())

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
        state.withLock { state in
            // Who is cancelled from here on is found among the waiting.
            if block.call.isOver { return .isCancelled }
            if state.isTaken {
                state.waiting.add(block, ticket)
                return .waits
            }
            state.isTaken = true
            return .hasTurn
        }
    }

    /// Ends a turn; the one that answers has the next.
    func leave() -> AwaitedBlock? {
        state.withLock { state in
            let next = state.waiting.removeFirst()
            state.isTaken = next != nil
            return next
        }
    }

    /// Takes a block that waits out of the line.
    func remove(_ ticket: Int) -> AwaitedBlock? { state.withLock { $0.waiting.remove(ticket) } }
}
