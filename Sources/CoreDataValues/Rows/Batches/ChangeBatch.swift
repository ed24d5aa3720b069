// What a save hands to a store: rows to write, rows to remove, rows to compare.

/// What a save writes. To-ones travel as cells of the rows; only what has no cell is listed apart.
package struct ChangeBatch: Sendable {
    /// New rows with their final keys, chunk by chunk, of one entity a chunk. Version 1, or a copied row's.
    package var inserts: [RowChunk] = []
    /// Changed rows, whole, with new values. The header has the *new* version; the old one is in `UpdateGroup`.
    package var updates: [UpdateGroup] = []
    package var deletes: [DeleteGroup] = []
    /// Rows that are in the save only because members came or went.
    package var touches: [TouchGroup] = []
    /// Pairs that come and go in many-to-many relationships, each pair named once, from the side that names the join table or
    /// its inverse.
    package var links: [LinkChange] = []
    /// New orders of ordered to-many relationships.
    package var orders: [OrderChange] = []
    /// One-to-many relationships without inverse keep their key in the destination's table.
    package var adoptions: [AdoptionChange] = []
    /// Rows that are not written but must have the version given.
    package var checks: [VersionCheck] = []
    /// Inserted rows that were there before and were deleted: one that is there again is a conflict.
    package var absences: [RowKey] = []
    /// What the history says beside the rows; nil for a store that records none.
    package var note: HistoryNote?
    package init() {}

    package var isEmpty: Bool {
        inserts.isEmpty && updates.isEmpty && deletes.isEmpty && links.isEmpty && orders.isEmpty && adoptions.isEmpty
            && checks.isEmpty && touches.isEmpty
    }

    /// How many rows of objects the batch writes or removes.
    package var rowCount: Int {
        inserts.reduce(0) { $0 + $1.count } + updates.reduce(0) { $0 + $1.chunk.count }
            + deletes.reduce(0) { $0 + $1.numbers.count } + touches.reduce(0) { $0 + $1.chunk.count }
    }
}

/// Rows of one entity that a save relies on without writing them, with the versions they were read with.
package struct VersionCheck: Sendable {
    package let entity: EntityIndex
    package let numbers: [Int64]
    package let expected: [Int32]
    package init(entity: EntityIndex, numbers: [Int64], expected: [Int32]) {
        self.entity = entity
        self.numbers = numbers
        self.expected = expected
    }
}

/// Rows of one entity in which the same slots changed.
package struct UpdateGroup: Sendable {
    package let entity: EntityIndex
    /// The slots to write, ascending. Empty when only the version rises.
    package let slots: [Int]
    package let chunk: RowChunk
    /// The version each row must still have, -1 for NULL.
    package let expected: [Int32]
    package init(entity: EntityIndex, slots: [Int], chunk: RowChunk, expected: [Int32]) {
        self.entity = entity
        self.slots = slots
        self.chunk = chunk
        self.expected = expected
    }
}

/// Rows of one entity that go.
package struct DeleteGroup: Sendable {
    package let entity: EntityIndex
    package let numbers: [Int64]
    package let expected: [Int32]
    package init(entity: EntityIndex, numbers: [Int64], expected: [Int32]) {
        self.entity = entity
        self.numbers = numbers
        self.expected = expected
    }
}
