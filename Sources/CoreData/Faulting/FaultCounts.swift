// Counts faults by kind, starting anew when objects are fetched that lead to them.

import CoreDataValues
import Foundation

/// Counts faults by kind, starting anew when objects are fetched that lead to them.
struct FaultCounts {
    private struct Kind: Hashable {
        let entity: String
        let relationship: String?
        let start: String?
        let keyPath: String?
    }
    private var counts: [Kind: Int] = [:]
    /// The count of the first report; each further one is ten times as high.
    private static let first = 10

    /// Counts a fault and returns a report if the count calls for one.
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

    /// Resets the counts of faults reached from objects of an entity, which were fetched again.
    mutating func begin(at entity: String) { counts = counts.filter { $0.key.start != entity } }
}
