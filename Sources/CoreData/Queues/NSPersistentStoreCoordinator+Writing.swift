// `write` and `read`: each block gets a context of its own, writers take turns, and a conflict leads to another
// attempt.

import CCoreDataRuntime
import CoreDataValues
import Foundation

extension NSPersistentStoreCoordinator {
    /// Runs a block that changes objects in a new private-queue context, and saves; after a conflict it runs again in
    /// another one.
    ///
    /// The block may run more than once: let it change objects of its context and nothing else. Writers of one
    /// coordinator take turns in the order of their calls, whatever their priority, and wait suspended. If the save
    /// throws 133020 or 133021, the context is dropped, whoever caused the conflict. After a pause that grows from a
    /// millisecond to half a second, in which other writers go on, the block runs again, 10 times at most.
    ///
    /// The block need not save. If it does, a conflict of its own save counts like one of the final save. Once one of
    /// its saves is in a store, the block does not run again, since it would repeat that save; a later conflict is
    /// thrown.
    /// - Returns: the block's result in the attempt that was saved.
    /// - Throws: what the block throws, at once and with nothing saved; what the save throws, including the conflict of
    ///   the last attempt; the error of a read inside a getter; 134090 when its turn has not come within
    ///   `SQLiteConnectionTimeoutOption`; `CancellationError` when the task is cancelled, which ends waits and pauses.
    public nonisolated(nonsending) final func write<T: Sendable>(
        _ block: @escaping @Sendable (NSManagedObjectContext) throws -> T
    ) async throws -> T {
        try await write(in: makeContext, block)
    }

    /// Runs a block that reads objects in a new private-queue context, and answers its result.
    ///
    /// Reads wait neither for writers nor for each other, up to `maximumActiveContexts` blocks in a process and, for
    /// one coordinator, as many as its stores have connections for. Each fetch and each fault sees what is saved when
    /// it asks the store.
    /// - Throws: what the block throws; 134060 when the block leaves changes behind, since nobody would save them; the
    ///   error of a read inside a getter; 134090 when it has not begun within `SQLiteConnectionTimeoutOption`;
    ///   `CancellationError` when the task is cancelled.
    public nonisolated(nonsending) final func read<T: Sendable>(
        _ block: @escaping @Sendable (NSManagedObjectContext) throws -> T
    ) async throws -> T {
        let context = makeContext()
        // The stores have a connection for every place, so no block waits for one while it has a place.
        guard readers.turns < NSManagedObjectContext.maximumActiveContexts else { return try await context.read(block) }
        let carried = coredata_is_observed() ? CarriedValues(observers) : nil
        return try await inTurn(readers, readers.takeTicket(), .reading) { context.readNow(carried, block) }.get()
    }

    private func makeContext() -> NSManagedObjectContext {
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = self
        return context
    }

    /// *Take the turn · run the block and save in a new context · after a conflict give up the turn, pause and retry
    /// with the same ticket.*
    nonisolated(nonsending) final func write<T: Sendable>(
        in makeContext: @escaping @Sendable () -> NSManagedObjectContext,
        _ block: @escaping @Sendable (NSManagedObjectContext) throws -> T
    ) async throws -> T {
        let ticket = writers.takeTicket()
        var retries = 0
        while true {
            let carried = coredata_is_observed() ? CarriedValues(observers) : nil
            let attempt = try await inTurn(writers, ticket, .any) { makeContext().attempt(carried, block) }
            switch try attempt.get() {
            case .saved(let value): return value
            case .refused(let error):
                guard retries < Retry.limit else { throw error }
                retries += 1
                try await Task.sleep(for: Retry.pause(before: retries))
            }
        }
    }

    /// Runs work when a ticket's turn has come and there is a place. The work of the next in line follows on the same
    /// thread.
    ///
    /// - Throws: `CancellationError` if the task is cancelled before, 134090 if the turn does not come in time.
    private nonisolated(nonsending) func inTurn<R: Sendable>(
        _ line: TurnLine, _ ticket: Int, _ kind: ActiveBlocks.Kind, _ work: @escaping @Sendable () -> R
    ) async throws -> R {
        let call = AwaitedCall(endsWhenCancelled: true, patience: patience, isOfWriter: line === writers)
        let outcome: AwaitedOutcome<R> = await withTaskCancellationHandler {
            await withUnsafeContinuation { task in
                let block = AwaitedBlock(call, kind, waitingFor: .turn, telling: observers, follower: { line.leave() })
                { admission in
                    task.resume(returning: AwaitedOutcome(admission) { .done(call.cancellation.covering(work)) })
                }
                switch line.enter(block, ticket) {
                case .hasTurn: ActiveBlocks.shared.run(block)
                case .waits: break
                case .isCancelled: block.end(.isCancelled)
                }
            }
        } onCancel: {
            call.cancellation.cancel()
            if let block = line.remove(ticket) {
                block.end(.isCancelled)
            } else {
                ActiveBlocks.shared.cancel(call, kind)
            }
        }
        return try outcome.value(patience: call.patience)
    }
}

extension NSManagedObjectContext {
    enum Attempt<T: Sendable>: Sendable {
        case saved(T)
        /// No store has written anything, and another context may succeed.
        case refused(any Error)
    }

    /// Runs a block and saves, on the context's queue.
    nonisolated final func attempt<T: Sendable>(
        _ carried: CarriedValues?, _ block: @Sendable (NSManagedObjectContext) throws -> T
    ) -> Result<Attempt<T>, any Error> {
        waitingForTurn {
            carrying(carried) {
                carryOut {
                    do {
                        let value = try block(self)
                        try self.save()
                        return .saved(value)
                    } catch  where Retry.isConflict(error) && self.saveRecord == .refused {
                        return .refused(error)
                    }
                }
            }
        }
    }

    nonisolated(nonsending) final func read<T: Sendable>(
        _ block: @escaping @Sendable (NSManagedObjectContext) throws -> T
    ) async throws -> T {
        try await performUnlessCancelled(.reading) { try self.reading(block) }
    }

    /// Runs a block of `read` on the context's queue.
    nonisolated final func readNow<T>(
        _ carried: CarriedValues?, _ block: (NSManagedObjectContext) throws -> T
    ) -> Result<T, any Error> {
        waitingForTurn { carrying(carried) { carryOut { try reading(block) } } }
    }

    private nonisolated final func reading<T>(_ block: (NSManagedObjectContext) throws -> T) throws -> T {
        let value = try block(self)
        try requireNoChanges()
        return value
    }

    /// Throws if the block changed or expects anything. An object whose row another writer deleted is no change of the
    /// block.
    private func requireNoChanges() throws {
        let changed = tracker.objects(.dirty).filter { !$0._state.has(.inaccessible) }
        if let expected = expectations.first {
            throw CocoaError.coreData(
                134060,
                "A block of read(_:) expects a version of \(expected.object.entity.name ?? "") with expect(_:of:), and nobody would "
                    + "compare it. Expect versions in a block of write(_:).",
                [NSAffectedObjectsErrorKey: [expected.object.objectID]])
        }
        guard let first = changed.first else { return }
        throw CocoaError.coreData(
            134060,
            "A block of read(_:) left \(changed.count) changed objects behind, the first of \(first.entity.name ?? ""), and "
                + "nobody would save them. Change objects in a block of write(_:).",
            [NSAffectedObjectsErrorKey: changed.map(\.objectID)])
    }
}
