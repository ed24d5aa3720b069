// The IDs of a relationship's targets.

import CoreDataValues

extension NSManagedObject {
    /// The IDs of a relationship's targets, with unsaved changes; those of an ordered relationship in order.
    ///
    /// A to-one costs nothing, a to-many that was not read yet one statement. Targets that are faults stay faults. A
    /// key that is not a relationship is a misuse.
    public final func objectIDs(forRelationshipNamed key: String) -> [NSManagedObjectID] {
        checkQueue()
        switch place(of: key) {
        case .slot(let slot) where kind(slot) == .toOne: return target(at: slot).map { [$0.objectID] } ?? []
        case .toMany(let index): return members(at: index).map(\.objectID)
        case .slot, .fetched, nil:
            misuse("\(entity.name ?? "") has no relationship \(key) whose IDs could be answered.")
        }
    }
}
