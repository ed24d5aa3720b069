// Finds rows in a row cache's chunks, for one root entity in one store.

import CoreDataValues
import Foundation

/// Finds rows by number. Small chunks are indexed row by row. Large ones wait for the next look-up, which notes their
/// range if the numbers ascend and else indexes the rows.
///
/// The index has four slots in each bucket, and a fifth row displaces the oldest: a cache may forget.
struct RowCacheTable: ~Copyable {
    /// Chunks with more rows than this are indexed by the next look-up.
    private static let small = 8
    private static let maximumBuckets = 1 << 16
    /// More rows than this forgotten one by one empty the table.
    private static let forgottenLimit = 16_384

    /// The number of the last save or removal of rows of this table.
    var lastSave = 0

    private struct Slot {
        var number: Int64 = 0
        /// The chunk's number and the row's index; 0 for an empty slot.
        var mark = 0
        var id: Int { mark >> 8 }
        var row: Int { mark & 255 }
    }

    private struct Span {
        let low: Int64
        let high: Int64
        let id: Int
    }

    /// Buckets of four slots; nil before the first row.
    private var slots: UnsafeMutablePointer<Slot>?
    private var slotCount = 0
    private var indexed = 0
    /// The number ranges of chunks with ascending rows, in order of the chunks' numbers.
    private var spans: ContiguousArray<Span> = []
    /// Large chunks added since the last look-up.
    private var waiting: ContiguousArray<Int> = []
    /// The last large chunk that starts with a number: reading the same rows again replaces it.
    private var beginnings = ChunkBeginnings()
    private var trimAt = 256
    /// The first chunk that counts for a row again, if the row was forgotten.
    private var forgotten: [Int64: Int] = [:]
    private var justForgotten: ContiguousArray<(id: Int, numbers: [Int64])> = []
    private var forgottenCount = 0

    init() {}

    deinit { free(slots) }

    // MARK: Looking up

    /// Returns the latest chunk with a row, and the row's index in it.
    mutating func find(_ number: Int64, _ queue: borrowing RowCacheQueue) -> (id: Int, row: Int)? {
        if !waiting.isEmpty || !justForgotten.isEmpty { index(queue) }
        var best = indexedRow(number, queue)
        var place = spans.count - 1
        while place >= 0, spans[place].id > best?.id ?? 0 {
            let span = spans[place]
            if span.low <= number, number <= span.high, let chunk = queue.chunk(span.id),
                let row = RowCacheTable.row(of: number, in: chunk)
            {
                best = (span.id, row)
            }
            place -= 1
        }
        guard let best, forgotten.isEmpty || forgotten[number] ?? 0 <= best.id else { return nil }
        return best
    }

    @inline(__always)
    private func indexedRow(_ number: Int64, _ queue: borrowing RowCacheQueue) -> (id: Int, row: Int)? {
        guard let slots else { return nil }
        let bucket = slots + bucket(number)
        for place in 0..<4 where bucket[place].number == number && bucket[place].mark != 0 {
            return queue.isHere(bucket[place].id) ? (bucket[place].id, bucket[place].row) : nil
        }
        return nil
    }

    /// Finds a row in a chunk with ascending numbers, by binary search.
    private static func row(of number: Int64, in chunk: RowChunk) -> Int? {
        var low = 0
        var high = chunk.count
        while low < high {
            let middle = (low + high) / 2
            if chunk.row(middle).key(chunk.layout) < number { low = middle + 1 } else { high = middle }
        }
        return low < chunk.count && chunk.row(low).key(chunk.layout) == number ? low : nil
    }

    /// Indexes the chunks and forgotten rows that were left for this look-up.
    private mutating func index(_ queue: borrowing RowCacheQueue) {
        for id in waiting {
            guard let chunk = queue.chunk(id) else { continue }
            if let ends = RowCacheTable.ends(chunk) {
                spans.append(Span(low: ends.low, high: ends.high, id: id))
            } else {
                for row in 0..<chunk.count { _ = index(chunk.row(row).key(chunk.layout), id, row) }
            }
        }
        waiting.removeAll()
        for (id, numbers) in justForgotten {
            for number in numbers { forgotten[number] = max(forgotten[number] ?? 0, id) }
        }
        justForgotten.removeAll()
    }

    /// The first and the last number if the numbers ascend.
    private static func ends(_ chunk: RowChunk) -> (low: Int64, high: Int64)? {
        let low = chunk.row(0).key(chunk.layout)
        var last = low
        for row in 1..<max(1, chunk.count) {
            let next = chunk.row(row).key(chunk.layout)
            if next < last { return nil }
            last = next
        }
        return (low, last)
    }

    // MARK: Adding

    mutating func add(_ id: Int, _ chunk: RowChunk, _ queue: inout RowCacheQueue) {
        guard chunk.count > RowCacheTable.small else {
            for row in 0..<chunk.count {
                let former = index(chunk.row(row).key(chunk.layout), id, row)
                // The former chunk had only this row.
                if former != 0, former != id, queue.chunk(former)?.count == 1 { queue.drop(former) }
            }
            return
        }
        let first = chunk.row(0).key(chunk.layout)
        if let former = beginnings.replace(first, by: id), let old = queue.chunk(former),
            RowCacheTable.haveSameRows(old, chunk)
        {
            queue.drop(former)
        }
        waiting.append(id)
        if waiting.count + spans.count > trimAt { trim(queue) }
    }

