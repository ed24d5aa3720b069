// Sorts rows by owner, keeping the order of each owner's rows.

import CoreDataValues

/// Sorts rows by owner, keeping the order of each owner's rows.
struct MemberSorting {
    /// Ascending, each once.
    private let owners: [Int64]
    private let isDense: Bool
    private var chunks: ContiguousArray<RowChunk> = []
    private var places: ContiguousArray<RowBatch.Reference> = []
    /// For each row the place of its owner in `owners`; -1 for an owner that is not among them.
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
