// Unique values that go from one row of a batch to another.

import CoreDataValues

/// Rows that exchange the values of a uniqueness constraint: a database checks after each row, memory only at the end.
struct ValueExchange {
    let writes: WriteCompiler
    private var map: StoreMap { writes.map }

    func mayHelp(_ batch: ChangeBatch, _ conflicts: [Conflict]) -> Bool {
        let isOnlyConstraints = conflicts.allSatisfy {
            if case .constraint = $0.kind { true } else { false }
        }
        return isOnlyConstraints && batch.updates.contains { !constrained($0).isEmpty }
    }

    /// One statement for each group: the constrained columns that it changes become NULL, which no constraint minds.
    func vacating(_ batch: ChangeBatch) throws -> [(text: String, keys: [Int64])] {
        try batch.updates.compactMap { group in
            let slots = constrained(group)
            if slots.isEmpty { return nil }
            let layout = group.chunk.layout
            return (
                try writes.clear(map.schema[group.entity], slots: slots),
                (0..<group.chunk.count).map { group.chunk.row($0).key(layout) }
            )
        }
    }

    private func constrained(_ group: UpdateGroup) -> [Int] {
        let slots = Set(map.schema[group.entity].constraints.flatMap(\.slots))
        return group.slots.filter(slots.contains)
    }
}
