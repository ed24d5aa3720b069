// Running work on a context's queue.

import CCoreDataRuntime
import CoreDataValues
import Dispatch
import Foundation

extension NSManagedObjectContext {
    /// Runs a block on the context's queue later; then processes pending changes.
    public final func perform(_ block: @escaping @Sendable () -> Void) {
        turn.isExpected()
        queue.async {
            defer { self.turn.isOver() }
            self.asHolder {
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
        if isHeldByCaller { return try asHolder { try throwingReadErrors(block) } }
        return try waitingForTurn { try asHolder { try throwingReadErrors(block) } }
    }

    /// Runs a block on the context's queue and waits for it. May be nested in any way.
    @preconcurrency
    public nonisolated final func performAndWait<T>(_ block: @Sendable () -> T) -> T { runAndWait(block) }

    /// Runs a block on the context's queue and waits for it. May be nested in any way.
    @preconcurrency
    public nonisolated final func performAndWait(_ block: @Sendable () -> Void) { runAndWait(block) }

    private nonisolated final func runAndWait<T>(_ block: () -> T) -> T {
        if isHeldByCaller { return asHolder(block) }
        return waitingForTurn { asHolder(block) }
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
        asHolder {
            let result = Result { try block() }
            processPendingChanges()
            return Result { try throwingReadErrors { try result.get() } }
        }
    }

    private nonisolated final func carryOut<T>(_ block: () -> T) -> T {
        asHolder {
            defer { processPendingChanges() }
            return block()
        }
    }
}

/// Carries a result that is not Sendable out of the context's queue, as the signature of `perform` in Core Data allows.
private struct Carried<Value>: @unchecked Sendable { let value: Value }
