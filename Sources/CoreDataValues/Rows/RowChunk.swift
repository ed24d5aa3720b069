// Rows by the batch: what stores hand out and what saves hand in.

import Foundation

/// Up to 256 rows of one entity, row after row, with their texts and blobs in one arena.
///
/// One thread writes a chunk and seals it by letting it go; from then on nobody changes it and any number of contexts and
/// threads may read it (I-1). Objects hold the chunk of their row; the row is their snapshot.
///
/// A cell of an arena kind holds `offset << 32 | length`. A value over 1 KB is a buffer of its own in `large`, and its cell is
/// `1 << 63 | index`. A cell whose mask bit is clear is null, and its bits mean nothing.
@usableFromInline
package final class RowChunk: @unchecked Sendable {
    @usableFromInline package let layout: RowLayout
    package let capacity: Int
    /// The start of the first row's header.
    @usableFromInline package let words: UnsafeMutablePointer<UInt64>
    /// Everything that changes while the chunk is written. Behind a pointer, because a stored property of a class that other
    /// modules see is checked for exclusivity at each access (76 instructions, six times a row).
    package let fill: UnsafeMutablePointer<ChunkFill>
    /// The arena inside the block, as long as it suffices: few rows ask for memory once.
    private let innerArena: UnsafeMutablePointer<UInt8>?
    /// Where the block comes from; nil when it is `malloc`'s.
    private let slabs: ChunkSlabs?
    private let slab: UnsafeMutablePointer<ChunkSlabs.Slab>?
    private static var fewRows: Int { 4 }

    package var count: Int {
        get { fill.pointee.count }
        set { fill.pointee.count = newValue }
    }
    package var arena: UnsafeMutablePointer<UInt8> { fill.pointee.arena }
    package var arenaUsed: Int {
        get { fill.pointee.arenaUsed }
        set { fill.pointee.arenaUsed = newValue }
    }
    package var arenaCapacity: Int { fill.pointee.arenaCapacity }
    package var large: ContiguousArray<Data> { fill.pointee.large }

    /// Values longer than this are kept in `large`.
    package static var largeThreshold: Int { 1024 }
    /// A chunk takes no further row once its arena holds this much.
    package static var arenaLimit: Int { 64 * 1024 }
    package static var maximumCount: Int { 256 }

    package init(layout: RowLayout, capacity: Int, arenaCapacity: Int = 0) {
        self.layout = layout
        self.capacity = capacity
        // One block for what changes and the rows behind it; of few rows the arena lies there too, and takes what is left.
        let fillSize = (MemoryLayout<ChunkFill>.size + 15) & ~15
        let rowSize = max(1, capacity * layout.stride) * 8
        var room = max(64, arenaCapacity)
        var isInside = capacity <= RowChunk.fewRows && room <= RowChunk.largeThreshold
        let block: UnsafeMutableRawPointer
        slabs = ChunkSlabs.fitting(fillSize + rowSize + room)
        if let slabs {
            (block, slab) = slabs.allocate()
            isInside = true
            room = slabs.blockSize - fillSize - rowSize
        } else {
            block = RowChunk.memory(fillSize + rowSize + (isInside ? room : 0))
            slab = nil
        }
        fill = block.bindMemory(to: ChunkFill.self, capacity: 1)
        words = (block + fillSize).bindMemory(to: UInt64.self, capacity: max(1, capacity * layout.stride))
        innerArena = isInside ? (block + fillSize + rowSize).bindMemory(to: UInt8.self, capacity: room) : nil
        fill.initialize(to: ChunkFill(arena: innerArena ?? RowChunk.arena(room), arenaCapacity: room))
    }

    deinit {
        if arena != innerArena { free(arena) }
        fill.deinitialize(count: 1)
        if let slabs, let slab { slabs.release(fill, slab) } else { free(fill) }
    }

    /// Memory from `malloc` itself: Swift's own allocation takes the aligned way, which costs twice as much.
    static func memory(_ byteCount: Int) -> UnsafeMutableRawPointer {
        guard let memory = malloc(byteCount) else { preconditionFailure("There is no memory left.") }
        return memory
    }

    private static func arena(_ room: Int) -> UnsafeMutablePointer<UInt8> {
        memory(room).bindMemory(to: UInt8.self, capacity: room)
    }

    /// The address of the first cell of row `index`.
    @inlinable
    package func row(_ index: Int) -> UnsafeMutablePointer<UInt64> {
        words + (index &* layout.stride &+ layout.header)
    }

    /// Makes room for `byteCount` more bytes in the arena. The arena may move.
    package func reserveArena(_ byteCount: Int) {
        guard arenaUsed + byteCount > arenaCapacity else { return }
        var room = arenaCapacity
        while arenaUsed + byteCount > room { room *= 2 }
        resizeArena(room)
    }

    /// Gives back what the arena does not use.
    package func trimArena() {
        if arenaCapacity > arenaUsed + arenaUsed / 8 + 512, arena != innerArena { resizeArena(max(arenaUsed, 64)) }
    }

    private func resizeArena(_ room: Int) {
        let moved = RowChunk.arena(room)
        memcpy(moved, arena, arenaUsed)
        if arena != innerArena { free(arena) }
        fill.pointee.arena = moved
        fill.pointee.arenaCapacity = room
    }

    /// Whether another row may be added.
    package var isFull: Bool { count == capacity || arenaUsed >= RowChunk.arenaLimit }

    /// Copies bytes into the arena, or into a buffer of their own, and answers the cell.
    package func store(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
        guard bytes.count <= RowChunk.largeThreshold else { return keep(Data(bytes)) }
        reserveArena(bytes.count)
        if let base = bytes.baseAddress, bytes.count > 0 { memcpy(arena + arenaUsed, base, bytes.count) }
        let cell = UInt64(arenaUsed) << 32 | UInt64(bytes.count)
        arenaUsed += bytes.count
        return cell
    }

    /// The same for bytes that somebody holds already: large ones are shared, not copied.
    package func store(_ data: Data) -> UInt64 {
        data.count > RowChunk.largeThreshold ? keep(data) : data.withUnsafeBytes { store($0) }
    }

    private func keep(_ large: Data) -> UInt64 {
        fill.pointee.large.append(large)
        return 1 << 63 | UInt64(fill.pointee.large.count - 1)
    }

    /// Calls `body` with the bytes of an arena cell.
    package func withBytes<R>(of cell: UInt64, _ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
        if cell >> 63 == 0 {
            return try body(
                UnsafeRawBufferPointer(start: arena + Int(cell >> 32), count: Int(cell & 0xffff_ffff)))
        }
        return try largeData(cell).withUnsafeBytes(body)
    }

    /// The bytes of a cell that has them in a buffer of their own.
    package func largeData(_ cell: UInt64) -> Data { large[Int(cell & ~(1 << 63))] }

    /// Starts a row: writes its header with an empty mask and answers its first cell.
    package func appendRow(key: Int64, version: Int32, entity: EntityIndex) -> UnsafeMutablePointer<UInt64> {
        precondition(count < capacity, "a chunk of \(capacity) rows is full")
        let row = row(count)
        count += 1
        row.setHeader(layout, key: key, version: version, entity: entity)
        return row
    }
}

