// Changes sets of rows without contexts.

import CoreDataValues

extension NSPersistentStoreCoordinator {
    /// Has a store change a set of rows, and drops these from the row cache, or all rows of their entities if the store
    /// does not name them. Registered objects keep their values; the outcome says which to refresh.
    final func apply(_ change: SetChange, store number: UInt16) throws -> SetOutcome {
        let (store, outcome): (NumberedStore, SetOutcome)
        do {
            (store, outcome) = try writes.write {
                guard let store = numberedStore(number) else {
                    throw StoreError(134070, "The store was removed before its rows were changed; nothing was written.")
                }
                return (store, try store.writer.apply(change))
            }
        } catch {
            throw CocoaError.saving(error)
        }
        let keys = outcome.touched.changed + outcome.touched.deleted
        rowCache.forget(keys.map { ObjectKey(number: $0.number, entity: $0.entity, store: number) })
        rowCache.forget(outcome.touched.entities, store: number)
        if store.store.postsRemoteChanges { store.store.tellRemoteChange() }
        return outcome
    }
}
