// Blocks that tasks await: each needs its context's turn and one of the places of `ActiveBlocks`.

import CCoreDataRuntime
import CoreDataValues
import Foundation

extension NSManagedObjectContext {
    nonisolated(nonsending) final func awaiting<R>(
        _ schedule: ScheduledTaskType, _ work: @escaping @Sendable () -> R
    ) async -> R {
        if schedule == .immediate, isHeldByCaller { return work() }
        guard concurrencyType != .mainQueueConcurrencyType else { return await onMainQueue(work) }
        let work = coredata_is_observed() ? carrying(work) : work
        let call = AwaitedCall(endsWhenCancelled: false)
        if turn.isFree, case .done(let result) = await withPlace(.any, call, work) { return result }
        await turn.awaiters.enter()
        defer { turn.awaiters.leave() }
        // This call has no deadline and does not end by cancellation, so the only other outcome is `isTaken`: try
        // again.
        while true { if case .done(let result) = await withTurn(.any, call, work) { return result } }
    }

    /// Runs a block of `read` on the context's queue and processes pending changes. Unlike a block of `perform`, it
    /// does not begin if its task is cancelled while it waits for its turn, or if it has waited for a place for longer
    /// than `patience`.
    nonisolated(nonsending) final func performUnlessCancelled<T>(
        _ kind: ActiveBlocks.Kind, _ block: @escaping @Sendable () throws -> T
    ) async throws -> T {
        let work = { @Sendable in self.carryOut(block) }
        guard concurrencyType != .mainQueueConcurrencyType else {
            try Task.checkCancellation()
            return try await onMainQueue(work).get()
        }
        let carrying = coredata_is_observed() ? carrying(work) : work
        let call = AwaitedCall(endsWhenCancelled: true, patience: persistentStoreCoordinator?.patience)
        var outcome: AwaitedOutcome<Result<T, any Error>> =
            turn.isFree ? await withPlace(kind, call, carrying) : .isTaken
        if case .isTaken = outcome {
            try await turn.awaiters.enterUnlessCancelled()
            defer { turn.awaiters.leave() }
            outcome = await withTurn(kind, call, carrying)
        }
        return try outcome.value(patience: call.patience).get()
    }

    /// Waits for the turn, and runs a block if there is a place by then. If not, it gives the turn up, since a block
    /// that has a place may need it, and waits for a place. A call that misses one or the other 16 times waits for its
    /// turn inside its place.
    private nonisolated(nonsending) final func withTurn<R>(
        _ kind: ActiveBlocks.Kind, _ call: AwaitedCall, _ work: @escaping @Sendable () -> R
    ) async -> AwaitedOutcome<R> {
        for _ in 0..<16 {
            if !turn.isFree {
                let outcome = await onQueue(kind, call, work)
                guard case .isTaken = outcome else { return outcome }
            }
            let outcome = await withPlace(kind, call, work)
            guard case .isTaken = outcome else { return outcome }
        }
        return await onThread(kind, call) { end in
            ActiveBlocks.shared.run(self.block(kind, call, end) { .done(self.waitingForTurn(work)) })
        }
    }

    /// Waits for a place, and runs a block if the turn is free by then.
    private nonisolated(nonsending) final func withPlace<R>(
        _ kind: ActiveBlocks.Kind, _ call: AwaitedCall, _ work: @escaping @Sendable () -> R
    ) async -> AwaitedOutcome<R> {
        await onThread(kind, call) { end in
            ActiveBlocks.shared.run(
                self.block(kind, call, end) {
                    guard self.turn.enter() else { return .isTaken }
                    defer { self.turn.leave() }
                    return .done(work())
                })
        }
    }

    /// Waits for the turn, and runs a block if there is a place by then.
    private nonisolated(nonsending) final func onQueue<R>(
        _ kind: ActiveBlocks.Kind, _ call: AwaitedCall, _ work: @escaping @Sendable () -> R
    ) async -> AwaitedOutcome<R> {
        await onThread(kind, call) { end in
            self.queue.async {
                guard self.turn.holdPastBlock() else { return end(.isTaken) }
                let block = self.block(kind, call, end) {
                    defer { self.turn.leave() }
                    return .done(work())
                }
                if ActiveBlocks.shared.runNow(block) { return }
                self.turn.leave()
                end(.isTaken)
            }
        }
    }

    private nonisolated(nonsending) final func onThread<R>(
        _ kind: ActiveBlocks.Kind, _ call: AwaitedCall,
        _ begin: (@escaping @Sendable (AwaitedOutcome<R>) -> Void) -> Void
    ) async -> AwaitedOutcome<R> {
        await withTaskCancellationHandler {
            await withUnsafeContinuation { (task: UnsafeContinuation<AwaitedOutcome<R>, Never>) in
                begin { task.resume(returning: $0) }
            }
        } onCancel: {
            call.cancellation.cancel()
            if call.endsWhenCancelled { ActiveBlocks.shared.cancel(call, kind) }
        }
    }

    private nonisolated final func block<R>(
        _ kind: ActiveBlocks.Kind, _ call: AwaitedCall, _ end: @escaping @Sendable (AwaitedOutcome<R>) -> Void,
        _ work: @escaping @Sendable () -> AwaitedOutcome<R>
    ) -> AwaitedBlock {
        AwaitedBlock(call, kind, telling: persistentStoreCoordinator?.observers) { admission in
            end(AwaitedOutcome(admission) { call.cancellation.covering(work) })
        }
    }
}
