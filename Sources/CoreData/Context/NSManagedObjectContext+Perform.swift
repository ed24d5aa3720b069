// Running work on a context's queue.

import CCoreDataRuntime
import CoreDataValues
import Dispatch
import Foundation

extension NSManagedObjectContext {
    /// Whether the caller may touch the context: it runs on the context's queue or inside one of its blocks.
    final var isHeldByCaller: Bool {
        var holder = coredata_current_holder()
        let me = UnsafeRawPointer(Unmanaged.passUnretained(self).toOpaque())
        while let current = holder {
            if current.pointee.context == me { return true }
            holder = current.pointee.outer
        }
        return concurrencyType == .mainQueueConcurrencyType && MainQueue.isCurrent
    }

    /// Runs a block as the context's holder. Holders are a stack a thread, so that blocks may nest in any way.
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
        queue.async {
            self.holding {
                block()
                self.processPendingChanges()
            }
        }
    }

    /// Runs a block as the context's queue and waits for it. May be nested in any way; throws what the block throws.
    @preconcurrency
    public nonisolated final func performAndWait<T>(_ block: @Sendable () throws -> T) rethrows -> T {
        try waitingForTurn(block)
    }

    /// Runs a block as the context's queue and waits for it. May be nested in any way.
    @preconcurrency
    public nonisolated final func performAndWait(_ block: @Sendable () -> Void) { waitingForTurn(block) }

    private nonisolated final func waitingForTurn<T>(_ block: () throws -> T) rethrows -> T {
        if isHeldByCaller { return try holding(block) }
        return try takingTurn { try holding(block) }
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
    /// A caller that holds the context, code of the main actor with a main-queue context for one, runs the block at once, unless it
    /// asks for `.enqueued`. Otherwise cancelling the caller's task ends the block's waits for a connection and the statement that
    /// it runs; the call of the context that it was in throws `CancellationError`, and nothing of a save was written.
    /// - Throws: what the block throws.
    @preconcurrency
    public nonisolated(nonsending) final func perform<T>(
        schedule: ScheduledTaskType = .immediate, _ block: @escaping @Sendable () throws -> T
    ) async rethrows -> T {
        if schedule == .immediate, isHeldByCaller { return try rethrow(carryOut(block).result, as: block) }
        let cancellation = Cancellation()
        let outcome: Outcome<T> = await withTaskCancellationHandler {
            await enqueue(block, cancellation)
        } onCancel: {
            cancellation.cancel()
        }
        return try rethrow(outcome.result, as: block)
    }

    private nonisolated final func enqueue<T>(
        _ block: @escaping @Sendable () throws -> T, _ cancellation: Cancellation
    ) async -> Outcome<T> {
        await ActiveContexts.shared.enter()
        defer { ActiveContexts.shared.leave() }
        return await withUnsafeContinuation { continuation in
            queue.async {
                let outcome = cancellation.covering { self.carryOut(block) }
                continuation.resume(returning: outcome)
            }
        }
    }

    /// Runs a block as the context's holder, and ends the event.
    private nonisolated final func carryOut<T>(_ block: () throws -> T) -> Outcome<T> {
        holding {
            let outcome = Outcome(result: Result { try block() })
            processPendingChanges()
            return outcome
        }
    }
}

/// Carries a result that is not Sendable out of the context's queue, as Core Data's own signature does.
private struct Outcome<T>: @unchecked Sendable { let result: Result<T, any Error> }

/// Throws the error of a result under a `rethrows` that only `block` can justify.
private func rethrow<T>(_ result: Result<T, any Error>, as block: () throws -> T) rethrows -> T {
    func pass(_ block: () throws -> T, _ rescue: (any Error) throws -> T) rethrows -> T {
        switch result {
        case .success(let value): return value
        case .failure(let error): return try rescue(error)
        }
    }
    return try pass(block) { throw $0 }
}
