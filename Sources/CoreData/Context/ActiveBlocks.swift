// How many blocks of contexts run at once because tasks wait for them.

import CoreDataValues
import Foundation
import Synchronization

/// The places of blocks that tasks wait for: those of `await perform`, `read` and `write`.
///
/// A block has a thread to itself for as long as it runs or waits inside, so the places bound the threads. A place is taken when the
/// turn of a context has come, and of a writer his. A block of `read` saves nothing; all others leave two places to those, since they
/// may have to wait for a writer. Who waits is suspended.
final class ActiveBlocks: Sendable {
    static let shared = ActiveBlocks(limit: 4 + 2 * ProcessInfo.processInfo.activeProcessorCount)

    enum Kind: Sendable { case reading, any }

    private struct State {
        var limit: Int
        var running = 0
        /// Those among them that may save.
        var saving = 0
        var readers = WaitingCallers()
        var others = WaitingCallers()
        var nextTicket = 0

        private var savingLimit: Int { limit - (limit >= 4 ? 2 : 0) }

        func mayBegin(_ kind: Kind) -> Bool { running < limit && (kind == .reading || saving < savingLimit) }

        mutating func begin(_ kind: Kind) {
            running += 1
            if kind == .any { saving += 1 }
        }

        mutating func end(_ kind: Kind) {
            running -= 1
            if kind == .any { saving -= 1 }
        }

        /// The first that may begin of those who wait; his place is taken.
        mutating func next() -> WaitingCallers.Caller? {
            let reader = mayBegin(.reading) ? readers.first : nil
            let other = mayBegin(.any) ? others.first : nil
            guard let ticket = [reader, other].compactMap({ $0 }).min() else { return nil }
            begin(ticket == reader ? .reading : .any)
            return ticket == reader ? readers.remove(ticket) : others.remove(ticket)
        }
    }
    private let state: Mutex<State>

    init(limit: Int) { state = Mutex(State(limit: limit)) }

    /// How many run, may run and wait.
    var counts: (running: Int, limit: Int, waiting: Int) {
        state.withLock { ($0.running, $0.limit, $0.readers.count + $0.others.count) }
    }

    var limit: Int {
        get { state.withLock { $0.limit } }
        set {
            let callers = state.withLock { state in
                state.limit = newValue
                var callers: [WaitingCallers.Caller] = []
                while let caller = state.next() { callers.append(caller) }
                return callers
            }
            for caller in callers { caller.resume(returning: true) }
        }
    }

    /// Waits for a place, however long; `leave(_:)` must follow.
    nonisolated(nonsending) func enter(_ kind: Kind) async { _ = await wait(kind, endsWhenCancelled: false) { _ in } }

    /// Waits for a place; `leave(_:)` must follow.
    ///
    /// - Throws: `CancellationError` when the task is cancelled before it has a place.
    nonisolated(nonsending) func enterUnlessCancelled(_ kind: Kind) async throws {
        let place = Mutex<Int?>(nil)
        let isIn = await withTaskCancellationHandler {
            await wait(kind, endsWhenCancelled: true) { ticket in place.withLock { $0 = ticket } }
        } onCancel: {
            guard let ticket = place.withLock({ $0 }) else { return }
            let caller = state.withLock { kind == .reading ? $0.readers.remove(ticket) : $0.others.remove(ticket) }
            caller?.resume(returning: false)
        }
        guard isIn else { throw CancellationError() }
    }

    /// - Parameter note: told the caller's ticket, under the lock, before it is among the waiting.
    private nonisolated(nonsending) func wait(
        _ kind: Kind, endsWhenCancelled: Bool, note: @Sendable (Int) -> Void
    ) async -> Bool {
        await withUnsafeContinuation { (caller: WaitingCallers.Caller) in
            let answer: Bool? = state.withLock { state in
                let ticket = state.nextTicket
                state.nextTicket += 1
                note(ticket)
                // Who is cancelled from here on is found among the waiting.
                if endsWhenCancelled, Task.isCancelled { return false }
                if state.mayBegin(kind), kind == .reading ? state.readers.first == nil : state.others.first == nil {
                    state.begin(kind)
                    return true
                }
                if kind == .reading { state.readers.add(caller, ticket) } else { state.others.add(caller, ticket) }
                return nil
            }
            if let answer { caller.resume(returning: answer) }
        }
    }

    func leave(_ kind: Kind) {
        let next = state.withLock { state in
            state.end(kind)
            return state.next()
        }
        next?.resume(returning: true)
    }
}

extension NSManagedObjectContext {
    /// How many blocks of `await perform`, `read` and `write` run at once in a process: 4 and 2 for each processor unless set. Ours.
    ///
    /// Each has a thread; further callers wait suspended. Blocks of `write` and `perform` leave two of the places to blocks of `read`.
    /// Raise it in a program whose blocks wait for other tasks. Blocks of `performAndWait`, and of `perform` without `await`, are not
    /// counted, nor are those of main-queue contexts.
    public static var maximumActiveContexts: Int {
        get { ActiveBlocks.shared.limit }
        set {
            guard newValue > 0 else { misuse("maximumActiveContexts was set to \(newValue); at least one block must be able to run.") }
            ActiveBlocks.shared.limit = newValue
        }
    }
}
