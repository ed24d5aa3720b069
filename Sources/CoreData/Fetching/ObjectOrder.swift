// The order of a query's results for objects in memory.

import CoreDataValues
import Foundation

/// Sorts objects as a store does, including ties.
struct ObjectOrder {
    private let order: BoundOrder
    private typealias Keyed = (object: NSManagedObject, values: [Value])

    init(_ query: Query) { order = BoundOrder(query) }

    var isEmpty: Bool { order.isEmpty }

    /// - Throws: `CancellationError` where the task that waits for it is cancelled: a comparison by a locale takes its time.
    func sorted(_ objects: [NSManagedObject]) throws -> [NSManagedObject] {
        let cancellation = Cancellation.current
        return try keyed(objects).sorted {
            try cancellation?.throwIfCancelled()
            return precedes($0, $1)
        }.map(\.object)
    }

    /// Inserts few objects into many sorted ones, by binary search.
    func inserted(_ few: [NSManagedObject], into many: [NSManagedObject]) -> [NSManagedObject] {
        var result: [NSManagedObject] = []
        result.reserveCapacity(many.count + few.count)
        var start = 0
        for new in keyed(few).sorted(by: precedes) {
            var (low, high) = (start, many.count)
            while low < high {
                let middle = (low + high) / 2
                if precedes(new, (many[middle], order.values(of: ObjectSource(many[middle])))) {
                    high = middle
                } else {
                    low = middle + 1
                }
            }
            result += many[start..<low]
            result.append(new.object)
            start = low
        }
        return result + many[start...]
    }

    func precedes(_ a: NSManagedObject, _ b: NSManagedObject) -> Bool {
        precedes((a, order.values(of: ObjectSource(a))), (b, order.values(of: ObjectSource(b))))
    }

    private func keyed(_ objects: [NSManagedObject]) -> [Keyed] {
        objects.map { ($0, order.values(of: ObjectSource($0))) }
    }

    private func precedes(_ a: Keyed, _ b: Keyed) -> Bool {
        let result = order.compare(a.values, b.values)
        if result != .orderedSame { return result == .orderedAscending }
        return order.isAscending ? isOlder(a.object, b.object) : isOlder(b.object, a.object)
    }

    /// Breaks ties as a store does, by row number; unsaved objects come last, in order of insertion.
    private func isOlder(_ a: NSManagedObject, _ b: NSManagedObject) -> Bool {
        let (x, y) = (a._state.key.number, b._state.key.number)
        return (x < 0) == (y < 0) ? abs(x) < abs(y) : y < 0
    }
}
