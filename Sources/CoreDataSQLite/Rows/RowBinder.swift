// From chunks to parameters: what a save binds.

import CCoreDataSQLite
import CoreDataValues
import Foundation

/// Binds cells of one entity's rows straight from their chunk. SQLite reads the chunk's memory when the
/// statement runs; the chunk must outlive that, and nothing is copied.
final class RowBinder {
    let entity: Entity
    let slots: [Int]
    private let cells: ContiguousArray<Cell>

    private struct Cell {
        let slot: Int
        let kind: SlotKind
        let isText: Bool
    }

    init(entity: Entity, slots: [Int]) {
        self.entity = entity
        self.slots = slots
        let kinds = entity.layout.kinds
        cells = ContiguousArray(
            slots.map { Cell(slot: $0, kind: kinds[$0], isText: kinds[$0] == .text || kinds[$0] == .uri) })
    }

    /// Binds key, version and `slots` of rows, one after the other.
    ///
    /// New rows mostly have one version, and nothing in the same columns, which the statement then still has from its last run (80
    /// instructions a row, and 60 a column).
    func bindWhole(_ rows: Range<Int>, of chunk: RowChunk, to statement: Statement) throws {
        let layout = chunk.layout
        let first = chunk.row(rows.lowerBound).version(layout)
        let held = statement.notesBindings || first < 0 ? nil : statement.versions
        // Until all are bound.
        statement.versions = nil
        let nulls = statement.nulls
        var isEven = true
        var index = 1
        for place in rows {
            let row = chunk.row(place)
            let version = row.version(layout)
            isEven = isEven && version == first
            if statement.notesBindings { statement.note { .int(row.key(layout)) } }
            let code = sqlite3_bind_int64(statement.handle, Int32(truncatingIfNeeded: index), row.key(layout))
            if code != SQLITE_OK { try statement.check(code) }
            if held != version || version < 0 { try statement.bind(index + 1, version: version) }
            try bind(row, of: chunk, to: statement, from: index + 2, nulls)
            index += 2 + cells.count
        }
        statement.versions = isEven && first >= 0 ? first : nil
    }

    /// Binds `slots` of `row` to the parameters from `start` on.
    ///
    /// - Parameter nulls: which parameters hold NULL, where that is known.
    @inline(__always)
    func bind(
        _ row: Row, of chunk: RowChunk, to statement: Statement, from start: Int,
        _ nulls: UnsafeMutablePointer<Bool>? = nil
    ) throws {
        let handle = statement.handle
        let arena = chunk.arena
        var index = Int32(truncatingIfNeeded: start)
        // By place: an iterator retains.
        for place in cells.indices {
            let (slot, kind) = (cells[place].slot, cells[place].kind)
            var code: Int32
            if row.isPresent(slot) {
                if let nulls { nulls[Int(index)] = false }
                let cell = row[slot]
                if cell >> 63 == 0, cells[place].isText {
                    // The usual text: its bytes lie in the arena.
                    code = UnsafeRawPointer(arena + Int(cell >> 32)).withMemoryRebound(to: CChar.self, capacity: 1) {
                        coredata_sqlite_bind_text_static(
                            handle, index, $0, Int32(truncatingIfNeeded: cell & 0x7fff_ffff))
                    }
                } else {
                    code = try bind(cell, kind, slot, chunk, handle, index, statement)
                }
            } else if let nulls, nulls[Int(index)] {
                code = SQLITE_OK
            } else {
                code = sqlite3_bind_null(handle, index)
                if let nulls { nulls[Int(index)] = true }
            }
            if code != SQLITE_OK { try statement.check(code) }
            if statement.notesBindings { statement.note { describe(row, slot, chunk) } }
            index += 1
        }
    }

    @inline(__always)
    private func bind(
        _ cell: UInt64, _ kind: SlotKind, _ slot: Int, _ chunk: RowChunk, _ handle: OpaquePointer, _ index: Int32,
        _ statement: Statement
    ) throws -> Int32 {
        switch kind {
        case .int, .bool, .toOne, .entityTag:
            return sqlite3_bind_int64(handle, index, Int64(bitPattern: cell))
        case .double, .float, .date:
            let number = Double(bitPattern: cell)
            if number.isNaN { throw notANumber(slot) }
            return sqlite3_bind_double(handle, index, number)
        case .text, .uri:
            return try chunk.withBytes(of: cell) { bytes in
                guard let size = Int32(exactly: bytes.count) else { throw statement.tooLarge(bytes.count) }
                let base = bytes.baseAddress ?? UnsafeRawPointer(emptyByte)
                return coredata_sqlite_bind_text_static(
                    handle, index, base.assumingMemoryBound(to: CChar.self), size)
            }
        case .data, .externalData, .uuid, .transformable:
            return try chunk.withBytes(of: cell) { bytes in
                guard let size = Int32(exactly: bytes.count) else { throw statement.tooLarge(bytes.count) }
                return coredata_sqlite_bind_blob_static(
                    handle, index, bytes.baseAddress ?? UnsafeRawPointer(emptyByte), size)
            }
        case .decimal:
            let text = chunk.withBytes(of: cell) { String(decoding: $0, as: UTF8.self) }
            guard let number = Double(text) else { throw notANumber(slot) }
            // Core Data's own form, in a row of such a file that is copied.
            if number.isNaN {
                return chunk.withBytes(of: cell) { bytes in
                    let base = bytes.baseAddress ?? UnsafeRawPointer(emptyByte)
                    return coredata_sqlite_bind_text_static(
                        handle, index, base.assumingMemoryBound(to: CChar.self), Int32(truncatingIfNeeded: bytes.count))
                }
            }
            return sqlite3_bind_double(handle, index, number)
        }
    }

    private func describe(_ row: Row, _ slot: Int, _ chunk: RowChunk) -> Value {
        guard row.isPresent(slot) else { return .null }
        let cell = row[slot]
        switch entity.slots[slot].kind {
        case .int, .toOne, .entityTag: return .int(Int64(bitPattern: cell))
        case .bool: return .bool(cell != 0)
        case .double, .float, .date: return .double(Double(bitPattern: cell))
        case .text, .uri, .decimal:
            return .text(chunk.withBytes(of: cell) { String(decoding: $0, as: UTF8.self) })
        case .data, .externalData, .uuid, .transformable: return .data(chunk.withBytes(of: cell) { Data($0) })
        }
    }

    private func notANumber(_ slot: Int) -> StoreError {
        StoreError(
            134030,
            "\(entity.name).\(entity.slots[slot].name) is not a number (NaN), which SQLite cannot store. Give it a "
                + "value or nil.",
            entity: entity.name, property: entity.slots[slot].name)
    }
}
