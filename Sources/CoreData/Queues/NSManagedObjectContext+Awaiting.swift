// Blocks that tasks await: first the context's turn, then a place.

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
        // A call that neither ends when its task is cancelled nor has a deadline waits until its block has run.
        while true { if case .done(let result) = await withTurn(.any, call, work) { return result } }
    }

    /// Runs a block of `read` on the context's queue and processes pending changes. Unlike `perform` it does not begin for a task that is
    /// cancelled while it waits for its turn, nor when it has waited for a place for longer than the stores let wait.
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

    /// Takes the turn without a place, and runs a block if there is one then. If not, it waits for a place without the turn, which others
    /// may need who have places. Who misses one or the other again and again waits for his turn in his place.
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
            ActiveBlocks.shared.run(self.block(kind, call, end) { .done(self.takingTurn(work)) })
        }
    }

    /// Waits for a place, and runs a block if the turn is free then.
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

    /// Waits for the turn, and runs a block if there is a place then.
    private nonisolated(nonsending) final func onQueue<R>(
        _ kind: ActiveBlocks.Kind, _ call: AwaitedCall, _ work: @escaping @Sendable () -> R
    ) async -> AwaitedOutcome<R> {
        await onThread(kind, call) { end in
            self.queue.async {
                guard self.turn.keep() else { return end(.isTaken) }
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
