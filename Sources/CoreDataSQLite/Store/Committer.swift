// Writes one batch as one transaction.

import CCoreDataSQLite
import CoreDataSQL
import CoreDataValues
import Foundation

/// *touch · delete · update · insert · adopt · link · order*, in this order, so that a unique value given up in a
/// batch can be taken in the same batch.
struct Committer {
    let plan: StorePlan
    let files: ExternalStaging?
    /// nil for a store that keeps no history.
    let history: HistoryWriter?
    let connection: Connection
    private var map: StoreMap { plan.map }

    func commit(_ batch: ChangeBatch) throws -> CommitOutcome {
        let first: CommitOutcome
        do {
            first = try attempt(batch, vacates: false, singly: false)
        } catch is RowWriter.SplitNeeded {
            first = try attempt(batch, vacates: false, singly: true)
        }
        guard case .conflicts(let conflicts) = first, ValueExchange(map: map).mayHelp(batch, conflicts) else {
            return first
        }
        return try attempt(batch, vacates: true, singly: true)
    }

    /// - Parameter vacates: whether unique values of all changed rows are given up before any is taken, so
    /// that rows can exchange
    ///   theirs.
    private func attempt(_ batch: ChangeBatch, vacates: Bool, singly: Bool) throws -> CommitOutcome {
        var conflicts: [Conflict] = []
        var touches = TouchAnswers()
        connection.touched.clear()
        var isCommitted = false
        defer { if !isCommitted { connection.ends.clear() } }
        try connection.transaction {
            try files?.noteReplaced(connection)
            let rows = RowWriter(plan: plan, connection: connection)
            for check in batch.checks { conflicts += try rows.check(check) }
            if !batch.touches.isEmpty { try rows.touch(batch.touches, &touches, &conflicts) }
            try history?.record(batch, without: touches.gone, on: connection)
            for group in batch.deletes { try rows.delete(group, singly: singly, &conflicts) }
            if vacates {
                for sql in try ValueExchange(map: map).vacating(batch) {
                    try rows.run(sql.text, keys: sql.keys)
                }
            }
            for group in batch.updates { try rows.update(group, &conflicts) }
            let returned = try batch.absences.compactMap { try rows.checkAbsence(of: $0) }
            conflicts += returned
            if returned.isEmpty { for chunk in batch.inserts { try rows.insert(chunk, &conflicts) } }
            guard conflicts.isEmpty else { return false }
            if !plan.derivedTexts.isEmpty {
                conflicts += try deriveTexts(batch, rows)
                guard conflicts.isEmpty else { return false }
            }
            var links = LinkWriter(map: map, compiler: plan.writes, connection: connection)
            links.forgetEnds(batch)
            for change in batch.adoptions { try links.adopt(change) }
            for change in batch.links { try links.link(change) }
            for change in batch.orders { try links.order(change) }
            return true
        }
        isCommitted = conflicts.isEmpty
        return isCommitted ? .committed(touched: touched(), overtaken: touches.overtaken) : .conflicts(conflicts)
    }

    /// Answers the rows whose derived text is another row's unique value.
    private func deriveTexts(_ batch: ChangeBatch, _ rows: RowWriter) throws -> [Conflict] {
        var conflicts: [Conflict] = []
        for chunk in batch.inserts {
            let expected = Array(repeating: Int32(0), count: chunk.count)
            conflicts += try deriveTexts(of: chunk, slots: nil, expected, rows)
        }
        for group in batch.updates {
            conflicts += try deriveTexts(of: group.chunk, slots: group.slots, group.expected, rows)
        }
        return conflicts
    }

    private func deriveTexts(
        of chunk: RowChunk, slots: [Int]?, _ expected: [Int32], _ rows: RowWriter
    ) throws -> [Conflict] {
        let (entity, layout) = (chunk.layout.entity, chunk.layout)
        let statements = plan.derivedTexts.statements(for: entity, slots: slots)
        if statements.isEmpty { return [] }
        let keys = (0..<chunk.count).map { chunk.row($0).key(layout) }
        for key in keys { connection.touched.insert(.init(entity: Int64(entity.number), number: key)) }
        var conflicts: [Conflict] = []
        for sql in statements where try rows.conflict(in: sql, keys: keys) != nil {
            for (key, version) in zip(keys, expected) {
                guard let names = try rows.conflict(in: sql, keys: [key]) else { continue }
                conflicts.append(
                    Conflict(key: RowKey(entity: entity, number: key), expected: version, kind: .constraint(names)))
            }
        }
        return conflicts
    }

    /// What triggers reported, as keys; a number that is no entity of the model is somebody else's.
    private func touched() -> [RowKey] {
        if connection.touched.rows.isEmpty { return [] }
        let entities = Int64(map.schema.entities.count)
        return connection.touched.rows.filter { (1...max(1, entities)).contains($0.entity) }.map {
            RowKey(entity: EntityIndex(Int($0.entity) - 1), number: $0.number)
        }
    }
}

/// Rows that exchange the values of a uniqueness constraint: SQLite checks after each row, memory only at the
/// end.
struct ValueExchange {
    let map: StoreMap

    func mayHelp(_ batch: ChangeBatch, _ conflicts: [Conflict]) -> Bool {
        let isOnlyConstraints = conflicts.allSatisfy {
            if case .constraint = $0.kind { true } else { false }
        }
        return isOnlyConstraints && batch.updates.contains { !constrained($0).isEmpty }
    }

    /// One statement for each group: the constrained columns that it changes become NULL, which no constraint
    /// minds.
    func vacating(_ batch: ChangeBatch) throws -> [(text: String, keys: [Int64])] {
        try batch.updates.compactMap { group in
            let slots = constrained(group)
            if slots.isEmpty { return nil }
            let layout = group.chunk.layout
            return (
                try WriteCompiler(map).clear(map.schema[group.entity], slots: slots),
                (0..<group.chunk.count).map { group.chunk.row($0).key(layout) }
            )
        }
    }

    private func constrained(_ group: UpdateGroup) -> [Int] {
        let slots = Set(map.schema[group.entity].constraints.flatMap(\.slots))
        return group.slots.filter(slots.contains)
    }
}

/// The attribute names behind SQLite's messages of broken uniqueness.
struct ConstraintNames: Sendable {
    private var names: [String: [String]] = [:]

    init(_ map: StoreMap) throws {
        for entity in map.entities {
            let table = try map.table(of: entity.index)
            for constraint in entity.constraints where constraint.owner == entity.index {
                let columns = constraint.slots.compactMap { slot in
                    table.column(of: slot, in: entity.index).map { table.columns[$0].name }
                }
                let message = columns.map { "\(table.name).\($0)" }.joined(separator: ", ")
                names["UNIQUE constraint failed: " + message] = constraint.names
            }
        }
    }

    subscript(message: String) -> [String]? { names[message] }
}
