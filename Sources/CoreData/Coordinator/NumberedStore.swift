// A store with its number in the coordinator.

import CoreDataValues

/// A store as contexts and saves use it.
struct NumberedStore: Sendable {
    let number: UInt16
    /// The reader: the store's own rows, or a parent context, a pinned view or a batch in front of them.
    let rows: any StoreReader
    let store: NSPersistentStore
    /// Whether the coordinator has had no other store, so that every object that is in a store is in this one.
    let isOnlyOne: Bool

    /// Adapts a plan for this store: an object of another store that the predicate names is no row here, whatever its
    /// number. Programs' own stores get the objects themselves.
    @inline(__always)
    func asked(_ plan: FetchPlan) -> FetchPlan { isOnlyOne ? plan : amongOthers(plan) }

    @inline(never)
    private func amongOthers(_ plan: FetchPlan) -> FetchPlan {
        // Only a tree names objects.
        guard case .tree = plan.condition, !store.numbersObjects else { return plan }
        var plan = plan
        plan.predicate = plan.predicate?.asked(of: number)
        return plan
    }

    /// The store's writer.
    ///
    /// - Throws: 134070 if something else is read instead of the store: contexts given to programs' stores do not save.
    var writer: any StoreWriter {
        get throws {
            guard rows === store.rows else { throw NumberedStore.refusal }
            return store.rows
        }
    }

    private static var refusal: StoreError {
        StoreError(
            134070, "A store's method tried to write through the context it was given; write to the store itself.")
    }
}
