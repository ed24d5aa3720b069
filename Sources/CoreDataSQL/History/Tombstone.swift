// What the history keeps of a deleted row.

import CoreDataValues

/// The last values of a deleted row, as its change has them.
enum Tombstone {
    /// - Parameter slots: those that have a place in the history, in its order.
    /// - Returns: the slots of the attributes that the model marks to be kept; no others.
    static func slots(of entity: Entity, among slots: [Int]) -> [Int] {
        slots.filter { entity.slots[$0].attribute?.preservesValueInHistoryOnDeletion == true }
    }
}
