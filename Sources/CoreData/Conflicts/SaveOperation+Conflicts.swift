// How a save goes on when a store refuses a batch.

import CoreDataValues
import Foundation

/// The conflicts that a store reported.
struct Refusal {
    let store: NumberedStore
    let conflicts: [Conflict]
}

extension SaveOperation {
    /// How often a save tries again while other writers keep getting in first.
    private static let rounds = 100

    /// Has the policy resolve the conflicts and commits again: *report · resolve · join changes · pack · commit*.
    ///
    /// The store has rolled back. If the conflicts cannot be resolved, restores all objects and throws the error.
    mutating func resolve(_ refusal: Refusal) throws -> [StoreBatch] {
        defer { forgetRows(of: refusal) }
        let policy = context.chosenPolicy ?? .error
        if policy.onlyThrows {
            try resolve(refusal, policy)
            throw try error(of: refusal)
        }
        context.saveReport?.begin(inserted)
        let memory = SaveMemory(context)
        context.saveMemory = memory
        // Advance `rowTime` past that of every failed merge, so that rows read during one stay stale.
        context.faulting.rowTime += (1 + context.failedMerges) << 32
        defer { context.saveMemory = nil }
        do {
            let batches = try context.readingLatest {
                try context.writing(as: .policy) { try commitResolved(refusal, policy, memory) }
            }
            merged = memory.merged
            return batches
        } catch {
            memory.restore()
            throw error
        }
    }

    private mutating func commitResolved(
        _ refusal: Refusal, _ policy: NSMergePolicy, _ memory: SaveMemory
    ) throws -> [StoreBatch] {
        var refusal = refusal
        var reasons = report(refusal).reasons
        for _ in 0..<SaveOperation.rounds {
            try resolve(refusal, policy)
            try context.faulting.throwReadError()
            try joinChanges()
            let batches = try packAgain(memory)
            guard let next = try commit(batches) else {
                return committed + batches.filter { !isCommitted($0.store.number) }
            }
            // The same conflicts as before: nothing was resolved.
            let former = reasons
            reasons = report(next).reasons
            if reasons == former { break }
            forgetRows(of: next)
            refusal = next
        }
        throw try error(of: refusal)
    }

    private func report(_ refusal: Refusal) -> ConflictReport {
        ConflictReport(refusal.conflicts, in: context, store: refusal.store)
    }

    /// Resolves conflicts with other writers first: the next attempt finds the constraints that are still broken.
    private func resolve(_ refusal: Refusal, _ policy: NSMergePolicy) throws {
        let report = report(refusal)
        let merges = try report.merges()
        if !merges.isEmpty { return try policy.resolve(optimisticLockingConflicts: merges) }
        let constraints = try report.constraints()
        if !constraints.isEmpty { try policy.resolve(constraintConflicts: constraints) }
    }

    func error(of conflicts: [Conflict], in store: NumberedStore) throws -> any Error {
        try error(of: Refusal(store: store, conflicts: conflicts))
    }

    func error(of refusal: Refusal) throws -> any Error {
        let report = report(refusal)
        let merges = try report.merges()
        return merges.isEmpty ? ConflictError.error(try report.constraints()) : ConflictError.error(merges)
    }

    /// Applies delete rules, calls `willSave` on objects that join the save, and validates everything again.
    private mutating func joinChanges() throws {
        var known = Set((inserted + updated + deleted).map { ObjectIdentifier($0) })
        DeletePropagation.run(in: context)
        while true {
            let joined = context.tracker.dirty.filter {
                $0._state.has(.dirty) && !$0._state.has(.inaccessible) && known.insert(ObjectIdentifier($0)).inserted
            }
            if joined.isEmpty { break }
            for object in joined { object.willSave() }
            DeletePropagation.run(in: context)
        }
        inserted = []
        updated = []
        deleted = []
        collect()
        try validate()
    }

    /// Drops the store's rows from the row cache, as the refused ones are out of date there.
    private func forgetRows(of refusal: Refusal) {
        guard refusal.conflicts.contains(where: { !$0.isConstraint }) else { return }
        context.requiredCoordinator.rowCache.removeAll(store: refusal.store.number)
    }

    private mutating func packAgain(_ memory: SaveMemory) throws -> [StoreBatch] {
        let all = updated
        defer { updated = all }
        updated = all.filter { !memory.isReinserted($0) }
        return try pack(reinserted: all.filter { memory.isReinserted($0) })
    }
}
