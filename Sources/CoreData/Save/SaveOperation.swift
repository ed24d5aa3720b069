// One save, from pending changes to rows and back to unchanged objects.

import CCoreDataRuntime
import CoreDataValues
import Foundation

extension NSManagedObjectContext {
    /// Writes all pending changes: one transaction a store, all or nothing.
    ///
    /// Processes pending changes first. Without changes, only programs' own stores write metadata that was set. A save
    /// that fails leaves the context, its objects and the file as they were at that point; save again once the cause is
    /// removed, or call `rollback()`.
    /// - Throws: validation errors (1550–1690, 1560 for several), 133020 when another writer changed or deleted a row,
    ///   133021 when a uniqueness constraint is broken, and what the store throws.
    public final func save() throws {
        checkQueue()
        try link.save(self)
    }

    final var hasWork: Bool { hasChanges || !expectations.isEmpty }

    final func saveNow() throws {
        try faulting.throwReadError()
        // From here on delete rules that wait for the save are applied too.
        isSaving = true
        var news = SaveNews()
        // Posted last, since an observer may read, merge and save in this very context.
        defer {
            isSaving = false
            news.tell()
        }
        processPendingChanges()
        try faulting.throwReadError()
        guard hasWork else {
            return try link.saveMetadata(of: self)
        }
        var operation = SaveOperation(self)
        defer { news = operation.news }
        do { if coredata_is_observed() { try runObserved(&operation) } else { try operation.run() } } catch {
            if Retry.isConflict(error) { saveRecord.insert(.refused) }
            throw error
        }
        if let saveReport { saveReport.end(operation.inserted) }
    }
}

/// Collects, writes and accepts the changes of one context. Used once. Until the commit succeeds it changes nothing
/// that a failed save would have to restore, except what `willSave` did.
struct SaveOperation {
    let context: NSManagedObjectContext
    var inserted: ContiguousArray<NSManagedObject> = []
    var updated: ContiguousArray<NSManagedObject> = []
    var deleted: ContiguousArray<NSManagedObject> = []
    /// The only event since the last save, if it has the same objects: its sets may exist already.
    private var event: ContextEvent?
    /// The objects that a merge policy rebased, nil if none was asked; posted as refreshed after the save.
    var merged: Set<NSManagedObject>?
    /// The batches that some of several stores have committed; each is a transaction of its own.
    var committed: [StoreBatch] = []
    /// The remote changes that are to be told after the save.
    private(set) var news = SaveNews()

    /// How often `willSave` may change things before the save gives up (1.7).
    private static let passes = 1000

    init(_ context: NSManagedObjectContext) { self.context = context }

    mutating func run() throws {
        context.savedTransactions = nil
        try callWillSave()
        if !context.tracker.missingRows.isEmpty { try context.refuseMissingRows() }
        collect()
        try validate()
        context.post(ContextNotice.willSave)
        try context.link.write(&self)
        finish()
    }

    /// Writes the changes to their stores, resolving the conflicts that these find.
    mutating func writeToStores() throws {
        var batches: [StoreBatch]
        do {
            batches = try pack()
            try context.requiredCoordinator.saveNewMetadata()
            if let refusal = try commit(batches) { batches = try resolve(refusal) }
        } catch {
            forgetAssignedKeys()
            if context.runtime.hasTransformables { LiveValues.unpack(inserted + updated) }
            if !committed.isEmpty { acceptCommitted() }
            throw error
        }
        acceptChanges(of: batches)
    }

    // MARK: Before the write

