// How many blocks that tasks await run at once, and the threads that run them.

import CoreDataValues
import Foundation
import Synchronization

/// Runs the blocks that tasks await, those of `await perform`, `read` and `write`, in a limited number of places.
///
/// Each place has a thread, which runs one block after the other. A block asks for a place when its context is free or,
/// in a `write`, when its coordinator's turn has come; a writer that ends hands its place to the next one. Blocks of
/// `read` save nothing. All others leave two places to them, since they may have to wait for a writer. While a `write`
/// runs, no more of them begin than there are processors and two: each that runs takes time from the writer, for which
/// all behind it wait. A task that waits is suspended, and given up when its time is over.
final class ActiveBlocks: Sendable {
    static let shared = ActiveBlocks(limit: 4 + 2 * processors)

    enum Kind: Sendable { case reading, any }

    private struct State {
        var limit: Int
        var running = 0
        /// How many of these may save.
        var saving = 0
        /// How many of these have a coordinator's turn to write.
        var writing = 0
        var readers = Waiting<AwaitedBlock>()
        var others = Waiting<AwaitedBlock>()
        var nextTicket = 0
        /// Threads without a block, the one that was busy last at the end.
        var idle: [BlockThread] = []

        private var savingLimit: Int { limit - (limit >= 4 ? 2 : 0) }

        /// More where a program has raised the limit, as its blocks wait for others.
        private var besideWriter: Int { max(ActiveBlocks.processors + 2, limit - 4 - ActiveBlocks.processors) }

        private func mayBegin(_ kind: Kind) -> Bool {
            guard running < limit else { return false }
            switch kind {
            case .any: return saving < savingLimit
            case .reading: return writing == 0 || running - saving < besideWriter
            }
        }

        /// Whether the next block of a line goes on in the place of the one that has ended.
        func handsOn(_ block: AwaitedBlock) -> Bool {
            running <= limit && (block.kind == .any || writing == 0 || running - saving <= besideWriter)
        }

        mutating func add(_ block: AwaitedBlock) {
            block.call.ticket = nextTicket
            if block.kind == .reading { readers.add(block, nextTicket) } else { others.add(block, nextTicket) }
            nextTicket += 1
        }

        mutating func remove(_ call: AwaitedCall, _ kind: Kind) -> AwaitedBlock? {
            kind == .reading ? readers.remove(call.ticket) : others.remove(call.ticket)
        }

        /// Takes a place if no block waits for one; false if there is none.
        mutating func begin(_ block: AwaitedBlock) -> Bool {
            guard mayBegin(block.kind), (block.kind == .reading ? readers : others).count == 0 else { return false }
            count(block, 1)
            return true
        }

        private mutating func count(_ block: AwaitedBlock, _ change: Int) {
            running += change
            if block.kind == .any { saving += change }
            if block.isWriter { writing += change }
        }

        mutating func removeLate(at now: UInt64) -> [AwaitedBlock] {
            readers.removeLate(at: now) + others.removeLate(at: now)
        }

        /// The earliest time at which a waiting block is to be given up.
        var deadline: UInt64? { [readers.deadline, others.deadline].compactMap { $0 }.min() }

        mutating func end(_ block: AwaitedBlock) { count(block, -1) }

        /// Removes the first waiting block that may begin, and takes a place for it.
        mutating func next() -> AwaitedBlock? {
            let reader = mayBegin(.reading) ? readers.first : nil
            let other = mayBegin(.any) ? others.first : nil
            guard let ticket = [reader, other].compactMap({ $0 }).min() else { return nil }
            let block = ticket == reader ? readers.remove(ticket) : others.remove(ticket)
            if let block { count(block, 1) }
            return block
        }

        /// Removes all that may begin now, and takes places and threads for them.
        mutating func allNext() -> [(block: AwaitedBlock, thread: BlockThread?)] {
            var begun: [(block: AwaitedBlock, thread: BlockThread?)] = []
            while let block = next() { begun.append((block, idle.popLast())) }
            return begun
        }
    }
    private static let processors = ProcessInfo.processInfo.activeProcessorCount
    private let state: Mutex<State>
    /// The limit again, to be read without the lock.
    private let places: Atomic<Int>
    private let alarm = Alarm()
    let threadName: String

    init(limit: Int, threadName: String = "CoreData") {
        state = Mutex(State(limit: limit))
        places = Atomic(limit)
        self.threadName = threadName
    }

    /// How many blocks run, may run and wait.
    var counts: (running: Int, limit: Int, waiting: Int) {
        state.withLock { ($0.running, $0.limit, $0.readers.count + $0.others.count) }
    }

