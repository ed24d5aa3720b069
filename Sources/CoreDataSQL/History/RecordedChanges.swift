// What the history says of a batch.

import CoreDataValues

/// The changes of one batch, each row once, grouped as they are written.
package struct RecordedChanges {
    /// The numbers are `NSPersistentHistoryChangeType`'s.
    package enum Kind: Int64, Sendable { case insert, update, delete }

    package struct Group {
        package let kind: Kind
        package let entity: EntityIndex
        /// What changed; nil unless it is an update.
        package let mask: [UInt8]?
        package fileprivate(set) var numbers: [Int64]
    }
    package private(set) var groups: [Group] = []

    /// - Parameter masks: by entity.
    /// - Parameter gone: rows that are not there any more.
    package init(_ batch: ChangeBatch, _ masks: [ChangeMask], without gone: Set<RowKey> = []) {
        var beside = batch.note?.relationships ?? [:]
        for key in gone { beside[key] = nil }
        for chunk in batch.inserts {
            let numbers = Self.numbers(chunk)
            if !beside.isEmpty {
                for number in numbers { beside[RowKey(entity: chunk.layout.entity, number: number)] = nil }
            }
            groups.append(Group(kind: .insert, entity: chunk.layout.entity, mask: nil, numbers: numbers))
        }
        for group in batch.updates {
            let first = groups.count
            let plain = masks[group.entity.value].bytes(slots: group.slots)
            for number in Self.numbers(group.chunk) {
                let also =
                    beside.isEmpty ? nil : beside.removeValue(forKey: RowKey(entity: group.entity, number: number))
                let mask = also.map { masks[group.entity.value].bytes(slots: group.slots, relationships: $0) } ?? plain
                add(number, group.entity, mask, from: first)
            }
        }
        for group in batch.touches {
            let first = groups.count
            for key in group.keys {
                guard let also = beside.removeValue(forKey: key) else { continue }
                add(key.number, key.entity, masks[key.entity.value].bytes(slots: [], relationships: also), from: first)
            }
        }
        let first = groups.count
        for (key, also) in beside.sorted(by: { $0.key.number < $1.key.number }) {
            add(key.number, key.entity, masks[key.entity.value].bytes(slots: [], relationships: also), from: first)
        }
        for group in batch.deletes {
            groups.append(Group(kind: .delete, entity: group.entity, mask: nil, numbers: group.numbers))
        }
    }

    package var count: Int { groups.reduce(0) { $0 + $1.numbers.count } }

    /// To a group of the same mask among those from `first` on.
    private mutating func add(_ number: Int64, _ entity: EntityIndex, _ mask: [UInt8], from first: Int) {
        if let known = groups[first...].firstIndex(where: { $0.mask == mask && $0.entity == entity }) {
            groups[known].numbers.append(number)
        } else {
            groups.append(Group(kind: .update, entity: entity, mask: mask, numbers: [number]))
        }
    }

    private static func numbers(_ chunk: RowChunk) -> [Int64] {
        (0..<chunk.count).map { chunk.row($0).key(chunk.layout) }
    }
}
