// Reads the rows of faults.

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
        withContext { context in
            guard context.stalenessInterval != 0, context.saveMemory == nil, let cache = context.rowCache,
                let found = cache.row(for: key, within: context.stalenessInterval)
            else { return nil }
            if coredata_is_observed() { context.tellCacheHit(key) }
            return materialize(found.chunk, found.chunk.row(found.row), store: key.store)
        }
    }

    /// Returns the object of one row from the store, past the row cache.
    private func readStored(_ key: ObjectKey) throws -> NSManagedObject? {
        try withContext { context in
            guard key.number > 0, key.store != 0 else { return try context.link.readUnsaved(key, context) }
            guard let store = try context.storedRows(of: key.store) else { return nil }
            let cache = context.rowCache
            let ticket = cache?.ticket ?? 0
            var found: NSManagedObject?
            let begun = context.observedTime
            defer { if begun != 0 { context.tellFault(of: key, rows: found == nil ? 0 : 1, since: begun) } }
            do {
                let root = context.runtime.infos[key.entity.value].entity.root
                try store.rows(for: [key.number], in: root, .latest) { batch in
                    cache?.add(batch, store: key.store, since: ticket)
                    found = materialize(batch.first, batch.first.row(0), store: key.store)
                    return .stop
                }
            } catch { throw CocoaError.reading(error) }
            return found
        }
    }
}
