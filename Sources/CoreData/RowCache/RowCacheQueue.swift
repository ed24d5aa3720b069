// The chunks of a row cache in order of arrival.

import CoreDataValues

/// Chunks with ascending numbers; the oldest leave first. Numbers below `first` are gone.
///
/// A ring without Swift arrays: every row that is read singly is added here (300 instructions saved).
struct RowCacheQueue: ~Copyable {
    private struct Item {
        /// Retained; nil once the chunk was dropped.
        var chunk: Unmanaged<RowChunk>?
        let place: Int
        let readAt: Double
        let bytes: Int
    }

    private var items: UnsafeMutablePointer<Item>
    private var mask: Int
    /// The oldest chunk's number.
    private var first = 1
    /// The next chunk's number.
    private(set) var next = 1
    private(set) var bytes = 0
    /// How many chunks are retained.
    private var count = 0
    /// Up to this size the ring grows without checking how many of its chunks were dropped.
    private static let small = 4096

    init() {
        items = .allocate(capacity: 64)
        mask = 63
    }

    deinit {
        for id in first..<next { items[id & mask].chunk?.release() }
        items.deallocate()
    }

    @inline(__always)
    func chunk(_ id: Int) -> RowChunk? { id < first ? nil : items[id & mask].chunk?.takeUnretainedValue() }

    @inline(__always)
    func isHere(_ id: Int) -> Bool { id >= first && items[id & mask].chunk != nil }

    /// How many numbers the ring has room for.
    var room: Int { mask + 1 }

    func readTime(_ id: Int) -> Double { id < first ? 0 : items[id & mask].readAt }

    mutating func append(_ chunk: RowChunk, _ place: Int, _ now: Double) -> Int {
        if next &- first > mask { makeRoom() }
        let fill = chunk.fill
        var size = 192 &+ 8 &* chunk.capacity &* chunk.layout.stride &+ fill.pointee.arenaCapacity
        if !fill.pointee.large.isEmpty { size += fill.pointee.large.reduce(0) { $0 + $1.count } }
        let id = next
        (items + (id & mask)).initialize(
            to: Item(chunk: Unmanaged.passRetained(chunk), place: place, readAt: now, bytes: size))
        next = id &+ 1
        bytes &+= size
        count &+= 1
        return id
    }

    /// Makes room for a number. If most chunks of a large ring were replaced by others, drops its older half instead.
    private mutating func makeRoom() {
        guard mask > RowCacheQueue.small, count < mask / 4 else { return grow() }
        let end = next - mask / 2
        while first < end {
            drop(first)
            first += 1
        }
    }

    private mutating func grow() {
        let former = items
        let formerMask = mask
        mask = 2 * mask + 1
        items = .allocate(capacity: mask + 1)
        for id in first..<next { (items + (id & mask)).initialize(to: former[id & formerMask]) }
        former.deallocate()
    }

    /// Drops one chunk.
    mutating func drop(_ id: Int) {
        guard id >= first, let chunk = items[id & mask].chunk else { return }
        items[id & mask].chunk = nil
        bytes -= items[id & mask].bytes
        count -= 1
        chunk.release()
    }

    /// Drops the chunks of some tables.
    mutating func drop(where isDropped: (Int) -> Bool) {
        for id in first..<next where isDropped(items[id & mask].place) { drop(id) }
    }

    /// Drops the oldest chunks until the budget holds.
    mutating func shrink(to limit: Int) {
        while first < next, bytes > limit || items[first & mask].chunk == nil {
            drop(first)
            first += 1
        }
    }
}
