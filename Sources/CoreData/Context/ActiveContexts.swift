// How many `await perform` blocks run at once.

import Synchronization

/// Lets 64 blocks of `await perform` run at once; further callers suspend until one ends.
///
/// libdispatch stops at 256 threads. Blocks that wait for other queues (`performAndWait` on a second context) would take them
/// all and wait for each other for ever; a suspended caller takes none.
final class ActiveContexts: Sendable {
    static let shared = ActiveContexts(limit: 64)

    private struct State {
        var running = 0
        var waiting: [UnsafeContinuation<Void, Never>] = []
        /// The waiting callers before this place were served.
        var served = 0
    }
    private let limit: Int
    private let state = Mutex(State())

    init(limit: Int) { self.limit = limit }

    func enter() async {
        let isFree = state.withLock { state in
            guard state.running < limit else { return false }
            state.running += 1
            return true
        }
        if isFree { return }
        await withUnsafeContinuation { (continuation: UnsafeContinuation<Void, Never>) in
            let goesOn = state.withLock { state in
                if state.running < limit {
                    state.running += 1
                    return true
                }
                state.waiting.append(continuation)
                return false
            }
            if goesOn { continuation.resume() }
        }
    }

    /// Hands the place to the caller who has waited longest.
    func leave() {
        let next: UnsafeContinuation<Void, Never>? = state.withLock { state in
            guard state.served < state.waiting.count else {
                state.running -= 1
                return nil
            }
            let next = state.waiting[state.served]
            state.served += 1
            if state.served == state.waiting.count {
                state.waiting.removeAll(keepingCapacity: true)
                state.served = 0
            }
            return next
        }
        next?.resume()
    }
}
