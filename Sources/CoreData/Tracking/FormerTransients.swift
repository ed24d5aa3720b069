// What the transient values were that were written since the last save: no row tells it.

import CoreDataValues

/// What the transient values were that were written since the last save: no row tells it.
struct FormerTransients {
    private var values: [NSManagedObject: [Int: FormerValue]] = [:]
    var isEmpty: Bool { values.isEmpty }

    /// Remembers the value of a slot that is about to be written for the first time.
    mutating func note(_ object: NSManagedObject, _ slot: Int) {
        guard object._state.info.entity.slots[slot].isTransient, values[object]?[slot] == nil else { return }
        values[object, default: [:]][slot] = object.formerValue(slot)
    }

    mutating func forget(_ object: NSManagedObject) { values[object] = nil }

    /// Whether an object has other transient values than at the last save.
    func differ(_ object: NSManagedObject) -> Bool {
        values[object]?.contains { FormerTransients.differs(object, $0, from: $1) } ?? false
    }

    func differ(_ object: NSManagedObject, _ slot: Int) -> Bool {
        values[object]?[slot].map { FormerTransients.differs(object, slot, from: $0) } ?? false
    }

    private static func differs(_ object: NSManagedObject, _ slot: Int, from former: FormerValue) -> Bool {
        // A child has those of its parent in rows.
        if case .row(let chunk, let row) = former {
            return object.value(.row(row, chunk), slot) != object.value(at: slot)
        }
        return !object.formerValue(slot).isSame(as: former)
    }
}
