// From result rows to chunks: the hottest loop of a fetch.

import CCoreDataSQLite
import CoreDataSQL
import CoreDataValues
import Foundation

/// Decodes all rows of one statement, whole or batch by batch.
struct RowDecoder {
    let shape: RowShape
    let schema: Schema

    /// The first batch is small, so that the first objects are there soon.
    static var firstBatch: Int { 32 }

    /// Steps through the statement and hands out batches until the end or until `receive` has enough.
    ///
    /// - Parameter expected: how many rows can come at most, if that is known; chunks are not made larger.
    func run(
        _ statement: Statement, expected: Int = .max, _ receive: (RowBatch) throws -> FetchStep
    ) throws {
        statement.begin()
        var steps = RowSteps(self, expected: expected)
        defer { statement.finish(rows: steps.total) }
        while let batch = try steps.next(statement) {
            if try receive(batch) == .stop { return }
        }
    }
}

/// Everything that can be decided beforehand is decided here: which column feeds which cell, and how. In the loop there are only
/// SQLite's calls and writes through raw pointers.
struct RowSteps: StatementSteps {
    private let shape: RowShape
    private let schema: Schema
    private var size: Int
    private var isDone = false
    private var mixed: MixedBatch?
    private(set) var total = 0

    init(_ decoder: RowDecoder, expected: Int) {
        shape = decoder.shape
        schema = decoder.schema
        size = min(RowDecoder.firstBatch, max(1, expected))
    }

    mutating func next(_ statement: Statement) throws -> RowBatch? {
        if isDone { return nil }
        if shape.hasEntityColumn { return try nextMixed(statement) }
        guard let chunk = try nextChunk(statement) else { return nil }
        // Batches grow, so that a short result does not pay for the rows that never come.
        size = min(2 * size, RowChunk.maximumCount)
        return RowBatch(chunk: chunk)
    }

    private mutating func nextMixed(_ statement: Statement) throws -> RowBatch? {
        let batches = mixed ?? MixedBatch(shape, statement)
        mixed = batches
        isDone = try batches.fill(size) { slot, entity in
            throw unreadable(slot, entity, statement, keyColumn: 1)
        }
        guard let batch = batches.take() else {
            isDone = true
            return nil
        }
        total += batch.count
        size = min(2 * size, RowChunk.maximumCount)
        return batch
    }

    /// Rows of one entity: one writer, one chunk.
    private mutating func nextChunk(_ statement: Statement) throws -> RowChunk? {
        let handle = statement.handle
        var code = sqlite3_step(handle)
        guard code == SQLITE_ROW else { return try end(code, statement) }
        let values = statement.values
        guard let first = values.row(of: handle) else { return nil }
        var writer = ChunkWriter(
            shape.targets[0], entity: shape.first, keyColumn: 0, bytesPerRow: shape.bytesPerRow.load(ordering: .relaxed))
        writer.open(capacity: size, at: 0)
        while code == SQLITE_ROW {
            assert(!statement.rowsLieStill || first == values.row(of: handle), "SQLite moved a row.")
            if let slot = writer.decode(statement.rowsLieStill ? first : values.row(of: handle) ?? first) {
                throw unreadable(slot, shape.first, statement, keyColumn: 0)
            }
            if writer.isFull { break }
            code = sqlite3_step(handle)
        }
        total += writer.count
        let chunk = writer.close()
        shape.bytesPerRow.store(writer.bytesPerRow, ordering: .relaxed)
        if code != SQLITE_ROW { try end(code, statement) }
        return chunk
    }

    @discardableResult
    private mutating func end(_ code: Int32, _ statement: Statement) throws -> RowChunk? {
        isDone = true
        if code != SQLITE_DONE { throw statement.connection.error(code, doing: "Fetching", sql: statement.sql) }
        return nil
    }

    private func unreadable(
        _ slot: Int, _ index: EntityIndex, _ statement: Statement, keyColumn: Int32
    ) -> StoreError {
        let entity = schema[index]
        let key = sqlite3_column_int64(statement.handle, keyColumn)
        return StoreError(
            134180,
            "The row \(key) of \(entity.name) holds a value in \(entity.slots[slot].name) that is no UUID (16 bytes). "
                + "Correct the row in the store at \(statement.connection.path).",
            path: statement.connection.path, entity: entity.name, property: entity.slots[slot].name,
            sql: statement.sql)
    }
}

/// Collects the rows of one batch of several entities, one chunk for each entity that occurs.
private final class MixedBatch {
    private let statement: Statement
    private let first: EntityIndex
    private var writers: [ChunkWriter]
    private var open: [RowChunk] = []
    private var order: [RowBatch.Reference] = []

    init(_ shape: RowShape, _ statement: Statement) {
        self.statement = statement
        first = shape.first
        let bytesPerRow = shape.bytesPerRow.load(ordering: .relaxed)
        writers = shape.targets.enumerated().map { offset, target in
            ChunkWriter(target, entity: EntityIndex(shape.first.value + offset), keyColumn: 1, bytesPerRow: bytesPerRow)
        }
    }

    /// Reads up to `size` rows; true at the end of the result.
    func fill(_ size: Int, refuse: (Int, EntityIndex) throws -> Void) throws -> Bool {
        let handle = statement.handle
        for _ in 0..<size {
            let code = sqlite3_step(handle)
            if code == SQLITE_DONE { return true }
            if code != SQLITE_ROW {
                throw statement.connection.error(code, doing: "Fetching", sql: statement.sql)
            }
            let target = Int(sqlite3_column_int64(handle, 0)) - first.number
            // The condition on Z_ENT lets no other number through; a row that changed hands is not worth a trap.
            guard writers.indices.contains(target) else { continue }
            if writers[target].position < 0 {
                writers[target].open(capacity: size, at: open.count)
                if let chunk = writers[target].chunk { open.append(chunk) }
            }
            let row = writers[target].count
            if let slot = writers[target].decode(handle, statement.values) { try refuse(slot, EntityIndex(first.value + target)) }
            order.append(.init(chunk: writers[target].position, row: row))
            if writers[target].isFull { return false }
        }
        return false
    }

    /// The batch read so far, nil when it is empty.
    func take() -> RowBatch? {
        for index in writers.indices where writers[index].position >= 0 { writers[index].close() }
        defer {
            open = []
            order = []
        }
        guard let first = open.first else { return nil }
        return open.count == 1
            ? RowBatch(chunk: first) : RowBatch(first: first, others: Array(open.dropFirst()), order: order)
    }
}
