// How the rows of a result become batches, one after the other.

import CoreDataValues

protocol ResultSteps {
    associatedtype Batch
    /// The next batch; nil at the end.
    mutating func next(_ result: any SQLResult) throws -> Batch?
}

/// The first batch is small, so that the first objects are there soon; they grow, so that a short result does not pay for rows that
/// never come.
private let firstBatch = 32

/// Rows of entities.
struct RowSteps: ResultSteps {
    private let shape: RowShape
    private var size: Int
    /// How many rows can still come.
    private var rest: Int

    /// - Parameter expected: how many rows can come at most, if that is known; nobody looks for more, and chunks are not made larger.
    init(_ shape: RowShape, expected: Int = .max) {
        self.shape = shape
        size = min(firstBatch, max(1, expected))
        rest = expected
    }

    mutating func next(_ result: any SQLResult) throws -> RowBatch? {
        guard rest > 0 else { return nil }
        let batch = try result.rows(size, of: shape)
        rest -= batch?.count ?? 0
        size = min(2 * size, RowChunk.maximumCount)
        return batch
    }
}

/// Rows with their owners.
struct MemberSteps: ResultSteps {
    private let shape: RowShape
    /// The slot that holds the owner's number; nil where the owner is the last column.
    private let ownerSlot: Int?
    private var rows: RowSteps

    init(_ shape: RowShape, ownerSlot: Int?) {
        self.shape = shape
        self.ownerSlot = ownerSlot
        rows = RowSteps(shape)
    }

    mutating func next(_ result: any SQLResult) throws -> MemberBatch? {
        guard let ownerSlot else { return try result.members(RowChunk.maximumCount, of: shape) }
        return try rows.next(result).map { MemberBatch(rows: $0, owners: Self.owners($0, ownerSlot)) }
    }

    private static func owners(_ batch: RowBatch, _ slot: Int) -> [Int64] {
        guard let order = batch.order else {
            let chunk = batch.first
            return (0..<chunk.count).map { Int64(bitPattern: chunk.row($0)[slot]) }
        }
        let chunks = batch.chunks
        return order.map { Int64(bitPattern: chunks[Int($0.chunk)].row(Int($0.row))[slot]) }
    }
}

/// Rows of values.
struct ValueSteps: ResultSteps {
    private let shape: ValueShape
    private var size = firstBatch

    init(_ shape: ValueShape) { self.shape = shape }

    mutating func next(_ result: any SQLResult) throws -> ValueRows? {
        let batch = try result.values(size, of: shape)
        size = min(2 * size, ValueRows.maximumCount)
        return batch
    }
}
