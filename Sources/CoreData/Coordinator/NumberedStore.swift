// A store with its number in the coordinator.

import CoreDataValues

/// What contexts and saves use of a store.
struct NumberedStore: Sendable {
    let number: UInt16
    /// Where it is read: the store's own rows, or what stands for them, a parent context or a batch laid over them.
    let rows: any StoreReader
    let store: NSPersistentStore
    /// Whether the coordinator has had no other store, so that every object that is in a store is in this one.
    let isOnlyOne: Bool

    /// A plan as the store is to be asked: an object of another store that it names is no row here, whatever its number. Programs' own
    /// stores see the objects themselves.
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

    /// Where it is written.
    ///
    /// - Throws: 134070 where something else stands for the store: the contexts that programs' own stores are given do not write.
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
