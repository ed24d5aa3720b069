// From result rows to batches of values.

import CCoreDataSQLite
import CoreDataSQL
import CoreDataValues
import Foundation

/// Reads the rows of one statement by the types of the projection's columns, never by those that SQLite calls them.
struct ValueSteps: StatementSteps {
    private let cells: [ValueSelection.Cell]
    private let projection: BoundProjection
    private let entity: Entity
    // The first batch is small, so that the first values are there soon.
    private var size = RowDecoder.firstBatch
    private var isDone = false
    private(set) var total = 0

    init(_ cells: [ValueSelection.Cell], _ projection: BoundProjection, _ entity: Entity) {
        self.cells = cells
        self.projection = projection
        self.entity = entity
    }

    mutating func next(_ statement: Statement) throws -> ValueRows? {
        if isDone { return nil }
        var batch = projection.emptyRows
        while batch.count < size, !batch.isFull {
            guard try step(statement) else {
                isDone = true
                break
            }
            for (column, cell) in cells.enumerated() { try decode(cell, column, statement, &batch) }
            batch.endRow()
        }
        total += batch.count
        size = min(2 * size, ValueRows.maximumCount)
        return batch.count > 0 ? batch : nil
    }

    private func step(_ statement: Statement) throws -> Bool {
        let code = sqlite3_step(statement.handle)
        if code == SQLITE_ROW { return true }
        if code == SQLITE_DONE { return false }
        let error = statement.connection.error(code, doing: "Fetching values", sql: statement.sql)
        throw error.engine?.message == "integer overflow" ? StoreError.overflow(entity) : error
    }

    private func decode(_ cell: ValueSelection.Cell, _ column: Int, _ statement: Statement, _ batch: inout ValueRows) throws {
        guard let value = sqlite3_column_value(statement.handle, cell.column) else { return batch.appendNull(column) }
        let type = sqlite3_value_type(value)
        if type == SQLITE_NULL { return batch.appendNull(column) }
        switch cell.type {
        case .int: batch.append(try whole(value, type), column)
        case .bool: batch.append(sqlite3_value_double(value) == 0 ? 0 : 1 as Int64, column)
        case .double, .date: batch.append(sqlite3_value_double(value), column)
        case .float: batch.append(Double(Float(sqlite3_value_double(value))), column)
        case .text, .uri: batch.append(Self.bytes(sqlite3_value_text(value), value), column)
        case .data: batch.append(Self.bytes(sqlite3_value_blob(value)?.assumingMemoryBound(to: UInt8.self), value), column)
        case .uuid:
            let bytes = Self.bytes(sqlite3_value_blob(value)?.assumingMemoryBound(to: UInt8.self), value)
            guard bytes.count == 16 else { throw unreadable(column, statement) }
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

    private func whole(_ value: OpaquePointer, _ type: Int32) throws -> Int64 {
        guard type == SQLITE_FLOAT else { return sqlite3_value_int64(value) }
        guard let number = ValueType.whole(sqlite3_value_double(value)) else { throw StoreError.overflow(entity) }
        return number
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

    private func unreadable(_ column: Int, _ statement: Statement) -> StoreError {
        StoreError(
            134180,
            "A row of \(entity.name) holds a value for the column “\(projection.columns[column].name)” that is no UUID "
                + "(16 bytes). Correct the row in the store at \(statement.connection.path).",
            path: statement.connection.path, entity: entity.name, sql: statement.sql)
    }
}
