// A fetch request without its type parameter.

import CoreDataFoundation
import CoreDataValues
import Foundation

/// A fetch request without its type parameter.
struct FetchOrder {
    var info: EntityInfo
    var plan: FetchPlan
    var includesPendingChanges: Bool
    var asFaults: Bool
    var stores: [NSPersistentStore]?
    /// Whether registered objects get the rows that are found.
    var renews = false
    /// How many objects that were fetched without rows are read together.
    var page = RowChunk.maximumCount
    /// The relationships to prefetch.
    var prefetch: [PrefetchStep] = []

    /// Whether an object that a store finds is left out of the result, because its deletion is pending.
    func isLeftOut(_ object: NSManagedObject) -> Bool {
        object._state.has(includesPendingChanges ? [.deleted, .gone] : .gone)
    }
}
