// From result rows to chunks, for rows that come with their owner in a last column.

import CCoreDataSQLite
import CoreDataSQL
import CoreDataValues
import Foundation

/// Decodes the members of many owners. Members of one owner may lie in two batches.
struct MemberDecoder {
    let shape: RowShape
    let schema: Schema

    /// Rows whose owner is one of their own cells: the plain decoder, and a look at that cell.
    func run(_ statement: Statement, ownerSlot slot: Int, _ receive: (MemberBatch) throws -> FetchStep) throws {
        try RowDecoder(shape: shape, schema: schema).run(statement) { batch in
            try receive(MemberBatch(rows: batch, owners: owners(batch, slot)))
        }
    }

    private func owners(_ batch: RowBatch, _ slot: Int) -> [Int64] {
        guard let order = batch.order else {
            let chunk = batch.first
            return (0..<chunk.count).map { Int64(bitPattern: chunk.row($0)[slot]) }
        }
        let chunks = batch.chunks
        return order.map { Int64(bitPattern: chunks[Int($0.chunk)].row(Int($0.row))[slot]) }
    }

    /// Rows whose owner is the statement's last column.
    func run(_ statement: Statement, _ receive: (MemberBatch) throws -> FetchStep) throws {
        statement.begin()
        var total = 0
        defer { statement.finish(rows: total) }
        let pages = MemberPages(shape, statement)
        while true {
            let isDone = try pages.fill(schema)
            guard let batch = pages.take() else { return }
            total += batch.owners.count
            if try receive(batch) == .stop || isDone { return }
        }
    }
}

/// One writer for each entity that can occur; a batch ends when one of them is full.
private final class MemberPages {
    private let statement: Statement
    private let shape: RowShape
    private let ownerColumn: Int32
    private var writers: [ChunkWriter]
    private var open: [RowChunk] = []
    private var order: [RowBatch.Reference] = []
    private var owners: [Int64] = []

    init(_ shape: RowShape, _ statement: Statement) {
        self.statement = statement
        self.shape = shape
        ownerColumn = sqlite3_column_count(statement.handle) - 1
        let keyColumn: Int32 = shape.hasEntityColumn ? 1 : 0
        let bytesPerRow = shape.bytesPerRow.load(ordering: .relaxed)
        writers = shape.targets.enumerated().map { offset, target in
            ChunkWriter(
                target, entity: EntityIndex(shape.first.value + offset), keyColumn: keyColumn, bytesPerRow: bytesPerRow)
        }
    }

    /// Reads one batch; true at the end of the result.
    func fill(_ schema: Schema) throws -> Bool {
        let handle = statement.handle
        while owners.count < RowChunk.maximumCount {
            let code = sqlite3_step(handle)
            if code == SQLITE_DONE { return true }
            if code != SQLITE_ROW {
                throw statement.connection.error(code, doing: "Fetching members", sql: statement.sql)
            }
            let target = shape.hasEntityColumn ? Int(sqlite3_column_int64(handle, 0)) - shape.first.number : 0
            guard writers.indices.contains(target) else { continue }
            if writers[target].position < 0 {
                writers[target].open(capacity: RowChunk.maximumCount - owners.count, at: open.count)
                if let chunk = writers[target].chunk { open.append(chunk) }
            }
            order.append(.init(chunk: writers[target].position, row: writers[target].count))
            owners.append(sqlite3_column_int64(handle, ownerColumn))
            if let slot = writers[target].decode(handle, statement.values) {
                throw unreadable(slot, schema[EntityIndex(shape.first.value + target)])
            }
            if writers[target].isFull { return false }
        }
        return false
    }

    /// The batch read so far, nil when it is empty.
    func take() -> MemberBatch? {
        for index in writers.indices where writers[index].position >= 0 { writers[index].close() }
        defer {
            open = []
            order = []
            owners = []
        }
        guard let first = open.first else { return nil }
        let rows =
            open.count == 1
            ? RowBatch(chunk: first) : RowBatch(first: first, others: Array(open.dropFirst()), order: order)
        return MemberBatch(rows: rows, owners: owners)
    }

    private func unreadable(_ slot: Int, _ entity: Entity) -> StoreError {
        StoreError(
            134180,
            "A row of \(entity.name) holds a value in \(entity.slots[slot].name) that is no UUID (16 bytes). "
                + "Correct the row in the store at \(statement.connection.path).",
            path: statement.connection.path, entity: entity.name, property: entity.slots[slot].name,
            sql: statement.sql)
    }
}
