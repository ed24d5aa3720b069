// The chunks of a row cache in the order of their arrival.

import CoreDataValues

/// Chunks under numbers that rise; the oldest leave first. A number below `first` is gone.
struct RowCacheQueue {
    private struct Item {
        var chunk: RowChunk?
        let place: Int
        let readAt: Double
        let bytes: Int
    }

    private var items: ContiguousArray<Item> = []
    /// Where the oldest lies in `items`; those before are gone.
    private var head = 0
    /// The number of the oldest.
    private var first = 1
    private(set) var bytes = 0

    /// The number that the next chunk gets.
    var next: Int { first &+ items.count &- head }

    func chunk(_ id: Int) -> RowChunk? { id < first ? nil : items[head &+ id &- first].chunk }

    func isHere(_ id: Int) -> Bool { id >= first && items[head &+ id &- first].chunk != nil }

    func readTime(_ id: Int) -> Double { id < first ? 0 : items[head + id - first].readAt }

    mutating func append(_ chunk: RowChunk, _ place: Int, _ now: Double) -> Int {
        let id = next
        let large = chunk.large.isEmpty ? 0 : chunk.large.reduce(0) { $0 + $1.count }
        let size = 192 + 8 * chunk.capacity * chunk.layout.stride + chunk.arenaCapacity + large
        items.append(Item(chunk: chunk, place: place, readAt: now, bytes: size))
        bytes += size
        return id
    }

    /// Lets one chunk go.
    mutating func drop(_ id: Int) {
        guard isHere(id) else { return }
        items[head + id - first].chunk = nil
        bytes -= items[head + id - first].bytes
    }

    /// Lets the chunks of some tables go.
    mutating func drop(where isDropped: (Int) -> Bool) {
        for id in first..<next where isDropped(items[head + id - first].place) { drop(id) }
    }

    /// Lets the oldest chunks go until the budget holds.
    mutating func shrink(to limit: Int) {
        while head < items.count, bytes > limit || items[head].chunk == nil {
            if items[head].chunk != nil {
                bytes -= items[head].bytes
                items[head].chunk = nil
            }
            head += 1
            first += 1
        }
        if head > 64, head > items.count / 2 {
            items.removeFirst(head)
            head = 0
        }
    }
}
