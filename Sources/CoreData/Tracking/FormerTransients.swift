// The values that transient attributes had at the last save, which no row has.

import CoreDataValues

/// The values that changed transient attributes had at the last save, which no row has.
struct FormerTransients {
    private var values: [NSManagedObject: [Int: FormerValue]] = [:]
    var isEmpty: Bool { values.isEmpty }

    /// Keeps the value of a transient slot before its first write since the last save.
    mutating func note(_ object: NSManagedObject, _ slot: Int) {
        guard object._state.info.entity.slots[slot].isTransient, values[object]?[slot] == nil else { return }
        values[object, default: [:]][slot] = object.formerValue(slot)
    }

    mutating func forget(_ object: NSManagedObject) { values[object] = nil }

    /// Whether an object's transient values differ from those at the last save.
    func differ(_ object: NSManagedObject) -> Bool {
        values[object]?.contains { FormerTransients.differs(object, $0, from: $1) } ?? false
    }

    func differ(_ object: NSManagedObject, _ slot: Int) -> Bool {
        values[object]?[slot].map { FormerTransients.differs(object, slot, from: $0) } ?? false
    }

    private static func differs(_ object: NSManagedObject, _ slot: Int, from former: FormerValue) -> Bool {
        // The rows of a child have the transient values of its parent.
        if case .row(let chunk, let row) = former {
            return object.value(.row(row, chunk), slot) != object.value(at: slot)
        }
        return !object.formerValue(slot).isSame(as: former)
    }
}
