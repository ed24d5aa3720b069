// A line in which tasks wait, suspended, for one of a few places.

import Synchronization

/// Gives a number of places to tasks in the order in which they come. A task that waits holds no thread.
final class WaitingLine: Sendable {
    private struct State {
        /// While it is above 0, nobody waits.
        var free: Int
        var waiting = Waiting<UnsafeContinuation<Bool, Never>>()
        var nextTicket = 0
    }
    private let state: Mutex<State>

    init(places: Int) { state = Mutex(State(free: places)) }

    /// Whether all places are taken.
    var isTaken: Bool { state.withLock { $0.free == 0 } }
    /// How many tasks wait.
    var waitingCount: Int { state.withLock { $0.waiting.count } }

    private func takeTicket() -> Int {
        state.withLock { state in
            defer { state.nextTicket += 1 }
            return state.nextTicket
        }
    }

    /// Waits for a place, however long; `leave()` must follow.
    nonisolated(nonsending) func enter() async { _ = await wait(takeTicket(), endsWhenCancelled: false) }

    /// Waits for a place; `leave()` must follow.
    ///
    /// - Throws: `CancellationError` when the task is cancelled before it has a place.
    nonisolated(nonsending) func enterUnlessCancelled() async throws {
        let ticket = takeTicket()
        let isIn = await withTaskCancellationHandler {
            await wait(ticket, endsWhenCancelled: true)
        } onCancel: {
            state.withLock { $0.waiting.remove(ticket) }?.resume(returning: false)
        }
        guard isIn else { throw CancellationError() }
    }

    private nonisolated(nonsending) func wait(_ ticket: Int, endsWhenCancelled: Bool) async -> Bool {
        await withUnsafeContinuation { (caller: UnsafeContinuation<Bool, Never>) in
            let answer: Bool? = state.withLock { state in
                // A task that is cancelled from here on is found among the waiting.
                if endsWhenCancelled, Task.isCancelled { return false }
                if state.free > 0 {
                    state.free -= 1
                    return true
                }
                state.waiting.add(caller, ticket)
                return nil
            }
            if let answer { caller.resume(returning: answer) }
        }
    }

    /// Hands the place to the task that has waited longest.
    func leave() {
        let next = state.withLock { state -> UnsafeContinuation<Bool, Never>? in
            if let first = state.waiting.removeFirst() { return first }
            state.free += 1
            return nil
        }
        next?.resume(returning: true)
    }
}
