// A line in which tasks wait, suspended, for one of a few places.

import Synchronization

/// Gives a number of places to tasks, in the order in which they came. Who waits holds no thread.
final class Line: Sendable {
    /// The blocks of contexts that run at once because tasks wait for them.
    ///
    /// libdispatch stops at 256 threads. Blocks that wait for other queues (`performAndWait` on a second context) would take them
    /// all and wait for each other for ever; a suspended caller takes none.
    static let contexts = Line(places: 64)

    private typealias Caller = UnsafeContinuation<Bool, Never>

    private struct State {
        /// While there are any, nobody waits.
        var free: Int
        /// Those who wait, by their tickets. Who is cancelled leaves without a trace.
        var waiting: [Int: Caller] = [:]
        /// Nobody with a lower ticket waits.
        var first = 0
        var nextTicket = 0
    }
    private let state: Mutex<State>

    init(places: Int) { state = Mutex(State(free: places)) }

    /// A place in the order of the line. Who comes again with the same ticket goes before all who came later.
    func takeTicket() -> Int {
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
    nonisolated(nonsending) func enterUnlessCancelled(_ ticket: Int) async throws {
        let isIn = await withTaskCancellationHandler {
            await wait(ticket, endsWhenCancelled: true)
        } onCancel: {
            state.withLock { $0.waiting.removeValue(forKey: ticket) }?.resume(returning: false)
        }
        guard isIn else { throw CancellationError() }
    }

    private nonisolated(nonsending) func wait(_ ticket: Int, endsWhenCancelled: Bool) async -> Bool {
        await withUnsafeContinuation { (caller: Caller) in
            let answer: Bool? = state.withLock { state in
                // Who is cancelled from here on is found among the waiting.
                if endsWhenCancelled, Task.isCancelled { return false }
                if state.free > 0 {
                    state.free -= 1
                    return true
                }
                state.waiting[ticket] = caller
                state.first = min(state.first, ticket)
                return nil
            }
            if let answer { caller.resume(returning: answer) }
        }
    }

    /// Hands the place to the caller with the lowest ticket.
    func leave() {
        let next: Caller? = state.withLock { state in
            if state.waiting.isEmpty { state.first = state.nextTicket }
            while state.first < state.nextTicket {
                let caller = state.waiting.removeValue(forKey: state.first)
                state.first += 1
                if let caller { return caller }
            }
            state.free += 1
            return nil
        }
        next?.resume(returning: true)
    }
}
