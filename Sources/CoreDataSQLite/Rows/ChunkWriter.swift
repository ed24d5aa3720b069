// Fills one chunk from the current row of a statement.

import CCoreDataSQLite
import CoreDataSQL
import CoreDataValues
import Foundation

/// Writes rows of one entity through raw pointers: the chunk is asked only when its arena must grow or a
/// value is large.
struct ChunkWriter {
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
    mutating func decode(_ values: RowValues.Row) -> Int? {
        let row = row
        let start = row - header
        start[0] = UInt64(bitPattern: sqlite3_value_int64(values[keyColumn]))
        let version = values[keyColumn &+ 1]
        let bits: UInt32 =
            sqlite3_value_type(version) == SQLITE_NULL
            ? .max : UInt32(truncatingIfNeeded: sqlite3_value_int64(version))
        start[1] = UInt64(bits) | entityBits
        row[-1] = 0
        if maskWords > 1 { for word in 1..<maskWords { row[-1 - word] = 0 } }
        // By address: an iterator copies each cell whole.
        var cell = firstCell
        while cell < cellEnd {
            defer { cell += 1 }
            let value = values[cell.pointee.column]
            let type = sqlite3_value_type(value)
            if type == SQLITE_NULL { continue }
            guard let content = decode(value, type, cell) else {
                if cell.pointee.kind == .uuid { return cell.pointee.slot }
                continue
            }
            row[cell.pointee.slot] = content
            row[cell.pointee.word] |= cell.pointee.bit
        }
        self.row = row + stride
        count &+= 1
        return nil
    }

    /// By the attribute's kind, never by the column's type: a whole date lies there as an integer.
    @inline(__always)
    private mutating func decode(_ value: OpaquePointer?, _ type: Int32, _ cell: UnsafePointer<RowShape.Cell>) -> UInt64? {
        switch cell.pointee.kind {
        case .int, .toOne: return UInt64(bitPattern: sqlite3_value_int64(value))
        case .bool: return sqlite3_value_int64(value) == 0 ? 0 : 1
        case .double, .date: return sqlite3_value_double(value).bitPattern
        case .float: return Double(Float(sqlite3_value_double(value))).bitPattern
        case .text, .uri: return store(sqlite3_value_text(value), value)
        case .data, .externalData, .transformable:
            return store(sqlite3_value_blob(value)?.assumingMemoryBound(to: UInt8.self), value)
        case .uuid:
            guard let bytes = sqlite3_value_blob(value), sqlite3_value_bytes(value) == 16 else { return nil }
            return store(bytes.assumingMemoryBound(to: UInt8.self), value)
        case .decimal: return decimal(value, type)
        case .entityTag:
            let number = sqlite3_value_int64(value)
            return cell.pointee.tags.contains(number) ? UInt64(bitPattern: number) : nil
        }
    }

    @inline(__always)
    private mutating func store(_ bytes: UnsafePointer<UInt8>?, _ value: OpaquePointer?) -> UInt64 {
        store(bytes, Int(sqlite3_value_bytes(value)))
    }

    @inline(__always)
    private mutating func store(_ bytes: UnsafePointer<UInt8>?, _ size: Int) -> UInt64 {
        guard let bytes, size > 0 else { return UInt64(truncatingIfNeeded: used) << 32 }
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
    private mutating func decimal(_ value: OpaquePointer?, _ type: Int32) -> UInt64? {
        guard type == SQLITE_FLOAT else { return store(sqlite3_value_text(value), value) }
        let shortest = "\(sqlite3_value_double(value))"
        var text = shortest
        if shortest.hasSuffix(".0") {
            text = String(shortest.dropLast(2))
        } else if shortest.contains("e") {
            text = Decimal(string: shortest)?.description ?? shortest
        }
        return text.withUTF8 { store($0.baseAddress, $0.count) }
    }
}
