// Rows that get a new version without being compared.

import CCoreDataSQLite
import CoreDataSQL
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
            // Several writers mostly share one owner an entity.
            if group.chunk.count == 1 {
                let number = group.chunk.row(0).key(group.chunk.layout)
                if try raise(number, of: group) { continue }
                judge(0, of: group, try touch(number, group.entity), &answers, &conflicts)
            } else {
                let versions = try touch(group.keys.map(\.number), group.entity)
                for (index, key) in group.keys.enumerated() { judge(index, of: group, versions[key.number], &answers, &conflicts) }
            }
        }
    }

    /// - Parameter version: the new version; nil for a row that is not there.
    private func judge(
        _ index: Int, of group: TouchGroup, _ version: Int32?, _ answers: inout TouchAnswers, _ conflicts: inout [Conflict]
    ) {
        let (row, layout) = (group.chunk.row(index), group.chunk.layout)
        if version == row.version(layout) { return }
        let key = RowKey(entity: group.entity, number: row.key(layout))
        answers.overtaken.append(key)
        guard version == nil else { return }
        answers.gone.insert(key)
        if group.gains[index] { conflicts.append(Conflict(key: key, expected: group.read[index], kind: .deleted)) }
    }

    /// Raises the version of a group's one row if it is the one that was read, as it mostly is: SQLite keeps what RETURNING answers in
    /// a table of its own, which costs more than all else of such a statement (26,000 instructions).
    private func raise(_ number: Int64, of group: TouchGroup) throws -> Bool {
        let statement = try connection.statement(.update(group.entity, slots: [])) {
            try plan.writes.update(plan.map.schema[group.entity], slots: [])
        }
        defer { statement.finish(clears: false) }
        try statement.bind(1, version: group.chunk.row(0).version(group.chunk.layout))
        try statement.bind(2, number)
        try statement.bind(3, version: group.read[0])
        _ = try statement.step()
        return sqlite3_changes(connection.handle) == 1
    }

    private func touch(_ number: Int64, _ entity: EntityIndex) throws -> Int32? {
        let statement = try statement(entity, isSingle: true)
        defer { statement.finish(clears: false) }
        try statement.bind(1, number)
        guard try statement.step() else { return nil }
        let version = statement.version(1)
        // To its end, as all statements that write.
        _ = try statement.step()
        return version
    }

    /// Answers the new version of each row that is there.
    private func touch(_ numbers: [Int64], _ entity: EntityIndex) throws -> [Int64: Int32] {
        let statement = try statement(entity, isSingle: false)
        defer { statement.finish() }
        try statement.bind(1, plan.map.dialect.list(numbers))
        var versions: [Int64: Int32] = [:]
        while try statement.step() { versions[statement.int(0)] = statement.version(1) }
        return versions
    }

    private func statement(_ entity: EntityIndex, isSingle: Bool) throws -> Statement {
        try connection.statement(.touch(entity, isSingle: isSingle)) {
            try plan.writes.touch(plan.map.schema[entity], isSingle: isSingle)
        }
    }
}
