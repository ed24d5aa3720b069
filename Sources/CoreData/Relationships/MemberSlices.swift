// Rows that were read for many objects at once, as these objects keep them.

import CoreDataValues

/// Rows of many owners, owner by owner.
final class MemberTable {
    let chunks: ContiguousArray<RowChunk>
    let places: ContiguousArray<RowBatch.Reference>

    init(chunks: ContiguousArray<RowChunk>, places: ContiguousArray<RowBatch.Reference>) {
        self.chunks = chunks
        self.places = places
    }

    convenience init(_ batches: [RowBatch]) {
        var chunks: ContiguousArray<RowChunk> = []
        var places: ContiguousArray<RowBatch.Reference> = []
        for batch in batches { batch.list(into: &places, &chunks) }
        self.init(chunks: chunks, places: places)
    }

    /// Goes through some places, counting from 0.
    @inline(__always)
    func forEach(_ range: Range<Int>, _ body: (Int, RowChunk, UnsafeMutablePointer<UInt64>) -> Void) {
        for (index, place) in places[range].enumerated() {
            let chunk = chunks[Int(place.chunk)]
            body(index, chunk, chunk.row(Int(place.row)))
        }
    }
}

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

/// The rows of one owner's members, in order. It holds rows, no objects, so that it forms no cycle (I-4).
final class MemberSlices {
    let table: MemberTable
    let range: Range<Int>
    /// What was read beforehand for the members themselves.
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

    /// Where a row stands, nil when it is not here.
    func place(of number: Int64, _ entity: EntityIndex) -> Int? {
        table.places[range].firstIndex { place in
            let chunk = table.chunks[Int(place.chunk)]
            return chunk.row(Int(place.row)).key(chunk.layout) == number && chunk.layout.entity == entity
        }.map { $0 - range.lowerBound }
    }

    /// Keeps what is known of the members' own relationships.
    func keep(_ level: PrefetchedLevel) { beyond.keep(level) }
}

/// Sorts rows that come with their owners by owner, each owner's rows in the order they came.
struct MemberSorting {
    /// Ascending, each once.
    private let owners: [Int64]
    private let isDense: Bool
    private var chunks: ContiguousArray<RowChunk> = []
    private var places: ContiguousArray<RowBatch.Reference> = []
    /// The owner of each place, by its own place; -1 for one that was not asked for.
    private var ownerPlaces: ContiguousArray<Int32> = []
    private var last: (number: Int64, place: Int32) = (0, -1)

    init(_ owners: [Int64]) {
        self.owners = owners
        isDense = owners.first.flatMap { first in owners.last.map { $0 - first + 1 == Int64(owners.count) } } ?? false
    }

    mutating func add(_ batch: MemberBatch) {
        batch.rows.list(into: &places, &chunks)
        for owner in batch.owners { ownerPlaces.append(place(owner)) }
    }

    @inline(__always)
    private mutating func place(_ owner: Int64) -> Int32 {
        if owner == last.number { return last.place }
        last = (owner, Int32(truncatingIfNeeded: search(owner)))
        return last.place
    }

    @inline(__always)
    private func search(_ owner: Int64) -> Int {
        guard let first = owners.first else { return -1 }
        if isDense { return owner >= first && owner - first < owners.count ? Int(owner - first) : -1 }
        var (low, high) = (0, owners.count)
        while low < high {
            let middle = (low + high) / 2
            if owners[middle] < owner { low = middle + 1 } else { high = middle }
        }
        return low < owners.count && owners[low] == owner ? low : -1
    }

    /// The members of each owner, in the owners' order.
    func slices() -> ContiguousArray<MemberSlices> {
        var ends = ContiguousArray(repeating: 0, count: owners.count + 1)
        for owner in ownerPlaces where owner >= 0 { ends[Int(owner) + 1] += 1 }
        for index in owners.indices { ends[index + 1] += ends[index] }
        let starts = ends
        let empty = RowBatch.Reference(chunk: 0, row: 0)
        var sorted = ContiguousArray(repeating: empty, count: ends[owners.count])
        for (index, owner) in ownerPlaces.enumerated() where owner >= 0 {
            sorted[ends[Int(owner)]] = places[index]
            ends[Int(owner)] += 1
        }
        let table = MemberTable(chunks: chunks, places: sorted)
        return ContiguousArray(owners.indices.map { MemberSlices(table, starts[$0]..<starts[$0 + 1]) })
    }
}

/// Rows that many sources' to-one leads to, by store and number.
final class TargetRows {
    struct Name: Hashable {
        let store: UInt16
        let number: Int64
    }

    struct Place {
        let chunk: RowChunk
        let row: Int
    }

    /// The context's `rowTime` when they were read: later ones may have taken their place since.
    let readAt: Int
    var rows: [Name: Place] = [:]
    /// What was read beforehand for the targets themselves.
    private(set) var beyond: [PrefetchedLevel] = []

    init(readAt: Int) { self.readAt = readAt }

    func keep(_ level: PrefetchedLevel) { beyond.keep(level) }
}

/// What a fetch read beforehand for the objects of one level: their members, by owner, and their targets.
///
/// It lies with the rows from which these objects can be made again, and is given to them when they are.
final class PrefetchedLevel {
    let readAt: Int
    var members: [(index: Int, owners: [ObjectKey: MemberSlices])] = []
    var targets: [(slot: Int, rows: TargetRows)] = []

    init(readAt: Int) { self.readAt = readAt }

    /// Whether another level knows of every relationship that this one knows of.
    fileprivate func isCovered(by other: PrefetchedLevel) -> Bool {
        members.allSatisfy { mine in other.members.contains { $0.index == mine.index } }
            && targets.allSatisfy { mine in other.targets.contains { $0.slot == mine.slot } }
    }
}

extension [PrefetchedLevel] {
    /// Adds a level. Levels read before the last change of rows, and such as say nothing more, are let go.
    fileprivate mutating func keep(_ level: PrefetchedLevel) {
        removeAll { $0 === level || $0.readAt != level.readAt || $0.isCovered(by: level) }
        append(level)
    }
}
