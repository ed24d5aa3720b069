// The places of insertions in the list of dirty objects.

import CoreDataValues
import Foundation

/// The places of insertions in the list of dirty objects, by temporary number.
///
/// Made when a temporary number is looked up, so that insertions pay nothing for it. The list may have been shortened
/// since: a place counts only if the object there has the number.
struct TemporaryIndex {
    private var places: [Int64: Int] = [:]
    private var indexed = 0

    mutating func object(_ number: Int64, in dirty: borrowing ContiguousArray<NSManagedObject>) -> NSManagedObject? {
        if indexed > dirty.count { forget() }
        extend(over: dirty)
        if let place = places[number], fits(dirty[place], number) { return dirty[place] }
        guard let place = dirty.firstIndex(where: { fits($0, number) }) else { return nil }
        forget()
        extend(over: dirty)
        return dirty[place]
    }

    private func fits(_ object: NSManagedObject, _ number: Int64) -> Bool {
        object._state.has(.inserted) && object._state.pointee.number == number
    }

    private mutating func forget() {
        places = [:]
        indexed = 0
    }

    private mutating func extend(over dirty: borrowing ContiguousArray<NSManagedObject>) {
        while indexed < dirty.count {
            if dirty[indexed]._state.has(.inserted) { places[dirty[indexed]._state.pointee.number] = indexed }
            indexed += 1
        }
    }
}
