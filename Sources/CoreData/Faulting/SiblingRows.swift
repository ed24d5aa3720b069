// Rows that were read with those of siblings, for faults that are made later.

import CoreDataValues

/// Rows that were read with the target of a to-one, for sibling targets that are not in memory yet.
struct SiblingRows {
    typealias Entry = (number: Int64, chunk: RowChunk, row: Int)

    /// The chunk whose rows point at these targets; retained, so that no other chunk gets its address.
    let source: RowChunk
    let slot: Int
    let root: EntityIndex
    /// The context's `rowTime` when they were read: after a change of it they may be old.
    let time: Int
    /// Sorted by number.
    let entries: [Entry]
    /// How many of these a context keeps.
    static var limit: Int { 4 }

    func entry(_ number: Int64) -> Entry? {
        var range = 0..<entries.count
        while !range.isEmpty {
            let middle = range.lowerBound + range.count / 2
            if entries[middle].number == number { return entries[middle] }
            range = entries[middle].number < number ? middle + 1..<range.upperBound : range.lowerBound..<middle
        }
        return nil
    }
}

/// The chunk of siblings that faults made one by one still join, until one of them is read.
struct OpenSiblings {
    let store: UInt16
    let root: EntityIndex
    let chunk: RowChunk
}
