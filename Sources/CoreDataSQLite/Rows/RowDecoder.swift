// From result rows to chunks: the hottest loop of a fetch.

import CCoreDataSQLite
import CoreDataSQL
import CoreDataValues
import Foundation

/// Decodes all rows of one statement. Everything that can be decided beforehand is decided here: which column
/// feeds which cell, and how. In the loop there are only SQLite's calls and writes through raw pointers.
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
        var total = 0
        defer { statement.finish(rows: total) }
        let batches = RowBatcher(shape: shape, statement: statement)
        var size = min(Self.firstBatch, max(1, expected))
        var isDone = false
        while !isDone {
            isDone = try batches.fill(size, schema: schema)
            guard let batch = batches.take() else { return }
            total += batch.count
            if try receive(batch) == .stop { return }
            size = RowChunk.maximumCount
        }
    }
}

/// Collects the rows of one batch, one chunk for each entity that occurs.
private final class RowBatcher {
    private let statement: Statement
    private let first: Int64
    private let hasEntityColumn: Bool
    private var writers: [ChunkWriter]
    private var open: [RowChunk] = []
    private var order: [RowBatch.Reference] = []

    init(shape: RowShape, statement: Statement) {
        self.statement = statement
        first = Int64(shape.first.number)
        let hasEntityColumn = shape.hasEntityColumn
        self.hasEntityColumn = hasEntityColumn
        writers = shape.targets.enumerated().map { offset, target in
            ChunkWriter(
                target, entity: EntityIndex(shape.first.value + offset), keyColumn: hasEntityColumn ? 1 : 0)
        }
    }

    /// Reads up to `size` rows; true at the end of the result.
    func fill(_ size: Int, schema: Schema) throws -> Bool {
        let handle = statement.handle
        for _ in 0..<size {
            let code = sqlite3_step(handle)
            if code == SQLITE_DONE { return true }
            if code != SQLITE_ROW {
                throw statement.connection.error(code, doing: "Fetching", sql: statement.sql)
            }
            let target = hasEntityColumn ? Int(sqlite3_column_int64(handle, 0) - first) : 0
            // The condition on Z_ENT lets no other number through; a row that changed hands is not worth a
            // trap.
            guard writers.indices.contains(target) else { continue }
            if writers[target].position < 0 {
                writers[target].open(capacity: size, at: open.count)
                if let chunk = writers[target].chunk { open.append(chunk) }
            }
            let row = writers[target].count
            if let slot = writers[target].decode(handle) { throw unreadable(slot, target, schema) }
            if hasEntityColumn { order.append(.init(chunk: writers[target].position, row: row)) }
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
        if open.isEmpty { return nil }
        if open.count == 1 { return RowBatch(chunk: open[0]) }
        return RowBatch(chunks: open, order: order)
    }

    private func unreadable(_ slot: Int, _ target: Int, _ schema: Schema) -> StoreError {
        let entity = schema[EntityIndex(Int(first) - 1 + target)]
        let key = sqlite3_column_int64(statement.handle, hasEntityColumn ? 1 : 0)
        return StoreError(
            134180,
            "The row \(key) of \(entity.name) holds a value in \(entity.slots[slot].name) that is no UUID (16 bytes). "
                + "Correct the row in the store at \(statement.connection.path).",
            path: statement.connection.path, entity: entity.name, property: entity.slots[slot].name,
            sql: statement.sql)
    }
}
