// The turns of a context's blocks: a flag while no block waits, a queue as soon as one does.

import Dispatch
import Synchronization

/// The turns of one context's blocks.
///
/// Most contexts of a server are used by one block and dropped. Such a block finds the context free and holds it by a
/// flag. The queue is made when a second caller has to wait, or when a block is to run later; if the flag is set then,
/// the queue is suspended until the block that holds it ends. A caller that finds an empty queue suspends it in the
/// same way, and runs on its own thread.
struct Turn: ~Copyable {
    private static let free = 0
    private static let held = 1
    /// The queue exists and gives the turns.
    private static let queued = 2
    /// The queue exists and is suspended until the block that holds the flag ends.
    private static let suspended = 3
    /// The queue is not the context's own, and gives every turn.
    private static let shared = 4

    private let state = Atomic<Int>(Turn.free)
    /// The queue, retained.
    private let made = Atomic<UnsafeRawPointer?>(nil)
    private let making = Mutex<Void>(())
    /// How many blocks that no task awaits are on the queue or wait for it.
    private let plain = Atomic<Int>(0)
    /// The line of the tasks that await a block, retained.
    private let line = Atomic<UnsafeRawPointer?>(nil)

    /// Takes turns by a queue of its own.
    init() {}

    /// Takes turns by an existing queue.
    init(_ queue: DispatchQueue) {
        made.store(UnsafeRawPointer(Unmanaged.passRetained(queue).toOpaque()), ordering: .relaxed)
        state.store(Turn.shared, ordering: .releasing)
    }

    deinit {
        if let queue = made.load(ordering: .acquiring) { Unmanaged<DispatchQueue>.fromOpaque(queue).release() }
        if let line = line.load(ordering: .acquiring) { Unmanaged<WaitingLine>.fromOpaque(line).release() }
    }

    /// The line of the tasks that await a block; made for the first of them.
    var awaiters: WaitingLine {
        if let known = line.load(ordering: .acquiring) {
            return Unmanaged<WaitingLine>.fromOpaque(known).takeUnretainedValue()
        }
        let new = Unmanaged.passRetained(WaitingLine(places: 1))
        let (isFirst, known) = line.compareExchange(
            expected: nil, desired: UnsafeRawPointer(new.toOpaque()), ordering: .acquiringAndReleasing)
        guard !isFirst, let known else { return new.takeUnretainedValue() }
        new.release()
        return Unmanaged<WaitingLine>.fromOpaque(known).takeUnretainedValue()
    }

    /// Takes the turn if no block has it or waits for it; `leave()` must follow.
    func enter() -> Bool {
        let (isIn, found) = state.compareExchange(
            expected: Turn.free, desired: Turn.held, ordering: .acquiringAndReleasing)
        if isIn { return true }
        guard found == Turn.queued, plain.load(ordering: .relaxed) == 0 else { return false }
        queue.suspend()
        // A block that comes to the queue from here on finds it suspended. It has raised `plain` before: either that is
        // seen here, or the suspension there.
        if plain.wrappingAdd(0, ordering: .acquiringAndReleasing).newValue == 0, suspend() { return true }
        queue.resume()
        return false
    }

    /// Called in a block on the queue: keeps the turn beyond the end of that block; `leave()` must follow.
    func keep() -> Bool {
        queue.suspend()
        if suspend() { return true }
        queue.resume()
        return false
    }

    private func suspend() -> Bool {
        state.compareExchange(expected: Turn.queued, desired: Turn.suspended, ordering: .acquiringAndReleasing)
            .exchanged
    }

    func leave() {
        let (isFree, found) = state.compareExchange(
            expected: Turn.held, desired: Turn.free, ordering: .acquiringAndReleasing)
        guard !isFree, found == Turn.suspended else { return }
        state.store(Turn.queued, ordering: .releasing)
        queue.resume()
    }

    /// Whether `enter()` would take the turn.
    var isFree: Bool {
        let state = state.load(ordering: .relaxed)
        return state == Turn.free || state == Turn.queued && plain.load(ordering: .relaxed) == 0
    }

    /// Whether a block that no task awaits has the turn or waits for it.
    var isTaken: Bool {
        let state = state.load(ordering: .relaxed)
        return state == Turn.held || state == Turn.suspended || plain.load(ordering: .relaxed) > 0
    }

    /// Announces a block on the queue that no task awaits; `isOver()` must follow.
    func isExpected() { plain.wrappingAdd(1, ordering: .acquiringAndReleasing) }
    func isOver() { plain.wrappingSubtract(1, ordering: .releasing) }

    /// Makes visible what the block wrote that had the turn before, whether by flag or by queue.
    func join() { _ = state.load(ordering: .acquiring) }

    /// The serial queue of the context; made at the first call.
    var queue: DispatchQueue {
        if state.load(ordering: .acquiring) >= Turn.queued, let queue = known { return queue }
        return making.withLock { _ in known ?? make() }
    }

    private var known: DispatchQueue? {
        made.load(ordering: .acquiring).map { Unmanaged<DispatchQueue>.fromOpaque($0).takeUnretainedValue() }
    }

    /// Makes the queue. Only under the lock.
    private func make() -> DispatchQueue {
        let queue = DispatchQueue(label: "CoreData.context")
        made.store(UnsafeRawPointer(Unmanaged.passRetained(queue).toOpaque()), ordering: .releasing)
        while true {
            if state.compareExchange(expected: Turn.free, desired: Turn.queued, ordering: .acquiringAndReleasing)
                .exchanged
            {
                return queue
            }
            queue.suspend()
            if state.compareExchange(expected: Turn.held, desired: Turn.suspended, ordering: .acquiringAndReleasing)
                .exchanged
            {
                return queue
            }
            queue.resume()
        }
    }
}
