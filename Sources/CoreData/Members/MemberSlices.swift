// Rows that were read for many objects at once, in the form that these objects keep.

import CoreDataValues

extension RowBatch {
    /// Adds the rows, in order, to a list of places in chunks.
    func list(into places: inout ContiguousArray<Reference>, _ known: inout ContiguousArray<RowChunk>) {
        let first = known.count
        known.append(contentsOf: chunks)
        if let order {
            for place in order { places.append(Reference(chunk: first + Int(place.chunk), row: Int(place.row))) }
        } else {
            for row in 0..<count { places.append(Reference(chunk: first, row: row)) }
        }
    }
}

/// The rows of one owner's members, in order. It holds rows, not objects, so that it forms no cycle (I-4).
final class MemberSlices {
    let table: MemberTable
    let range: Range<Int>
    /// Prefetched relationships of the members themselves.
    private(set) var beyond: [PrefetchedLevel] = []

    init(_ table: MemberTable, _ range: Range<Int>) {
        self.table = table
        self.range = range
    }

    convenience init(_ batches: [RowBatch]) {
        let table = MemberTable(batches)
        self.init(table, 0..<table.places.count)
    }

    var count: Int { range.count }

    func row(_ index: Int) -> UnsafeMutablePointer<UInt64> {
        let place = table.places[range.lowerBound + index]
        return table.chunks[Int(place.chunk)].row(Int(place.row))
    }

    func keys(inStore store: UInt16) -> ContiguousArray<ObjectKey> {
        var keys: ContiguousArray<ObjectKey> = []
        keys.reserveCapacity(count)
        for place in table.places[range] {
            let chunk = table.chunks[Int(place.chunk)]
            let number = chunk.row(Int(place.row)).key(chunk.layout)
            keys.append(ObjectKey(number: number, entity: chunk.layout.entity, store: number > 0 ? store : 0))
        }
        return keys
    }

    /// The place of a row; nil if it is not here.
    func place(of number: Int64, _ entity: EntityIndex) -> Int? {
        table.places[range].firstIndex { place in
            let chunk = table.chunks[Int(place.chunk)]
            return chunk.row(Int(place.row)).key(chunk.layout) == number && chunk.layout.entity == entity
        }.map { $0 - range.lowerBound }
    }

    /// Adds prefetched relationships of the members.
    func add(_ level: PrefetchedLevel) { beyond.add(level) }
}

/// What was prefetched for the objects of one level: their members, by owner, and their targets.
///
/// It is kept beside the rows from which these objects can be made again, and handed to them when that happens.
final class PrefetchedLevel {
    let readAt: Int
    var members: [(index: Int, owners: [ObjectKey: MemberSlices])] = []
    var targets: [(slot: Int, rows: TargetRows)] = []

    init(readAt: Int) { self.readAt = readAt }

    /// Whether another level has every relationship that this one has.
    fileprivate func isCovered(by other: PrefetchedLevel) -> Bool {
        members.allSatisfy { mine in other.members.contains { $0.index == mine.index } }
            && targets.allSatisfy { mine in other.targets.contains { $0.slot == mine.slot } }
    }
}

extension [PrefetchedLevel] {
    /// Adds a level. Drops levels that were read at another time, and those that it covers.
    mutating func add(_ level: PrefetchedLevel) {
        removeAll { $0 === level || $0.readAt != level.readAt || $0.isCovered(by: level) }
        append(level)
    }
}
