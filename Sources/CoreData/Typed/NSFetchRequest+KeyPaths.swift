// Fetch requests whose relationships are named by key paths.

import CoreDataFoundation
import CoreDataValues
import struct CoreDataValues.PredicateError
import Foundation

extension NSFetchRequest where ResultType: NSManagedObject {
    /// Adds relationships to those that are read together with the objects: `request.prefetch(\.ward, \.doctors)`.
    ///
    /// The same as naming them in `relationshipKeyPathsForPrefetching`, which also takes paths that go on behind a to-many. A key path
    /// without a name is a misuse.
    public func prefetch(_ relationships: PartialKeyPath<ResultType>...) {
        do {
            let names = try relationships.map { (path) throws(PredicateError) in try path.dottedName() }
            relationshipKeyPathsForPrefetching = (relationshipKeyPathsForPrefetching ?? []) + names
        } catch { misuse("A fetch request cannot prefetch by a key path: \(error)") }
    }
}
