// Rows that get a new version without being compared.

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
            let versions = try touch(group)
            let layout = group.chunk.layout
            for (index, key) in group.keys.enumerated() {
                let version = versions[key.number]
                if version == group.chunk.row(index).version(layout) { continue }
                answers.overtaken.append(key)
                guard version == nil else { continue }
                answers.gone.insert(key)
                if group.gains[index] { conflicts.append(Conflict(key: key, expected: group.read[index], kind: .deleted)) }
            }
        }
    }

    /// Answers the new version of each row that is there.
    private func touch(_ group: TouchGroup) throws -> [Int64: Int32] {
        let isSingle = group.chunk.count == 1
        let statement = try connection.statement(.touch(group.entity, isSingle: isSingle)) {
            try plan.writes.touch(plan.map.schema[group.entity], isSingle: isSingle)
        }
        defer { statement.finish() }
        if isSingle {
            try statement.bind(1, group.chunk.row(0).key(group.chunk.layout))
        } else {
            try statement.bind(1, .text(keysAsJSON(group.keys.map(\.number))))
        }
        var versions: [Int64: Int32] = [:]
        while try statement.step() { versions[statement.int(0)] = statement.version(1) }
        return versions
    }
}