    /// Calls `willSave` on every changed object, again for objects that it changed, until nothing more changes.
    private func callWillSave() throws {
        var pending = context.tracker.dirty
        var pass = 0
        while !pending.isEmpty {
            guard pass < SaveOperation.passes else {
                throw CocoaError.coreData(
                    134060,
                    "willSave kept changing objects for \(pass) passes, the last of \(pending[0].entity.name ?? ""); "
                        + "set a value there only if it differs.")
            }
            pending.borrowEach { object in
                guard object._state.has(.dirty) else { return }
                // A refresh may have made it a fault: if its row is gone, other objects must not point at it.
                if object._state.isFault { object.fireUnseen() }
                object.willSave()
            }
            if !context.tracker.deletePropagation.waiting.isEmpty { DeletePropagation.run(in: context) }
            let changed = context.tracker.event
            context.processChanges()
            pending = changed.filter { $0._state.has(.dirty) }
            pass += 1
        }
    }

    mutating func collect() {
        event = nil
        if let last = context.lastEvent, context.eventsSinceSave == 1, last.isAll(of: context.tracker) {
            event = last
            return (inserted, updated, deleted) = (last.inserted, last.updated, last.deleted)
        }
        let dirty = context.tracker.dirty
        dirty.borrowEach { object in
            let state = object._state
            if state.has(.deleted) {
                deleted.append(object, of: dirty.count)
            } else if state.has(.inserted) {
                inserted.append(object, of: dirty.count)
            } else if state.has(.updated) {
                updated.append(object, of: dirty.count)
            }
        }
    }

    func validate() throws {
        if let deferred = context.deferredValidation { return deferred.note(inserted, updated) }
        var errors: [any Error] = []
        inserted.borrowEach { object in Validation.collect(&errors) { try object.validateForInsert() } }
        updated.borrowEach { object in Validation.collect(&errors) { try object.validateForUpdate() } }
        deleted.borrowEach { object in
            guard !object._state.has(.inaccessible) else { return }
            Validation.collect(&errors) { try object.validateForDelete() }
        }
        if !errors.isEmpty { errors = try withoutOvertaken(errors) }
        try Validation.throwing(errors)
    }

    // MARK: The write

    /// Packs one batch for each store.
    ///
    /// - Parameter reinserted: objects whose rows are gone and are written again; none in the first attempt of a save.
    func pack(reinserted: ContiguousArray<NSManagedObject> = []) throws -> [StoreBatch] {
        if context.undoManager != nil { deleted.borrowEach { $0.keepExternalValues() } }
        if context.runtime.hasTransformables { try LiveValues.pack(inserted, updated) }
        var builders = BatchBuilders(context, inserts: inserted.count, updates: updated.count)
        // New objects keep keys from an earlier attempt or from `obtainPermanentIDs`.
        let given = context.hasEarlyKeys ? context.keepEarlyKeys(inserted) : inserted
        let unnumbered = context.saveMemory == nil ? given : given.filter { $0._state.pointee.assigned == 0 }
        try context.requiredCoordinator.writes.write { try builders.assignKeys(unnumbered) }
        if context.requiredCoordinator.hasSeveralStores {
            try CrossStoreCheck.check([inserted, updated, deleted], context.requiredCoordinator)
        }
        try RelationshipCheck(context)?.run(inserted, updated)
        try inserted.borrowEach { try builders.builder(for: $0).insert($0) }
        try updated.borrowEach { try builders.builder(for: $0).update($0) }
        try deleted.borrowEach { object in
            if !object._state.has(.inaccessible) { try builders.builder(for: object).delete(object) }
        }
        if !reinserted.isEmpty { for object in reinserted { try builders.builder(for: object).reinsert(object) } }
        if !context.checkedObjects.isEmpty { try addChecks(&builders, without: reinserted) }
        if !context.expectations.isEmpty { try addExpectations(&builders) }
        return builders.finish()
    }