/// What changes of a chunk while it is written.
package struct ChunkFill {
    package var count = 0
    package var arena: UnsafeMutablePointer<UInt8>
    package var arenaUsed = 0
    package var arenaCapacity: Int
    package var large: ContiguousArray<Data> = []
}

/// A row, by the address of its first cell.
@usableFromInline
package typealias Row = UnsafeMutablePointer<UInt64>

// Inlined into other modules: each of these is asked for every row or cell (an outlined call costs 15 instructions and its spills).
extension UnsafeMutablePointer<UInt64> {
    @inlinable
    package func setHeader(_ layout: RowLayout, key: Int64, version: Int32, entity: EntityIndex) {
        let header = self - layout.header
        header[0] = UInt64(bitPattern: key)
        header[1] = UInt64(UInt32(bitPattern: version)) | UInt64(entity.rawValue) << 32
        for word in 0..<layout.maskWords { self[-1 - word] = 0 }
    }

    @inlinable
    package func key(_ layout: RowLayout) -> Int64 { Int64(bitPattern: self[-layout.header]) }

    /// `Z_OPT`; -1 when the store has NULL there.
    @inlinable
    package func version(_ layout: RowLayout) -> Int32 {
        Int32(truncatingIfNeeded: self[1 - layout.header])
    }

    @inlinable
    package func entity(_ layout: RowLayout) -> EntityIndex {
        EntityIndex(rawValue: UInt16(truncatingIfNeeded: self[1 - layout.header] >> 32))
    }

    @inlinable
    package func isPresent(_ slot: Int) -> Bool { self[-1 - (slot >> 6)] >> UInt64(slot & 63) & 1 == 1 }

    @inlinable
    package func setCell(_ slot: Int, _ bits: UInt64) {
        self[slot] = bits
        self[-1 - (slot >> 6)] |= 1 << UInt64(slot & 63)
    }
}

/// Part of a fetch's result, in the order asked for.
package struct RowBatch: Sendable {
    /// Which row of which chunk.
    package struct Reference: Sendable {
        package let chunk: UInt32
        package let row: UInt32
        package init(chunk: Int, row: Int) {
            self.chunk = UInt32(chunk)
            self.row = UInt32(row)
        }
    }
    /// The only chunk, or the first of those named by `order`.
    package let first: RowChunk
    private let others: [RowChunk]
    /// The order of the rows; nil when there is one chunk and its order is the result's.
    package let order: [Reference]?

    package init(chunk: RowChunk) {
        first = chunk
        others = []
        order = nil
    }

    /// - Parameter chunks: at least one, one for each entity that occurs.
    package init(first: RowChunk, others: [RowChunk], order: [Reference]) {
        self.first = first
        self.others = others
        self.order = order
    }

    package var chunks: [RowChunk] { [first] + others }

    /// The keys of the rows, in order.
    package func keys(inStore store: UInt16) -> [ObjectKey] {
        func key(_ chunk: RowChunk, _ row: Int) -> ObjectKey {
            let number = chunk.row(row).key(chunk.layout)
            return ObjectKey(number: number, entity: chunk.layout.entity, store: number > 0 ? store : 0)
        }
        if let order { return order.map { key(chunks[Int($0.chunk)], Int($0.row)) } }
        return (0..<first.count).map { key(first, $0) }
    }

    /// Where a row stands, nil when it is not here. Costs 5 instructions a row.
    package func place(of number: Int64, _ entity: EntityIndex) -> Int? {
        guard let order else { return first.layout.entity == entity ? first.place(of: number) : nil }
        guard let chunk = chunks.firstIndex(where: { $0.layout.entity == entity && $0.place(of: number) != nil }),
            let row = chunks[chunk].place(of: number)
        else { return nil }
        return order.firstIndex { $0.chunk == chunk && $0.row == row }
    }

    package var count: Int { order?.count ?? first.count }
}

extension RowChunk {
    fileprivate func place(of number: Int64) -> Int? {
        var row = UnsafePointer(row(0)) - layout.header
        for place in 0..<count {
            if row.pointee == UInt64(bitPattern: number) { return place }
            row += layout.stride
        }
        return nil
    }
}
