// The members of one owner among rows that were read for many owners at once.

import CoreDataValues

/// Which rows of which chunks are an owner's members, in order. It holds rows, no objects, so that it forms no cycle (I-4).
final class MemberSlices {
    /// Neighbours in one chunk.
    struct Run {
        let chunk: RowChunk
        var rows: Range<Int>
    }

    private(set) var runs: ContiguousArray<Run> = []
    private(set) var count = 0
    /// What was read beforehand for the members themselves.
    private(set) var beyond: [PrefetchedLevel] = []

    init() {}

    convenience init(_ batches: [RowBatch]) {
        self.init()
        for batch in batches { append(batch, 0..<batch.count) }
    }

    /// Adds part of a batch, by places in its order.
    func append(_ batch: RowBatch, _ places: Range<Int>) {
        guard let order = batch.order else { return append(batch.first, places) }
        let chunks = batch.chunks
        for reference in order[places] {
            let row = Int(reference.row)
            append(chunks[Int(reference.chunk)], row..<row + 1)
        }
    }

    private func append(_ chunk: RowChunk, _ rows: Range<Int>) {
        count += rows.count
        if let last = runs.last, last.chunk === chunk, last.rows.upperBound == rows.lowerBound {
            runs[runs.count - 1].rows = last.rows.lowerBound..<rows.upperBound
        } else {
            runs.append(Run(chunk: chunk, rows: rows))
        }
    }

    func keys(inStore store: UInt16) -> ContiguousArray<ObjectKey> {
        var keys: ContiguousArray<ObjectKey> = []
        keys.reserveCapacity(count)
        for run in runs {
            for index in run.rows {
                let number = run.chunk.row(index).key(run.chunk.layout)
                keys.append(
                    ObjectKey(number: number, entity: run.chunk.layout.entity, store: number > 0 ? store : 0))
            }
        }
        return keys
    }

    /// Keeps what is known of the members' own relationships.
    func keep(_ level: PrefetchedLevel) { beyond.keep(level) }
}

/// Rows that many sources' to-one leads to, by store and number.
final class TargetRows {
    struct Name: Hashable {
        let store: UInt16
        let number: Int64
    }

    struct Place {
        let chunk: RowChunk
        let row: Int
    }

    /// The context's `rowTime` when they were read: later ones may have taken their place since.
    let readAt: Int
    var rows: [Name: Place] = [:]
    /// What was read beforehand for the targets themselves.
    private(set) var beyond: [PrefetchedLevel] = []

    init(readAt: Int) { self.readAt = readAt }

    func keep(_ level: PrefetchedLevel) { beyond.keep(level) }
}

/// What a fetch read beforehand for the objects of one level: their members, by owner, and their targets.
///
/// It lies with the rows from which these objects can be made again, and is given to them when they are.
final class PrefetchedLevel {
    let readAt: Int
    var members: [(index: Int, owners: [ObjectKey: MemberSlices])] = []
    var targets: [(slot: Int, rows: TargetRows)] = []

    init(readAt: Int) { self.readAt = readAt }

    /// Whether another level knows of every relationship that this one knows of.
    fileprivate func isCovered(by other: PrefetchedLevel) -> Bool {
        members.allSatisfy { mine in other.members.contains { $0.index == mine.index } }
            && targets.allSatisfy { mine in other.targets.contains { $0.slot == mine.slot } }
    }
}

extension [PrefetchedLevel] {
    /// Adds a level. Levels read before the last change of rows, and such as say nothing more, are let go.
    fileprivate mutating func keep(_ level: PrefetchedLevel) {
        removeAll { $0 === level || $0.readAt != level.readAt || $0.isCovered(by: level) }
        append(level)
    }
}
