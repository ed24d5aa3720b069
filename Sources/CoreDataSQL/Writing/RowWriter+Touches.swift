// Rows that get a new version without being compared.

import CoreDataValues

/// What became of the touched rows of a batch.
struct TouchAnswers {
    /// Rows that another writer changed or removed since they were read.
    var overtaken: [RowKey] = []
    /// Those of them that are gone.
    var gone: Set<RowKey> = []
}

extension RowWriter {
    func touch(_ groups: [TouchGroup], _ answers: inout TouchAnswers, _ conflicts: inout [Conflict]) throws {
        for group in groups {
            // Several writers mostly share few owners an entity.
            if group.chunk.count <= RowWriter.few {
                try raise(group, &answers, &conflicts)
            } else {
                let versions = try touch(group.keys.map(\.number), group.entity)
                for (index, key) in group.keys.enumerated() {
                    judge(index, of: group, versions[key.number], &answers, &conflicts)
                }
            }
        }
    }

    /// - Parameter version: the new version; nil for a row that is not there.
    private func judge(
        _ index: Int, of group: TouchGroup, _ version: Int32?, _ answers: inout TouchAnswers,
        _ conflicts: inout [Conflict]
    ) {
        let (row, layout) = (group.chunk.row(index), group.chunk.layout)
        if version == row.version(layout) { return }
        let key = RowKey(entity: group.entity, number: row.key(layout))
        answers.overtaken.append(key)
        guard version == nil else { return }
        answers.gone.insert(key)
        if group.gains[index] { conflicts.append(Conflict(key: key, expected: group.read[index], kind: .deleted)) }
    }

    /// Up to how many rows a group has its own statement for each: SQLite keeps what RETURNING answers in a table of its own, which costs
    /// more than all else of such a statement (26,000 instructions).
    private static let few = 8

    /// Raises the version of each row that has the one that was read, as it mostly has, and asks for that of any other.
    private func raise(_ group: TouchGroup, _ answers: inout TouchAnswers, _ conflicts: inout [Conflict]) throws {
        let update = UpdateGroup(entity: group.entity, slots: [], chunk: group.chunk, expected: group.read)
        var left = 0..<group.chunk.count
        while !left.isEmpty, let refusal = try session.update(left, of: update, slots: [], plan.writes) {
            let number = group.chunk.row(refusal.row).key(group.chunk.layout)
            judge(refusal.row, of: group, try touch(number, group.entity), &answers, &conflicts)
            left = refusal.row + 1..<left.upperBound
        }
    }

    private func touch(_ number: Int64, _ entity: EntityIndex) throws -> Int32? {
        let row = try session.numbers(.touch(entity, isSingle: true), each: 2, [.int(number)], plan.writes)
        return row.isEmpty ? nil : RowWriter.version(row[1])
    }

    /// Answers the new version of each row that is there.
    private func touch(_ numbers: [Int64], _ entity: EntityIndex) throws -> [Int64: Int32] {
        let rows = try session.numbers(
            .touch(entity, isSingle: false), each: 2, [plan.map.dialect.list(numbers)], plan.writes)
        var versions: [Int64: Int32] = [:]
        for row in stride(from: 0, to: rows.count, by: 2) {
            if let number = rows[row] { versions[number] = RowWriter.version(rows[row + 1]) }
        }
        return versions
    }
}
