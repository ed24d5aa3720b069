// A line in which tasks wait, suspended, for one of a few places.

import Synchronization

/// Gives a number of places to tasks, in the order in which they came. Who waits holds no thread.
final class Line: Sendable {
    private struct State {
        /// While there are any, nobody waits.
        var free: Int
        var waiting = WaitingCallers()
        var nextTicket = 0
    }
    private let state: Mutex<State>

    init(places: Int) { state = Mutex(State(free: places)) }

    /// Whether somebody has the last place.
    var isTaken: Bool { state.withLock { $0.free == 0 } }
    /// How many wait.
    var waitingCount: Int { state.withLock { $0.waiting.count } }

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
            state.withLock { $0.waiting.remove(ticket) }?.resume(returning: false)
        }
        guard isIn else { throw CancellationError() }
    }

    private nonisolated(nonsending) func wait(_ ticket: Int, endsWhenCancelled: Bool) async -> Bool {
        await withUnsafeContinuation { (caller: WaitingCallers.Caller) in
            let answer: Bool? = state.withLock { state in
                // Who is cancelled from here on is found among the waiting.
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

    /// Hands the place to the caller with the lowest ticket.
    func leave() {
        let next: WaitingCallers.Caller? = state.withLock { state in
            if let first = state.waiting.first { return state.waiting.remove(first) }
            state.free += 1
            return nil
        }
        next?.resume(returning: true)
    }
}

/// Suspended callers by their tickets. Who leaves does so without a trace.
struct WaitingCallers {
    typealias Caller = UnsafeContinuation<Bool, Never>

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
}
