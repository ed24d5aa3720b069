// Changes of sets of rows, past the contexts.

import CoreDataValues

extension NSPersistentStoreCoordinator {
    /// Has a store change a set of rows, and forgets the rows that it concerns, or all of their entities where the store does not tell
    /// which. Objects of contexts stay as they are; the outcome says which to refresh.
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