    /// Commits the batches and returns the conflicts of the first store that refuses. Skips stores that have committed.
    mutating func commit(_ batches: [StoreBatch]) throws -> Refusal? {
        let coordinator = context.requiredCoordinator
        let cache = coordinator.rowCache
        if batches.count > 1 { news.begin(over: batches.map(\.store.store)) }
        for batch in batches where !batch.batch.isEmpty && !isCommitted(batch.store.number) {
            let ticket = cache.ticket
            let (store, outcome): (NumberedStore, CommitOutcome)
            var note: HistoryNote?
            do {
                (store, outcome) = try coordinator.writes.write {
                    // The store may have been removed or replaced since the batch was packed.
                    guard let store = coordinator.numberedStore(batch.store.number) else {
                        throw StoreError(134070, "The store was removed while the save ran; its objects stay unsaved.")
                    }
                    guard store.store.recordsHistory else { return (store, try store.writer.commit(batch.batch)) }
                    let noted = noted(batch)
                    note = noted.note
                    return (store, try store.writer.commit(noted))
                }
            } catch {
                throw CocoaError.saving(error)
            }
            switch outcome {
            case .committed(let touched, let overtaken):
                context.saveRecord.insert(.committed)
                batch.dropOvertaken(overtaken)
                cache.save(batch.batch, touched: touched + overtaken, store: store.number, since: ticket)
                context.rowsWereTouched(touched, store: store.number)
                if batches.count > 1 { committed.append(batch) }
                if let note { context.remember(note, of: store.store) }
            case .conflicts(let conflicts):
                if !context.expectations.isEmpty { try checkExpectations(conflicts, store.number) }
                return Refusal(store: store, conflicts: conflicts)
            }
            if store.store.postsRemoteChanges { news.stores.append(store.store) }
        }
        return nil
    }

    private func forgetAssignedKeys() {
        for object in inserted { object._state.pointee.assigned = 0 }
    }

    // MARK: After the write

    /// Makes the written rows the objects' snapshots.
    private func acceptChanges(of batches: [StoreBatch]) {
        context.advanceGeneration()
        if !updated.isEmpty || !deleted.isEmpty { context.faulting.rowTime += 1 }
        let isParent = context.childCount.load(ordering: .relaxed) > 0
        if isParent {
            context.noteNewKeys(inserted)
        } else if context.savedVersions != nil {
            context.savedVersions = nil
        }
        context.hasEarlyKeys = false
        inserted.borrowEach { object in object.acceptAssignedKey() }
        context.identityMap?.register(inserted)
        for batch in batches {
            if isParent { context.noteVersions(of: batch.written + batch.touched) }
            for written in batch.written { written.accept() }
            for touched in batch.touched { touched.accept() }
        }
        inserted.borrowEach { object in object.acceptToManyChanges() }
        updated.borrowEach { object in
            let state = object._state
            object.acceptToManyChanges()
            // Equal values were not written; in the overlay they would count as changes in the next merge.
            if state.pointee.overlay != nil { state.revertUnchanged() }
            state.leaveUnseenRow()
        }
        if isParent, !deleted.isEmpty { context.noteDeletions(deleted) }
        deleted.borrowEach { context.withdraw($0) }
    }

    private func finish() {
        if let merged {
            InverseReconciliation(context).run(after: merged)
            context.tellResolvedConflicts()
        }
        let event = self.event ?? ContextEvent(inserted: inserted, updated: updated, deleted: deleted)
        context.lastEvent = nil
        context.eventsSinceSave = 0
        context.tracker.clear()
        if !context.checkedObjects.isEmpty { context.checkedObjects = [] }
        if !context.expectations.isEmpty { context.expectations = [] }
        if context.keepsObjects { context.letGo(deleted) }
        context.deferredValidation?.didSave(inserted, deleted)
        inserted.borrowEach { object in object.didSave() }
        updated.borrowEach { object in object.didSave() }
        deleted.borrowEach { object in object.didSave() }
        context.post(ContextNotice.didSave, event.savedInfo(of: context))
        if context.followers != nil, !event.inserted.isEmpty { context.tellFollowersOfPermanentIDs() }
        context.postObjectIDs(
            .didSaveIDs, changedKey: NSUpdatedObjectIDsKey, event.inserted, event.updated, event.deleted)
        if context.requiredCoordinator.contextFamily.hasMergers { context.tellRelatives(of: event) }
    }
}