    private static func haveSameRows(_ a: RowChunk, _ b: RowChunk) -> Bool {
        guard a.count == b.count else { return false }
        return (0..<a.count).allSatisfy { a.row($0).key(a.layout) == b.row($0).key(b.layout) }
    }

    private mutating func trim(_ queue: borrowing RowCacheQueue) {
        waiting.removeAll { !queue.isHere($0) }
        spans.removeAll { !queue.isHere($0.id) }
        trimAt = max(256, 2 * (waiting.count + spans.count))
    }

    @inline(__always)
    private func bucket(_ number: Int64) -> Int {
        let hash = UInt64(bitPattern: number) &* 0x9E37_79B9_7F4A_7C15
        return Int(truncatingIfNeeded: hash >> 32) & (slotCount / 4 &- 1) &* 4
    }

    /// Notes a row's place unless a later chunk has it. Returns the chunk noted before, or 0.
    private mutating func index(_ number: Int64, _ id: Int, _ row: Int) -> Int {
        if indexed >= slotCount / 2 { grow() }
        guard let slots else { return 0 }
        let bucket = slots + bucket(number)
        var oldest = 0
        for place in 0..<4 {
            let mark = bucket[place].mark
            if mark != 0, bucket[place].number == number {
                if mark >> 8 <= id { bucket[place].mark = id << 8 | row }
                return mark >> 8
            }
            if mark < bucket[oldest].mark { oldest = place }
        }
        if bucket[oldest].mark == 0 { indexed += 1 } else { displace(bucket[oldest]) }
        bucket[oldest] = Slot(number: number, mark: id << 8 | row)
        return 0
    }

    /// Forgets a row that lost its place in a bucket, so that older chunks with the row do not answer for it.
    private mutating func displace(_ slot: Slot) {
        guard spans.first.map({ $0.id < slot.id }) == true || waiting.first.map({ $0 < slot.id }) == true else {
            return
        }
        forgotten[slot.number] = max(forgotten[slot.number] ?? 0, slot.id + 1)
        forgottenCount += 1
        guard forgottenCount > RowCacheTable.forgottenLimit else { return }
        spans.removeAll()
        waiting.removeAll()
    }

    private mutating func grow() {
        guard slotCount < 4 * RowCacheTable.maximumBuckets else { return }
        let (former, count) = (slots, slotCount)
        slotCount = min(max(128, 4 * count), 4 * RowCacheTable.maximumBuckets)
        // Zeros are empty slots, and calloc has zeroed pages for nothing.
        guard let memory = calloc(slotCount, MemoryLayout<Slot>.stride) else { misuse("There is no memory left.") }
        slots = memory.bindMemory(to: Slot.self, capacity: slotCount)
        indexed = 0
        guard let former else { return }
        for place in 0..<count where former[place].mark != 0 {
            _ = index(former[place].number, former[place].id, former[place].row)
        }
        free(former)
    }

    // MARK: Forgetting

    /// Excludes chunks before `id` for these rows. Returns false if more rows were forgotten than are worth keeping.
    mutating func forget(_ numbers: [Int64], before id: Int) -> Bool {
        guard slots != nil || !waiting.isEmpty || !spans.isEmpty else { return true }
        forgottenCount += numbers.count
        justForgotten.append((id, numbers))
        return forgottenCount <= RowCacheTable.forgottenLimit
    }
}

// MARK: Large chunks

/// Chunks by the numbers of their first rows. Each number has one place. Where two would share it the table grows, up to 16,384 places,
/// as many as a million rows need; beyond that the later one puts the former out. A dictionary takes 450 instructions a chunk longer.
struct ChunkBeginnings: ~Copyable {
    private static let mostBits = 14
    private struct Entry {
        var number: Int64
        /// 0 for none.
        var id: Int
    }
    /// nil before the first chunk.
    private var entries: UnsafeMutablePointer<Entry>?
    /// There are so many powers of two of places.
    private var bits = 9

    init() {}

    deinit { free(entries) }

    /// Enters a chunk; answers the one that began with the number before, which may be gone.
    mutating func replace(_ number: Int64, by id: Int) -> Int? {
        var entry = (entries ?? makeEntries()) + place(number)
        while entry.pointee.id != 0, entry.pointee.number != number, bits < ChunkBeginnings.mostBits {
            entry = grow() + place(number)
        }
        let former = entry.pointee.id
        let isSame = former != 0 && entry.pointee.number == number
        entry.pointee = Entry(number: number, id: id)
        return isSame ? former : nil
    }

    private func place(_ number: Int64) -> Int {
        Int(truncatingIfNeeded: (UInt64(bitPattern: number) &* 0x9E37_79B9_7F4A_7C15) >> UInt64(64 - bits))
    }

    /// Gives the entries four times as many places. Two of them never come to share one.
    @inline(never)
    private mutating func grow() -> UnsafeMutablePointer<Entry> {
        let (former, count) = (entries, 1 << bits)
        bits = min(bits + 2, ChunkBeginnings.mostBits)
        let made = makeEntries()
        guard let former else { return made }
        for entry in UnsafeBufferPointer(start: former, count: count) where entry.id != 0 {
            made[place(entry.number)] = entry
        }
        free(former)
        return made
    }

    @inline(never)
    private mutating func makeEntries() -> UnsafeMutablePointer<Entry> {
        guard let memory = calloc(1 << bits, MemoryLayout<Entry>.stride) else { misuse("There is no memory left.") }
        let made = memory.bindMemory(to: Entry.self, capacity: 1 << bits)
        entries = made
        return made
    }
}
