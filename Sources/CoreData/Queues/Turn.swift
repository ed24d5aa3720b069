// The turns of a context's blocks: a flag while no block waits, a queue as soon as one does.

import CCoreDataRuntime
import Foundation
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
    func holdPastBlock() -> Bool {
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

/// Records which threads hold one context and wait for another one's queue.
///
/// A child waits for its parent whenever it reads or saves, and a block of the parent may wait for the child. A caller
/// whose wait would close such a cycle runs at once, without the queue: the thread that has the queue waits for this
/// caller, so nobody else can use the context meanwhile. A thread that holds nothing just waits for the queue.
enum TurnWaits {
    /// Protected by an `NSLock`, which the thread sanitizer knows.
    private final class Waits: @unchecked Sendable {
        private let lock = NSLock()
        /// The context that the main queue waits for; all main-queue contexts share it.
        var main: NSManagedObjectContext?

        func withLock<R>(_ body: (Waits) -> R) -> R { lock.withLock { body(self) } }
    }
    private static let waits = Waits()

    /// Represents the main queue among a thread's holders. A block that the main queue runs on another queue by `sync`
    /// sees the specifics of that queue, not those of the main queue.
    private final class MainHolder: Sendable {}
    private static let mainHolder = MainHolder()
    static var mainMark: UnsafeRawPointer {
        UnsafeRawPointer(Unmanaged.passUnretained(mainHolder).toOpaque())
    }

    /// Whether the caller runs inside a block that was called from the main queue.
    static var isMainHeld: Bool {
        var holder = coredata_current_holder()
        guard holder != nil else { return false }
        let mark = mainMark
        while let current = holder {
            if current.pointee.context == mark { return true }
            holder = current.pointee.outer
        }
        return false
    }

    /// Runs a block, and records that its caller is on the main queue.
    fileprivate static func holdingMain<T>(_ block: () throws -> T) rethrows -> T {
        guard MainQueue.isCurrent else { return try block() }
        var holder = coredata_holder(context: mainMark, outer: coredata_current_holder())
        return try withUnsafeMutablePointer(to: &holder) { pointer in
            coredata_set_current_holder(pointer)
            defer { coredata_set_current_holder(pointer.pointee.outer) }
            return try block()
        }
    }

    /// A recorded wait.
    struct Wait {
        fileprivate var former: [(holder: NSManagedObjectContext, awaited: NSManagedObjectContext?)] = []
        fileprivate var holdsMain = false
        fileprivate var formerMain: NSManagedObjectContext?

        func end() {
            waits.withLock { waits in
                for (holder, awaited) in former.reversed() { holder.awaited = awaited }
                if holdsMain { waits.main = formerMain }
            }
        }
    }

    /// Records that the caller waits for a context; nil if the context's holder waits for the caller.
    static func wait(for target: NSManagedObjectContext) -> Wait? {
        waits.withLock { waits -> Wait? in
            guard !waitsForCaller(target, waits) else { return nil }
            var wait = Wait()
            wait.holdsMain = MainQueue.isCurrent
            for context in held() {
                guard context.concurrencyType != .mainQueueConcurrencyType else {
                    wait.holdsMain = true
                    continue
                }
                wait.former.append((context, context.awaited))
                context.awaited = target
            }
            if wait.holdsMain {
                wait.formerMain = waits.main
                waits.main = target
            }
            return wait
        }
    }

    private static func waitsForCaller(_ target: NSManagedObjectContext, _ waits: Waits) -> Bool {
        var awaited = target.concurrencyType == .mainQueueConcurrencyType ? waits.main : target.awaited
        // A chain of waits is no longer than libdispatch has threads.
        for _ in 0..<1024 {
            guard let context = awaited else { return false }
            if context.isHeldByCaller { return true }
            awaited = context.concurrencyType == .mainQueueConcurrencyType ? waits.main : context.awaited
        }
        return false
    }

    /// The contexts that the caller holds.
    private static func held() -> [NSManagedObjectContext] {
        var contexts: [NSManagedObjectContext] = []
        var holder = coredata_current_holder()
        while let current = holder {
            if current.pointee.context != mainMark {
                let context = Unmanaged<NSManagedObjectContext>.fromOpaque(current.pointee.context)
                contexts.append(context.takeUnretainedValue())
            }
            holder = current.pointee.outer
        }
        return contexts
    }
}

extension NSManagedObjectContext {
    /// Whether the caller may use the context: it runs on the context's queue or inside one of the context's blocks.
    final var isHeldByCaller: Bool {
        var holder = coredata_current_holder()
        let me = UnsafeRawPointer(Unmanaged.passUnretained(self).toOpaque())
        while let current = holder {
            if current.pointee.context == me { return true }
            holder = current.pointee.outer
        }
        return concurrencyType == .mainQueueConcurrencyType && MainQueue.isCurrent
    }

    /// Runs a block as the context's holder, at once if the caller holds it already.
    final func hold<T>(_ body: () throws -> T) rethrows -> T {
        if isHeldByCaller { return try asHolder(body) }
        return try waitingForTurn { try asHolder(body) }
    }

    /// Runs a block as the context's holder. The holders of each thread form a stack, so blocks may nest in any way.
    final func asHolder<T>(_ block: () throws -> T) rethrows -> T {
        var holder = coredata_holder(
            context: UnsafeRawPointer(Unmanaged.passUnretained(self).toOpaque()), outer: coredata_current_holder())
        return try withUnsafeMutablePointer(to: &holder) { pointer in
            turn.join()
            coredata_set_current_holder(pointer)
            defer { coredata_set_current_holder(pointer.pointee.outer) }
            return try block()
        }
    }

    /// Runs a block at once if the context is free, else on its queue.
    final func waitingForTurn<T>(_ body: () throws -> T) rethrows -> T {
        if turn.enter() {
            defer { turn.leave() }
            return try body()
        }
        guard coredata_current_holder() != nil || MainQueue.isCurrent else { return try waiting(body) }
        return try TurnWaits.holdingMain {
            guard let wait = TurnWaits.wait(for: self) else { return try body() }
            return try waiting {
                wait.end()
                return try body()
            }
        }
    }

    /// Runs a block on the queue, maybe on another thread.
    private func waiting<T>(_ body: () throws -> T) rethrows -> T {
        turn.isExpected()
        defer { turn.isOver() }
        guard concurrencyType == .mainQueueConcurrencyType else { return try queue.sync(execute: body) }
        let caller = CallerThread()
        return try queue.sync { try caller.goOn(body) }
    }
}
