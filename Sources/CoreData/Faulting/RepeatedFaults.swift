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

/// Counts the faults of each kind since the objects were fetched from which they were reached.
struct FaultCounts {
    private struct Kind: Hashable {
        let entity: String
        let relationship: String?
        let start: String?
        let keyPath: String?
    }
    private var counts: [Kind: Int] = [:]
    /// How many make a report; then every tenfold.
    private static let first = 10

    /// What is to be told, if it has become so many.
    mutating func add(_ fault: UnexpectedFault) -> RepeatedFaults? {
        let kind = Kind(
            entity: fault.entityName, relationship: fault.relationshipName, start: fault.prefetchEntityName,
            keyPath: fault.prefetchKeyPath)
        let count = counts[kind, default: 0] + 1
        counts[kind] = count
        var step = FaultCounts.first
        while step < count { step *= 10 }
        guard step == count else { return nil }
        return RepeatedFaults(
            entityName: fault.entityName, relationshipName: fault.relationshipName,
            prefetchKeyPath: fault.prefetchKeyPath,
            prefetchEntityName: fault.prefetchEntityName, count: count)
    }

    /// Objects of an entity were fetched: what is read from them is counted anew.
    mutating func begin(at entity: String) { counts = counts.filter { $0.key.start != entity } }
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
