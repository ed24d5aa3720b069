// The rows of many owners' members, grouped by owner.

import CoreDataValues

/// The rows of many owners' members, grouped by owner.
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

    /// Calls `body` with each row of a range, counted from 0.
    @inline(__always)
    func forEach(_ range: Range<Int>, _ body: (Int, RowChunk, UnsafeMutablePointer<UInt64>) -> Void) {
        for (index, place) in places[range].enumerated() {
            let chunk = chunks[Int(place.chunk)]
            body(index, chunk, chunk.row(Int(place.row)))
        }
    }
}