    /// Since when the first of those that wait does.
    var waitsSince: UInt64? {
        state.withLock { state in [state.readers.report.since, state.others.report.since].compactMap { $0 }.min() }
    }

    /// How many threads are without a block.
    var idleCount: Int { state.withLock { $0.idle.count } }

    var limit: Int {
        get { places.load(ordering: .relaxed) }
        set {
            places.store(newValue, ordering: .relaxed)
            let begun = state.withLock { state in
                state.limit = newValue
                return state.allNext()
            }
            for (block, thread) in begun { start(block, thread) }
        }
    }

    /// Runs a block on a thread of its own, now or as soon as it has a place.
    func run(_ block: AwaitedBlock) {
        let begun = state.withLock { state -> (AwaitedBlock, BlockThread?)?? in
            // A call that is cancelled from here on is found among the waiting.
            if block.call.isOver { return .some(nil) }
            state.add(block)
            let next = state.next()
            if next?.call !== block.call { block.call.waits() }
            return next.map { ($0, state.idle.popLast()) }
        }
        switch begun {
        case .some(.none): giveUp(block, .isCancelled)
        case .some(let (block, thread)?): start(block, thread)
        case nil: break
        }
        setAlarm(for: block)
    }

    /// Only a block that has had to wait has a deadline.
    private func setAlarm(for block: AwaitedBlock) {
        guard let deadline = block.call.deadline else { return }
        alarm.set(deadline) { [weak self] in self?.giveUpLate(at: $0) }
    }

    /// Runs a block if there is a place now and no other block waits for it; else answers false and does not keep the
    /// block.
    func runNow(_ block: AwaitedBlock) -> Bool {
        let thread = state.withLock { state -> BlockThread?? in
            guard !block.call.isOver, state.begin(block) else { return nil }
            return .some(state.idle.popLast())
        }
        guard let thread else { return false }
        start(block, thread)
        return true
    }

    /// Gives up a block that waits; it has no effect on one that runs.
    func cancel(_ call: AwaitedCall, _ kind: Kind) {
        if let block = state.withLock({ $0.remove(call, kind) }) { giveUp(block, .isCancelled) }
    }

    private func giveUpLate(at now: UInt64) -> UInt64? {
        let (late, deadline) = state.withLock { ($0.removeLate(at: now), $0.deadline) }
        for block in late { giveUp(block, .isLate) }
        return deadline
    }

    private func giveUp(_ block: AwaitedBlock, _ admission: Admission) {
        block.end(admission)
        if let follower = block.follower?() { run(follower) }
    }

    // MARK: Threads

    private func start(_ block: AwaitedBlock, _ thread: BlockThread?) {
        if let thread { thread.wake(block) } else { BlockThread.start(block, self) }
    }

    /// The block that a thread runs after another one; with nil the thread joins the idle ones.
    func next(after block: AwaitedBlock, for thread: BlockThread) -> AwaitedBlock? {
        let follower = block.follower?()
        let (next, others) = state.withLock { state -> (AwaitedBlock?, [(block: AwaitedBlock, thread: BlockThread?)]) in
            // The follower keeps the place: a writer would otherwise wait for its turn and then again among the
            // readers.
            if let follower, state.handsOn(block) { return (follower, []) }
            state.end(block)
            if let follower {
                state.add(follower)
                setAlarm(for: follower)
            }
            let next = state.next()
            if next == nil { state.idle.append(thread) }
            // The last writer of a line leaves its place, and those that it has kept from beginning.
            return (next, next != nil && block.isWriter ? state.allNext() : [])
        }
        for (block, thread) in others { start(block, thread) }
        return next
    }

    /// Removes a thread from the idle ones; false if a block is on its way to it.
    func retire(_ thread: BlockThread) -> Bool {
        state.withLock { state in
            guard let place = state.idle.firstIndex(where: { $0 === thread }) else { return false }
            state.idle.remove(at: place)
            return true
        }
    }
}

extension NSManagedObjectContext {
    /// How many blocks of `await perform`, `read` and `write` run at once in a process: unless set, 4 plus 2 for each
    /// processor. Ours.
    ///
    /// Each has a thread; further callers wait suspended. Blocks of `write` and `perform` leave two of the places to
    /// blocks of `read`; while a `write` runs, of these no more begin than there are processors and two. Raise it in a program whose blocks wait for other tasks. Not counted are blocks of
    /// `performAndWait`, of `perform` without `await`, and of main-queue contexts.
    public static var maximumActiveContexts: Int {
        get { ActiveBlocks.shared.limit }
        set {
            guard newValue > 0 else {
                misuse("maximumActiveContexts was set to \(newValue); at least one block must be able to run.")
            }
            ActiveBlocks.shared.limit = newValue
        }
    }
}
