// A fetch request without its type parameter.

import CoreDataFoundation
import CoreDataValues
import Foundation
import enum CoreDataValues.Expression
import enum CoreDataValues.Predicate

/// A fetch request without its type parameter.
struct FetchOrder {
    var info: EntityInfo
    var plan: FetchPlan
    var includesPendingChanges: Bool
    var asFaults: Bool
    var stores: [NSPersistentStore]?
    /// Whether objects that are here take the rows that are found.
    var renews = false
    /// How many of the found objects, which come without rows, are read together.
    var page = RowChunk.maximumCount
    /// Relationships to read for the objects found.
    var prefetch: [PrefetchStep] = []

    /// Whether an object that a store finds is none of the result: its deletion is a pending change.
    func isLeftOut(_ object: NSManagedObject) -> Bool {
        object._state.has(includesPendingChanges ? [.deleted, .gone] : .gone)
    }
}
