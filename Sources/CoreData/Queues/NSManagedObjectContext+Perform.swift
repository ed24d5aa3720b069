// Running work on a context's queue.

import CCoreDataRuntime
import CoreDataValues
import Dispatch
import Foundation

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

    /// Runs a block as the context's holder. The holders of each thread form a stack, so blocks may nest in any way.
    final func holding<T>(_ block: () throws -> T) rethrows -> T {
        var holder = coredata_holder(
            context: UnsafeRawPointer(Unmanaged.passUnretained(self).toOpaque()), outer: coredata_current_holder())
        return try withUnsafeMutablePointer(to: &holder) { pointer in
            turn.join()
            coredata_set_current_holder(pointer)
            defer { coredata_set_current_holder(pointer.pointee.outer) }
            return try block()
        }
    }

    /// Runs a block on the context's queue later; then processes pending changes.
    public final func perform(_ block: @escaping @Sendable () -> Void) {
        turn.isExpected()
        queue.async {
            defer { self.turn.isOver() }
            self.holding {
                block()
                self.processPendingChanges()
            }
        }
    }

    /// Runs a block on the context's queue and waits for it. May be nested in any way.
    ///
    /// - Throws: what the block throws; before that, a read that failed inside a getter (`pendingReadError`).
    @preconcurrency
    public nonisolated final func performAndWait<T>(_ block: @Sendable () throws -> T) throws -> T {
        if isHeldByCaller { return try holding { try throwingReadErrors(block) } }
        return try takingTurn { try holding { try throwingReadErrors(block) } }
    }

    /// Runs a block on the context's queue and waits for it. May be nested in any way.
    @preconcurrency
    public nonisolated final func performAndWait<T>(_ block: @Sendable () -> T) -> T { waitingForTurn(block) }

    /// Runs a block on the context's queue and waits for it. May be nested in any way.
    @preconcurrency
    public nonisolated final func performAndWait(_ block: @Sendable () -> Void) { waitingForTurn(block) }

    private nonisolated final func waitingForTurn<T>(_ block: () -> T) -> T {
        if isHeldByCaller { return holding(block) }
        return takingTurn { holding(block) }
    }

    /// The first error of a read inside a getter. A getter cannot throw; it answered nil, zero or no objects instead.
    ///
    /// The next call that can throw throws it, once: a block of `perform` or `performAndWait` that throws, `save`,
    /// `fetch`, `count`. `rollback()` and `reset()` forget it.
    public final var pendingReadError: (any Error)? {
        checkQueue()
        return faulting.readError.map(CocoaError.cancelledOr)
    }

    /// Runs a block and throws the error of a getter's read before the block's own: if getters could throw, it would
    /// have ended the block.
    private nonisolated final func throwingReadErrors<T>(_ block: () throws -> T) throws -> T {
        let result: T
        do { result = try block() } catch {
            try faulting.throwReadError()
            throw error
        }
        try faulting.throwReadError()
        return result
    }

    /// How `perform(schedule:_:)` treats a caller that holds the context already.
    public enum ScheduledTaskType: Equatable, Hashable, Sendable {
        /// Runs at once if the caller holds the context.
        case immediate
        /// Always waits for its turn.
        case enqueued
    }

    /// Runs a block on the context's queue, processes pending changes, and suspends the caller until then.
    ///
    /// The block runs at once if the caller holds the context, as main-actor code does for a main-queue context, unless
    /// it asks for `.enqueued`. Otherwise cancelling the caller's task ends the block's waits for a connection and the
    /// statement that it runs; the context's call that was interrupted throws `CancellationError`, and a save has
    /// written nothing.
    /// - Throws: what the block throws; before that, a read that failed inside a getter (`pendingReadError`).
    @preconcurrency
    public nonisolated(nonsending) final func perform<T>(
        schedule: ScheduledTaskType = .immediate, _ block: @escaping @Sendable () throws -> T
    ) async throws -> T {
        try await awaiting(schedule) { self.carryOut(block) }.get()
    }

    /// Runs a block that throws nothing on the context's queue, processes pending changes, and suspends the caller until then.
    @preconcurrency
    public nonisolated(nonsending) final func perform<T>(
        schedule: ScheduledTaskType = .immediate, _ block: @escaping @Sendable () -> T
    ) async -> T {
        await awaiting(schedule) { self.carryOut(block) }
    }

    nonisolated(nonsending) final func onMainQueue<R>(_ work: @escaping @Sendable () -> R) async -> R {
        let cancellation = Cancellation()
        let work = coredata_is_observed() ? carrying(work) : work
        let carried: Carried<R> = await withTaskCancellationHandler {
            await withUnsafeContinuation { continuation in
                queue.async { continuation.resume(returning: cancellation.covering { Carried(value: work()) }) }
            }
        } onCancel: {
            cancellation.cancel()
        }
        return carried.value
    }

    /// Runs a block as the context's holder and processes pending changes.
    nonisolated final func carryOut<T>(_ block: () throws -> T) -> Result<T, any Error> {
        holding {
            let result = Result { try block() }
            processPendingChanges()
            return Result { try throwingReadErrors { try result.get() } }
        }
    }

    private nonisolated final func carryOut<T>(_ block: () -> T) -> T {
        holding {
            defer { processPendingChanges() }
            return block()
        }
    }
}

/// Carries a result that is not Sendable out of the context's queue, as the signature of `perform` in Core Data allows.
private struct Carried<Value>: @unchecked Sendable { let value: Value }
