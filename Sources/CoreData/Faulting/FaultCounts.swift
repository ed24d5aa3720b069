// Counts the faults of each kind since the objects were fetched from which they were reached.

import CoreDataValues
import Foundation

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
