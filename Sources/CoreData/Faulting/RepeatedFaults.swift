// Faults that fired one after the other, where one statement could have read all of them.

import CoreDataValues
import Foundation

/// Faults of one kind that objects of one fetch fired one by one, and what to prefetch instead.
///
/// Ours, beside Core Data's API.
public struct RepeatedFaults: Sendable, Hashable, CustomStringConvertible {
    /// The entity of the objects that were read.
    public let entityName: String
    /// The to-many whose members were read; nil for the objects' own rows.
    public let relationshipName: String?
    /// Belongs in `relationshipKeyPathsForPrefetching` of a fetch of `prefetchEntityName`; nil without a path.
    public let prefetchKeyPath: String?
    public let prefetchEntityName: String?
    /// How many statements have read such faults so far.
    public let count: Int

    public var description: String {
        let cure =
            prefetching(prefetchKeyPath, prefetchEntityName)
            ?? "fetch them with their property values, or load them with fulfill(_:)"
        return "\(count) faults of \(faultName(entityName, relationshipName)) were read one by one: \(cure)."
    }
}

extension NSManagedObjectContext {
    /// Called on the context's queue when ten faults of one kind were read one by one since a fetch that led to them,
    /// and at each tenfold. Faults read together count once; the report names one more key path to prefetch.
    ///
    /// While it is set, the context follows how objects are reached, as for `refusesFaults`. The launch argument
    /// `-com.apple.CoreData.SQLDebug 1` makes every context write these reports to the log.
    public final var repeatedFaultHandler: ((RepeatedFaults) -> Void)? {
        get { faulting.watch?.repeatHandler }
        set {
            faulting.requiredWatch.repeatHandler = newValue
            faulting.lookWhetherTracing()
        }
    }

    /// Writes the reports to the log, if a launch argument asks for it.
    @inline(never)
    final func logRepeatedFaults() { repeatedFaultHandler = { SQLLog.write("annotation: \($0)") } }
}
