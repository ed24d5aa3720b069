// Faults that are fired one after the other, where one statement could have read them all.

import CoreDataValues
import Foundation

/// Faults of one kind that objects of one fetch fired one by one: what to prefetch so that they need not be.
///
/// Ours, beside Core Data's API.
public struct RepeatedFaults: Sendable, Hashable, CustomStringConvertible {
    /// The entity of the objects that were read.
    public let entityName: String
    /// The to-many whose members were read; nil for the objects' own rows.
    public let relationshipName: String?
    /// Belongs in `relationshipKeyPathsForPrefetching` of a fetch of `prefetchEntityName`; nil where no relationship led to the objects.
    public let prefetchKeyPath: String?
    public let prefetchEntityName: String?
    /// How many statements have read them so far.
    public let count: Int

    public var description: String {
        let cure =
            prefetching(prefetchKeyPath, prefetchEntityName)
            ?? "fetch them with their property values, or load them with fulfill(_:)"
        return "\(count) faults of \(faultName(entityName, relationshipName)) were read one by one: \(cure)."
    }
}

extension NSManagedObjectContext {
    /// Told when ten faults of one kind were read one by one since the objects were fetched that led to them, and again at each tenfold, on
    /// the context's queue. Faults that one statement reads together count once; what one more prefetched key path would read is named.
    ///
    /// While it is set, the context follows how objects are reached, as it does for `refusesFaults`. The launch argument
    /// `-com.apple.CoreData.SQLDebug 1` has every context write these reports to the log.
    public final var repeatedFaultHandler: ((RepeatedFaults) -> Void)? {
        get { faultWatch?.repeatHandler }
        set {
            requiredFaultWatch.repeatHandler = newValue
            lookWhetherTracing()
        }
    }

    /// Writes the reports to the log, where the program was launched so.
    @inline(never)
    final func logRepeatedFaults() { repeatedFaultHandler = { SQLLog.write("annotation: \($0)") } }
}
