// Which large chunk of a row cache begins with a number.

import CoreDataValues
import Foundation

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
