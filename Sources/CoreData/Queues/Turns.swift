// Which context waits for whose queue: contexts that wait for each other take turns and do not deadlock.

import CCoreDataRuntime
import Foundation

/// Records which threads hold one context and wait for another one's queue.
///
/// A child waits for its parent whenever it reads or saves, and a block of the parent may wait for the child. A caller
/// whose wait would close such a cycle runs at once, without the queue: the thread that has the queue waits for this
/// caller, so nobody else can use the context meanwhile. A thread that holds nothing just waits for the queue.
enum Turns {
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
    /// Runs a block as the context's holder, at once if the caller holds it already.
    final func hold<T>(_ body: () throws -> T) rethrows -> T {
        if isHeldByCaller { return try holding(body) }
        return try takingTurn { try holding(body) }
    }

    /// Runs a block at once if the context is free, else on its queue.
    final func takingTurn<T>(_ body: () throws -> T) rethrows -> T {
        if turn.enter() {
            defer { turn.leave() }
            return try body()
        }
        guard coredata_current_holder() != nil || MainQueue.isCurrent else { return try waiting(body) }
        return try Turns.holdingMain {
            guard let wait = Turns.wait(for: self) else { return try body() }
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
