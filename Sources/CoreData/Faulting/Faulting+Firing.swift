// Reads the rows of faults, and the members of to-manys.

import CCoreDataRuntime
import CoreDataValues
import Foundation

extension Faulting {
    /// Fulfils a fault from the row that it has, the row cache or the store.
    func fire(_ object: NSManagedObject, reading slot: Int? = nil) {
        let state = object._state
        if state.pointee.row == nil {
            // A row in the cache is no read of the store.
            if state.pointee.number > 0, cachedObject(for: state.key) === object { return }
            noteFault(of: object)
            context.persistentStoreCoordinator?.faultCount.wrappingAdd(1, ordering: .relaxed)
        }
        guard state.pointee.row != nil || readTogether(object) else {
            do {
                // The read fulfils the object and calls `awakeFromFetch`.
                if try readStored(state.key) == nil { loseRow(of: object, reading: slot) }
            } catch {
                keep(CocoaError.unread(object, reading: slot, cause: error))
            }
            return
        }
        if state.has(.unasked), readsUnseen { state.set(.unseen) }
        state.pointee.slow &= ~SlowReason.anyFault
        if !state.info.classBinding.sleepsThroughFetch { wake(object) }
    }

    /// Returns the object of one row from the row cache or the store, nil if there is no row.
    func read(_ key: ObjectKey) throws -> NSManagedObject? {
        if key.number > 0, let object = cachedObject(for: key) { return object }
        return try readStored(key)
    }

    /// Returns the object of a cached row, nil if the store must be asked: the row is not cached or too old, or a merge
    /// is running, which needs the store's current rows.
    func cachedObject(for key: ObjectKey) -> NSManagedObject? {
        guard context.stalenessInterval != 0, context.saveMemory == nil, let cache = context.rowCache,
            let found = cache.row(for: key, within: context.stalenessInterval)
        else { return nil }
        if coredata_is_observed() { context.tellCacheHit(key) }
        return materialize(found.chunk, found.chunk.row(found.row), store: key.store)
    }

    /// Returns the object of one row from the store, past the row cache.
    private func readStored(_ key: ObjectKey) throws -> NSManagedObject? {
        guard key.number > 0, key.store != 0 else { return try context.link.readUnsaved(key, context) }
        guard let store = try context.storedRows(of: key.store) else { return nil }
        let cache = context.rowCache
        let ticket = cache?.ticket ?? 0
        var found: NSManagedObject?
        let begun = context.observedTime
        defer { if begun != 0 { context.tellFault(of: key, rows: found == nil ? 0 : 1, since: begun) } }
        do {
            try store.rows(for: [key.number], in: context.runtime.infos[key.entity.value].entity.root, .latest) {
                batch in
                cache?.add(batch, store: key.store, since: ticket)
                found = materialize(batch.first, batch.first.row(0), store: key.store)
                return .stop
            }
        } catch { throw CocoaError.reading(error) }
        return found
    }

    /// Reads the members of a to-many.
    func fire(_ owner: NSManagedObject, toMany index: Int, _ members: ToMany) {
        let number = owner._state.pointee.store
        guard context.rows(of: number) != nil || number != 0 && !owner._state.has(.gone) else { return }
        noteFault(of: owner, toMany: index)
        context.persistentStoreCoordinator?.faultCount.wrappingAdd(1, ordering: .relaxed)
        let begun = context.observedTime
        defer { if begun != 0 { context.tellFault(of: owner, toMany: index, members, since: begun) } }
        do {
            members.setStored(try read(owner.relationship(toMany: index).index, of: owner._state.key))
            members.readAt = rowTime
            members.isUnseen = readsUnseen
            members.mayPrecedeRow = owner._state.pointee.row == nil
        } catch {
            keep(CocoaError.unread(owner.objectID, key: owner.relationship(toMany: index).name, cause: error))
        }
    }

    private func read(_ relationship: RelationshipIndex, of owner: ObjectKey) throws -> ToMany.Base {
        guard let store = try context.storedRows(of: owner.store) else { return .fault }
        if store.capabilities.contains(.memberKeys) {
            let keys = try store.memberKeys(of: relationship, owner: owner.row, .latest)
            return .keys(
                ContiguousArray(keys.map { ObjectKey(number: $0.number, entity: $0.entity, store: owner.store) }))
        }
        var batches: [RowBatch] = []
        let cache = context.rowCache
        let ticket = cache?.ticket ?? 0
        try store.members(of: relationship, owner: owner.row, .latest) { batch in
            batches.append(batch)
            cache?.add(batch, store: owner.store, since: ticket)
            return .more
        }
        // An owner that only the parent has is in no store, but its members may be: they keep their own keys.
        guard owner.store == 0 else { return .rows(batches) }
        return .keys(ContiguousArray(materialize(batches, store: 0).map { $0._state.key }))
    }
}
