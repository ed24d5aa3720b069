// What a set change makes of rows, collected row by row until it is one batch.

/// Rows that were read, each with the values that it is to have.
struct RowEdits {
    private struct Edit {
        let former: MemoryRow
        var values: [Value]
        var slots: Set<Int> = []
        /// How often it was changed.
        var rise: Int32 = 0
    }
    private var edits: [RowKey: Edit] = [:]
    /// In the order in which they came.
    private(set) var keys: [RowKey] = []

    var isEmpty: Bool { keys.isEmpty }

    /// Changes a row; slots changed earlier keep what they were given.
    ///
    /// - Parameter isOwnChange: whether the version rises once more for a row that was changed before.
    mutating func change(_ row: MemoryRow, _ assignments: [(slot: Int, value: Value)], isOwnChange: Bool = false) {
        var edit = edits[row.key] ?? Edit(former: row, values: row.values)
        for (slot, value) in assignments {
            edit.values[slot] = value
            edit.slots.insert(slot)
        }
        if edit.rise == 0 || isOwnChange { edit.rise += 1 }
        if edits.updateValue(edit, forKey: row.key) == nil { keys.append(row.key) }
    }

    /// The row as it is to be; nil for one that is not changed.
    func row(_ key: RowKey) -> MemoryRow? {
        edits[key].map { MemoryRow(key: key, version: RowEdits.version($0), values: $0.values) }
    }

    private static func version(_ edit: Edit) -> Int32 { max(edit.former.version, 0) &+ edit.rise }

    /// Groups of rows of one entity in which the same slots change.
    func groups(_ schema: Schema) throws -> [UpdateGroup] {
        struct Shape: Hashable {
            let entity: EntityIndex
            let slots: [Int]
        }
        var order: [Shape] = []
        var members: [Shape: [RowKey]] = [:]
        for key in keys {
            guard let edit = edits[key] else { continue }
            let shape = Shape(entity: key.entity, slots: edit.slots.sorted())
            if members[shape] == nil { order.append(shape) }
            members[shape, default: []].append(key)
        }
        return try order.flatMap { shape in
            try chunks(members[shape] ?? [], schema).map { chunk, expected in
                UpdateGroup(entity: shape.entity, slots: shape.slots, chunk: chunk, expected: expected)
            }
        }
    }

    private func chunks(_ keys: [RowKey], _ schema: Schema) throws -> Zip2Sequence<[RowChunk], [[Int32]]> {
        var packer = ValuePacker(schema, room: keys.count)
        var expected: [[Int32]] = []
        for key in keys {
            guard let edit = edits[key] else { continue }
            let place = try packer.append(key, version: RowEdits.version(edit), values: edit.values)
            if place == expected.count { expected.append([]) }
            expected[place].append(edit.former.version)
        }
        return zip(packer.chunks, expected)
    }
}
