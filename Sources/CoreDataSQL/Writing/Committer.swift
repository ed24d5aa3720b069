// Writes one batch as one transaction.

import CoreDataValues

/// *touch · delete · update · insert · adopt · link · order*, in this order, so that a unique value given up in a
/// batch can be taken in the same batch.
package struct Committer {
    private let plan: StorePlan
    private let files: ExternalStaging?
    private let history: HistoryWriter?
    private let session: any SQLSession
    private var map: StoreMap { plan.map }

    /// - Parameters:
    ///   - files: the large values of the batch; nil where it has none.
    ///   - history: nil for a store that keeps none.
    package init(plan: StorePlan, files: ExternalStaging?, history: HistoryWriter?, session: any SQLSession) {
        self.plan = plan
        self.files = files
        self.history = history
        self.session = session
    }

    package func commit(_ batch: ChangeBatch) throws -> CommitOutcome {
        let first: CommitOutcome
        do {
            first = try attempt(batch, vacates: false, singly: false)
        } catch is RowWriter.SplitNeeded {
            first = try attempt(batch, vacates: false, singly: true)
        }
        guard case .conflicts(let conflicts) = first, ValueExchange(writes: plan.writes).mayHelp(batch, conflicts)
        else {
            return first
        }
        return try attempt(batch, vacates: true, singly: true)
    }

    /// - Parameter vacates: whether unique values of all changed rows are given up before any is taken, so that rows can exchange
    ///   theirs.
    private func attempt(_ batch: ChangeBatch, vacates: Bool, singly: Bool) throws -> CommitOutcome {
        var conflicts: [Conflict] = []
        var touches = TouchAnswers()
        session.touched.clear()
        var isCommitted = false
        defer { if !isCommitted { session.ends.clear() } }
        try session.transaction {
            try files?.noteReplaced(session, plan.writes)
            let rows = RowWriter(plan: plan, session: session)
            for check in batch.checks { conflicts += try rows.check(check) }
            if !batch.touches.isEmpty { try rows.touch(batch.touches, &touches, &conflicts) }
            try history?.record(batch, without: touches.gone, on: session)
            for group in batch.deletes { try rows.delete(group, singly: singly, &conflicts) }
            if vacates {
                for sql in try ValueExchange(writes: plan.writes).vacating(batch) {
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
            var links = LinkWriter(map: map, compiler: plan.writes, session: session)
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
        for key in keys { session.touched.insert(.init(entity: Int64(entity.number), number: key)) }
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
        if session.touched.rows.isEmpty { return [] }
        let entities = Int64(map.schema.entities.count)
        return session.touched.rows.filter { (1...max(1, entities)).contains($0.entity) }.map {
            RowKey(entity: EntityIndex(Int($0.entity) - 1), number: $0.number)
        }
    }
}
