// From result rows to batches of values.

import CCoreDataSQLite
import CoreDataSQL
import CoreDataValues
import Foundation

extension Statement {
    func values(_ count: Int, of shape: ValueShape) throws -> ValueRows? {
        if isDone { return nil }
        let decoder = ValueDecoder(statement: self, shape: shape)
        var batch = shape.projection.emptyRows
        while batch.count < count, !batch.isFull {
            guard try decoder.step() else {
                isDone = true
                break
            }
            for (column, cell) in shape.cells.enumerated() { try decoder.decode(cell, column, &batch) }
            batch.endRow()
        }
        rowsRead += batch.count
        return batch.count > 0 ? batch : nil
    }

    func tuples(_ count: Int) throws -> [[Value]] {
        if isDone { return [] }
        var rows: [[Value]] = []
        while rows.count < count, !isDone {
            let code = sqlite3_step(handle)
            isDone = code != SQLITE_ROW
            if !isDone { rows.append(tuple) }
            if isDone, code != SQLITE_DONE { throw connection.error(code, doing: "Fetching", sql: sql) }
        }
        rowsRead += rows.count
        return rows
    }

    func changes(_ count: Int) throws -> [HistoryRow] {
        if isDone { return [] }
        let handle = handle
        let columns = sqlite3_column_count(handle)
        var rows: [HistoryRow] = []
        rows.reserveCapacity(count)
        while rows.count < count {
            let code = sqlite3_step(handle)
            guard code == SQLITE_ROW else {
                isDone = true
                if code != SQLITE_DONE { throw connection.error(code, doing: "Fetching", sql: sql) }
                break
            }
            let kind = sqlite3_column_int64(handle, 2)
            let length = Int(sqlite3_column_bytes(handle, 5))
            let mask =
                length > 0
                ? sqlite3_column_blob(handle, 5).map { [UInt8](UnsafeRawBufferPointer(start: $0, count: length)) } : nil
            rows.append(
                HistoryRow(
                    transaction: sqlite3_column_int64(handle, 0), number: sqlite3_column_int64(handle, 1), kind: kind,
                    entity: sqlite3_column_int64(handle, 3), row: sqlite3_column_int64(handle, 4), mask: mask ?? [],
                    tombstones: kind == 2 ? (Int32(HistoryRow.firstTombstone)..<columns).map(kept) : []))
        }
        rowsRead += rows.count
        return rows
    }

    /// The current row, each value as it is kept.
    var tuple: [Value] { (0..<sqlite3_column_count(handle)).map(kept) }

    private func kept(_ column: Int32) -> Value {
        switch sqlite3_column_type(handle, column) {
        case SQLITE_INTEGER: return .int(int(Int(column)))
        case SQLITE_FLOAT: return .double(double(Int(column)))
        case SQLITE_TEXT: return .text(text(Int(column)) ?? "")
        case SQLITE_BLOB: return .data(data(Int(column)) ?? Data())
        default: return .null
        }
    }
}

/// Reads values of one statement's rows.
private struct ValueDecoder {
    let statement: Statement
    let shape: ValueShape
    private var entity: Entity { shape.entity }

    func step() throws -> Bool {
        let code = sqlite3_step(statement.handle)
        if code == SQLITE_ROW { return true }
        if code == SQLITE_DONE { return false }
        throw statement.connection.error(code, doing: "Fetching values", sql: statement.sql)
    }

    func decode(_ cell: ValueSelection.Cell, _ column: Int, _ batch: inout ValueRows) throws {
        guard let value = sqlite3_column_value(statement.handle, cell.column) else { return batch.appendNull(column) }
        let type = sqlite3_value_type(value)
        if type == SQLITE_NULL { return batch.appendNull(column) }
        switch cell.type {
        case .int: whole(value, type, column, &batch)
        case .bool: batch.append(sqlite3_value_double(value) == 0 ? 0 : 1 as Int64, column)
        case .double, .date: batch.append(sqlite3_value_double(value), column)
        case .float: batch.append(Double(Float(sqlite3_value_double(value))), column)
        case .text, .uri: batch.append(Self.bytes(sqlite3_value_text(value), value), column)
        case .data:
            batch.append(Self.bytes(sqlite3_value_blob(value)?.assumingMemoryBound(to: UInt8.self), value), column)
        case .uuid:
            let bytes = Self.bytes(sqlite3_value_blob(value)?.assumingMemoryBound(to: UInt8.self), value)
            guard bytes.count == 16 else { throw unreadable(column) }
            batch.append(bytes, column)
        case .decimal: decimal(value, type, column, &batch)
        case .key(let declared):
            var target = declared
            if let entityColumn = cell.entityColumn {
                let number = sqlite3_column_int64(statement.handle, entityColumn)
                if cell.entities.contains(number) { target = EntityIndex(Int(number) - 1) }
            }
            batch.append(RowKey(entity: target, number: sqlite3_value_int64(value)), column)
        }
    }

    private func whole(_ value: OpaquePointer, _ type: Int32, _ column: Int, _ batch: inout ValueRows) {
        guard type == SQLITE_FLOAT else { return batch.append(sqlite3_value_int64(value), column) }
        let number = sqlite3_value_double(value)
        if let whole = Int64(exactly: number) {
            batch.append(whole, column)
        } else {
            batch.append(beyondWhole: number, column)
        }
    }

    /// The shortest text that means the same.
    private func decimal(_ value: OpaquePointer, _ type: Int32, _ column: Int, _ batch: inout ValueRows) {
        guard type == SQLITE_FLOAT else { return batch.append(Self.bytes(sqlite3_value_text(value), value), column) }
        let number = sqlite3_value_double(value)
        batch.append(Decimal(cell: "\(number)")?.description ?? "\(number)", column)
    }

    private static func bytes(_ start: UnsafePointer<UInt8>?, _ value: OpaquePointer) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : Int(sqlite3_value_bytes(value)))
    }

    private func unreadable(_ column: Int) -> StoreError {
        StoreError(
            134180,
            "A row of \(entity.name) holds a value for the column “\(shape.projection.columns[column].name)” that is no UUID "
                + "(16 bytes). Correct the row in the store at \(statement.connection.path).",
            path: statement.connection.path, entity: entity.name, sql: statement.sql)
    }
}
