// A fetch request bound to the model.

import CoreDataFoundation
import CoreDataValues
import Foundation

/// What a fetch request asks, its names resolved: the plan for the stores, and what the context does with their rows.
struct BoundFetch {
    var info: EntityInfo
    var plan: FetchPlan
    var includesPendingChanges: Bool
    var asFaults: Bool
    var stores: [NSPersistentStore]?
    /// Whether registered objects get the rows that are found.
    var refreshes = false
    /// How many objects that were fetched without rows are read together.
    var batchSize = RowChunk.maximumCount
    /// The relationships to prefetch.
    var prefetch: [PrefetchStep] = []

    /// Whether an object that a store finds is left out of the result, because its deletion is pending.
    func isLeftOut(_ object: NSManagedObject) -> Bool {
        object._state.has(includesPendingChanges ? [.deleted, .detached] : .detached)
    }
}
