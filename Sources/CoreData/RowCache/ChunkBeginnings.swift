// Which large chunk of a row cache begins with a number.

import CoreDataValues
import Foundation

/// Chunks by the numbers of their first rows. Each number has one place, which it shares with others: a later one puts it out. A
/// dictionary takes 450 instructions a chunk longer.
struct ChunkBeginnings: ~Copyable {
    private static let count = 512
    private struct Entry {
        var number: Int64
        /// 0 for none.
        var id: Int
    }
    /// nil before the first chunk.
    private var entries: UnsafeMutablePointer<Entry>?

    init() {}

    deinit { free(entries) }

    /// Enters a chunk; answers the one that began with the number before, which may be gone.
    mutating func replace(_ number: Int64, by id: Int) -> Int? {
        let hash = UInt64(bitPattern: number) &* 0x9E37_79B9_7F4A_7C15
        let entry = (entries ?? makeEntries()) + Int(truncatingIfNeeded: hash >> 55)
        let former = entry.pointee.id
        let isSame = former != 0 && entry.pointee.number == number
        entry.pointee = Entry(number: number, id: id)
        return isSame ? former : nil
    }

    @inline(never)
    private mutating func makeEntries() -> UnsafeMutablePointer<Entry> {
        guard let memory = calloc(ChunkBeginnings.count, MemoryLayout<Entry>.stride) else {
            misuse("There is no memory left.")
        }
        let made = memory.bindMemory(to: Entry.self, capacity: ChunkBeginnings.count)
        entries = made
        return made
    }
}
