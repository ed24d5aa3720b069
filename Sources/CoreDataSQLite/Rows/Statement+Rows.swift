// From result rows to chunks: the hottest loop of a fetch.

import CCoreDataSQLite
import CoreDataSQL
import CoreDataValues
import Foundation

/// Everything that can be decided beforehand was decided in the shape: which column feeds which cell, and how. In the loop there are
/// only SQLite's calls and writes through raw pointers.
extension Statement: SQLResult {
    func rows(_ count: Int, of shape: RowShape) throws -> RowBatch? {
        if isDone { return nil }
        if shape.hasEntityColumn { return try mixedRows(count, of: shape)?.rows }
        return try chunk(count, of: shape).map { RowBatch(chunk: $0) }
    }

    func members(_ count: Int, of shape: RowShape) throws -> MemberBatch? {
        isDone ? nil : try mixedRows(count, of: shape, hasOwners: true)
    }

    func end() { finish() }

    /// Rows of one entity: one writer, one chunk.
    private func chunk(_ size: Int, of shape: RowShape) throws -> RowChunk? {
        let handle = handle
        var code = sqlite3_step(handle)
        guard code == SQLITE_ROW else { return try end(code) }
        let values = values
        guard let first = values.row(of: handle) else { return nil }
        var writer = ChunkWriter(
            shape.targets[0], entity: shape.first, keyColumn: 0, bytesPerRow: shape.bytesPerRow.load(ordering: .relaxed)
        )
        writer.open(capacity: size, at: 0)
        let rowsLieStill = rowsLieStill
        while code == SQLITE_ROW {
            assert(!rowsLieStill || first == values.row(of: handle), "SQLite moved a row.")
            if let slot = writer.decode(rowsLieStill ? first : values.row(of: handle) ?? first) {
                throw unreadable(slot, shape.first, shape, keyColumn: 0)
            }
            if writer.isFull { break }
            code = sqlite3_step(handle)
        }
        rowsRead += writer.count
        let chunk = writer.close()
        shape.bytesPerRow.store(writer.bytesPerRow, ordering: .relaxed)
        if code != SQLITE_ROW { try end(code) }
        return chunk
    }

    @discardableResult
    private func end(_ code: Int32) throws -> RowChunk? {
        isDone = true
        if code != SQLITE_DONE { throw connection.error(code, doing: "Fetching", sql: sql) }
        return nil
    }

    private func mixedRows(_ size: Int, of shape: RowShape, hasOwners: Bool = false) throws -> MemberBatch? {
        let mixed = mixed ?? MixedRows(shape, self, hasOwners: hasOwners)
        self.mixed = mixed
        isDone = try mixed.fill(size) { slot, entity in
            throw unreadable(slot, entity, shape, keyColumn: shape.hasEntityColumn ? 1 : 0)
        }
        guard let batch = mixed.removeBatch() else {
            isDone = true
            return nil
        }
        rowsRead += batch.rows.count
        return batch
    }

    private func unreadable(_ slot: Int, _ index: EntityIndex, _ shape: RowShape, keyColumn: Int32) -> StoreError {
        let entity = shape.schema[index]
        let key = sqlite3_column_int64(handle, keyColumn)
        return StoreError(
            134180,
            "The row \(key) of \(entity.name) holds a value in \(entity.slots[slot].name) that is no UUID (16 bytes). "
                + "Correct the row in the store at \(connection.path).",
            path: connection.path, entity: entity.name, property: entity.slots[slot].name, sql: sql)
    }
}
