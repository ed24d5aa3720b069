// The rows that many sources' to-one leads to, by store and number.

import CoreDataValues

/// The rows that many sources' to-one leads to, by store and number.
final class TargetRows {
    struct Name: Hashable {
        let store: UInt16
        let number: Int64
    }

    struct Place {
        let chunk: RowChunk
        let row: Int
    }

    /// The context's `rowTime` when they were read; rows may have been read again since.
    let readAt: Int
    var rows: [Name: Place] = [:]
    /// Prefetched relationships of the targets themselves.
    private(set) var beyond: [PrefetchedLevel] = []

    init(readAt: Int) { self.readAt = readAt }

    func add(_ level: PrefetchedLevel) { beyond.add(level) }
}
