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

    /// Rows of one entity: one decoder, one chunk.
    private func chunk(_ size: Int, of shape: RowShape) throws -> RowChunk? {
        let handle = handle
        var code = sqlite3_step(handle)
        guard code == SQLITE_ROW else { return try end(code) }
        let values = values
        guard let first = values.row(of: handle) else { return nil }
        var decoder = RowDecoder(
            shape.targets[0], entity: shape.first, keyColumn: 0, bytesPerRow: shape.bytesPerRow.load(ordering: .relaxed)
        )
        decoder.open(capacity: size, at: 0)
        let rowsLieStill = rowsLieStill
        while code == SQLITE_ROW {
            assert(!rowsLieStill || first == values.row(of: handle), "SQLite moved a row.")
            if let slot = decoder.decode(rowsLieStill ? first : values.row(of: handle) ?? first) {
                throw unreadable(slot, shape.first, shape, keyColumn: 0)
            }
            if decoder.isFull { break }
            code = sqlite3_step(handle)
        }
        rowsRead += decoder.count
        let chunk = decoder.close()
        shape.bytesPerRow.store(decoder.bytesPerRow, ordering: .relaxed)
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

/// Decodes rows of one entity into a chunk, through raw pointers: the chunk is asked only when its arena must grow or a
/// value is large.
struct RowDecoder {
    private let layout: RowLayout
    /// The shape's, which whoever decodes holds.
    private let firstCell: UnsafePointer<RowShape.Cell>
    private let cellEnd: UnsafePointer<RowShape.Cell>
    private let entityBits: UInt64
    private let keyColumn: Int32
    private let header: Int
    private let stride: Int
    private let maskWords: Int
    private let largeThreshold = RowChunk.largeThreshold
    private let arenaLimit = RowChunk.arenaLimit
    private(set) var chunk: RowChunk?
    /// The chunk's place in the batch, -1 while there is none.
    private(set) var position = -1
    private(set) var count = 0
    private var capacity = 0
    private var row: UnsafeMutablePointer<UInt64>
    private var arena: UnsafeMutablePointer<UInt8>
    private var used = 0
    private var room = 0
    /// What a row's texts and blobs have lately taken: the guess for the next chunk.
    private(set) var bytesPerRow: Int

    init(_ target: RowShape.Target, entity: EntityIndex, keyColumn: Int32, bytesPerRow: Int) {
        self.bytesPerRow = bytesPerRow
        layout = target.layout
        firstCell = target.cells
        cellEnd = target.cells + target.cellCount
        entityBits = UInt64(entity.rawValue) << 32
        self.keyColumn = keyColumn
        header = layout.header
        stride = layout.stride
        maskWords = layout.maskWords
        row = UnsafeMutablePointer(bitPattern: 8).unsafelyUnwrapped
        arena = emptyByte
    }

    var isFull: Bool { count == capacity || used >= arenaLimit }

    mutating func open(capacity: Int, at position: Int) {
        let chunk = RowChunk(
            layout: layout, capacity: capacity, arenaCapacity: capacity * (bytesPerRow + bytesPerRow / 32 + 8))
        self.chunk = chunk
        self.position = position
        self.capacity = capacity
        count = 0
        row = chunk.words + header
        arena = chunk.arena
        used = 0
        room = chunk.arenaCapacity
    }

    /// Ends the chunk and answers it.
    @discardableResult
    mutating func close() -> RowChunk? {
        guard let chunk else { return nil }
        chunk.count = count
        chunk.arenaUsed = used
        chunk.trimArena()
        if count > 0 {
            // A few rows say less than a full chunk.
            bytesPerRow = count < 32 ? (7 * bytesPerRow + used / count) / 8 : used / count
        }
        self.chunk = nil
        position = -1
        return chunk
    }

    /// Decodes the statement's current row; answers the slot of a value that cannot be read, nil when all
    /// could.
    mutating func decode(_ handle: OpaquePointer, _ values: RowValues) -> Int? {
        values.row(of: handle).flatMap { decode($0) }
    }

    /// The same for a row of which is known where it lies.
    @inline(__always)
    mutating func decode(_ values: RowValues.Row) -> Int? {
        // Asked once a row, not once a value (3 instructions each).
        values.isEven ? fill { values.even($0) } : fill(asking: values)
    }

    @inline(never)
    private mutating func fill(asking values: RowValues.Row) -> Int? { fill { values.asked($0) } }

    @inline(__always)
    private mutating func fill(_ valueOf: (_ column: Int32) -> OpaquePointer?) -> Int? {
        let row = row
        let start = row - header
        start[0] = UInt64(bitPattern: sqlite3_value_int64(valueOf(keyColumn)))
        let version = int(valueOf(keyColumn &+ 1)) ?? -1
        start[1] = UInt64(UInt32(truncatingIfNeeded: version)) | entityBits
        row[-1] = 0
        if maskWords > 1 { for word in 1..<maskWords { row[-1 - word] = 0 } }
        // By address: an iterator copies each cell whole.
        var cell = firstCell
        while cell < cellEnd {
            defer { cell += 1 }
            let value = valueOf(cell.pointee.column)
            guard let content = decode(value, cell) else {
                if cell.pointee.kind == .uuid, !isNull(value) { return cell.pointee.slot }
                continue
            }
            row[cell.pointee.slot] = content
            row[cell.pointee.word] |= cell.pointee.bit
        }
        self.row = row + stride
        count &+= 1
        return nil
    }

    /// By the attribute's kind, never by the column's type: a whole date lies there as an integer. nil for NULL and for what cannot
    /// be read.
    ///
    /// SQLite answers 0 or no address for NULL, so that only of those it is asked whether they are NULL (10 instructions a value).
    @inline(__always)
    private mutating func decode(_ value: OpaquePointer?, _ cell: UnsafePointer<RowShape.Cell>) -> UInt64? {
        switch cell.pointee.kind {
        case .int, .toOne: return int(value).map { UInt64(bitPattern: $0) }
        case .bool: return int(value).map { $0 == 0 ? 0 : 1 }
        case .double, .date: return double(value)?.bitPattern
        case .float: return double(value).map { Double(Float($0)).bitPattern }
        case .text, .uri:
            guard let text = sqlite3_value_text(value) else { return isNull(value) ? nil : empty }
            return store(text, Int(sqlite3_value_bytes(value)))
        case .data, .externalData, .transformable:
            if isNull(value) { return nil }
            guard let bytes = sqlite3_value_blob(value) else { return empty }
            return store(bytes.assumingMemoryBound(to: UInt8.self), Int(sqlite3_value_bytes(value)))
        case .uuid:
            guard let bytes = sqlite3_value_blob(value), sqlite3_value_bytes(value) == 16 else { return nil }
            return store(bytes.assumingMemoryBound(to: UInt8.self), 16)
        case .decimal: return isNull(value) ? nil : decimal(value)
        case .entityTag:
            guard let number = int(value), cell.pointee.tags.contains(number) else { return nil }
            return UInt64(bitPattern: number)
        }
    }

    @inline(__always)
    private func isNull(_ value: OpaquePointer?) -> Bool { sqlite3_value_type(value) == SQLITE_NULL }

    @inline(__always)
    private func int(_ value: OpaquePointer?) -> Int64? {
        let number = sqlite3_value_int64(value)
        return number == 0 && isNull(value) ? nil : number
    }

    @inline(__always)
    private func double(_ value: OpaquePointer?) -> Double? {
        let number = sqlite3_value_double(value)
        return number.bitPattern == 0 && isNull(value) ? nil : number
    }

    private var empty: UInt64 { UInt64(truncatingIfNeeded: used) << 32 }

    @inline(__always)
    private mutating func store(_ bytes: UnsafePointer<UInt8>, _ size: Int) -> UInt64 {
        guard size > 0 else { return empty }
        if size > largeThreshold { return large(bytes, size) }
        var used = used
        if used &+ size > room {
            grow(size)
            used = self.used
        }
        memcpy(arena + used, bytes, size)
        self.used = used &+ size
        return UInt64(truncatingIfNeeded: used) << 32 | UInt64(truncatingIfNeeded: size)
    }

    @inline(never)
    private mutating func large(_ bytes: UnsafePointer<UInt8>, _ size: Int) -> UInt64 {
        chunk?.store(UnsafeRawBufferPointer(start: bytes, count: size)) ?? 0
    }

    @inline(never)
    private mutating func grow(_ size: Int) {
        guard let chunk else { return }
        chunk.arenaUsed = used
        chunk.reserveArena(size)
        arena = chunk.arena
        room = chunk.arenaCapacity
    }

    /// Decimals lie there as reals or whole numbers; the cell is the shortest text that means the same.
    @inline(never)
    private mutating func decimal(_ value: OpaquePointer?) -> UInt64? {
        guard sqlite3_value_type(value) == SQLITE_FLOAT else {
            return sqlite3_value_text(value).map { store($0, Int(sqlite3_value_bytes(value))) } ?? empty
        }
        let shortest = "\(sqlite3_value_double(value))"
        var text = shortest
        if shortest.hasSuffix(".0") {
            text = String(shortest.dropLast(2))
        } else if shortest.contains("e") {
            text = Decimal(string: shortest)?.description ?? shortest
        }
        return text.withUTF8 { bytes in bytes.baseAddress.map { store($0, bytes.count) } ?? empty }
    }
}

/// How the values of a statement's rows are found.
///
/// A row is a range of the registers of SQLite's machine (`OP_ResultRow`), which lie side by side: with the address of one value and the
/// distance between two the others need no call (40 instructions each, ten times a row). That they lie so is measured at the
/// statement's first row; if they did not, each would be asked for.
struct RowValues {
    /// The distance in bytes, 0 when every value is asked for.
    private let distance: Int

    /// - Parameter handle: a statement that has just answered a row.
    init(measuring handle: OpaquePointer) {
        let count = sqlite3_column_count(handle)
        let addresses = (0..<count).map { Int(bitPattern: sqlite3_column_value(handle, $0)) }
        let distance = addresses.count > 1 ? addresses[1] - addresses[0] : 0
        let isEven = distance > 0 && zip(addresses, addresses.dropFirst()).allSatisfy { $1 - $0 == distance }
        self.distance = isEven ? distance : 0
    }

    /// The values of the present row.
    struct Row: Equatable {
        fileprivate let first: OpaquePointer
        fileprivate let distance: Int
        fileprivate let handle: OpaquePointer

        /// Whether `even` answers; else `asked` does.
        @inline(__always)
        var isEven: Bool { distance > 0 }

        @inline(__always)
        func even(_ column: Int32) -> OpaquePointer { OpaquePointer(UnsafeRawPointer(first) + Int(column) &* distance) }

        func asked(_ column: Int32) -> OpaquePointer? { sqlite3_column_value(handle, column) }
    }

    @inline(__always)
    func row(of handle: OpaquePointer) -> Row? {
        sqlite3_column_value(handle, 0).map { Row(first: $0, distance: distance, handle: handle) }
    }
}
