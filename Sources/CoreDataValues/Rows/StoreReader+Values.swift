// Values without an entity, from a store that only has rows.

extension StoreReader {
    /// Reads the rows and what the columns lead to, each row once: what a store does that knows nothing better.
    package func openValues(_ plan: FetchPlan, _ view: ReadView) throws -> any ReadCursor<ValueRows> {
        let query = try Query(valuesOf: plan, in: schema)
        guard let projection = query.bound.projection else { return StepCursor([]) }
        var evaluator = ProjectionEvaluator(query, projection)
        let related = RelatedReader(self, view)
        var rows = FetchPlan(entity: plan.entity)
        rows.includesSubentities = plan.includesSubentities
        rows.predicate = plan.predicate
        try fetch(rows, view) { batch in
            for row in batch.memoryRows {
                try evaluator.take(RowSource(row: row, tables: related, schema: schema))
                try related.throwFailure()
                if evaluator.isComplete { return .stop }
            }
            return .more
        }
        try evaluator.end()
        return StepCursor { evaluator.next() }
    }
}

/// Reads the rows that others lead to, and keeps them while one query is answered.
final class RelatedReader: RelatedRows {
    private struct Place: Hashable {
        let relationship: RelationshipIndex
        let owner: Int64
    }
    private let store: any StoreReader
    private let view: ReadView
    private var rows: [RowKey: MemoryRow?] = [:]
    private var members: [Place: [MemoryRow]] = [:]
    /// Sources cannot throw.
    private var failure: (any Error)?

    init(_ store: any StoreReader, _ view: ReadView) {
        self.store = store
        self.view = view
    }

    func throwFailure() throws { if let failure { throw failure } }

    func row(_ number: Int64, in root: EntityIndex) -> MemoryRow? {
        let key = RowKey(entity: root, number: number)
        if let known = rows[key] { return known }
        let found = read { try store.rows(for: [number], in: root, view, $0) }.first
        rows[key] = .some(found)
        return found
    }

    func members(of relationship: ResolvedRelationship, owner: Int64, in schema: Schema) -> [MemoryRow] {
        let place = Place(relationship: relationship.index, owner: owner)
        if let known = members[place] { return known }
        let key = RowKey(entity: relationship.owner, number: owner)
        let found = read { try store.members(of: relationship.index, owner: key, view, $0) }
        members[place] = found
        return found
    }

    private func read(_ body: ((RowBatch) throws -> FetchStep) throws -> Void) -> [MemoryRow] {
        var found: [MemoryRow] = []
        guard failure == nil else { return found }
        do {
            try body { batch in
                found += batch.memoryRows
                return .more
            }
        } catch { failure = error }
        return found
    }
}

extension RowBatch {
    /// The rows as values, in order.
    var memoryRows: [MemoryRow] {
        let chunks = chunks
        let order = order ?? (0..<first.count).map { Reference(chunk: 0, row: $0) }
        return order.map { place in
            let chunk = chunks[Int(place.chunk)]
            let row = chunk.row(Int(place.row))
            return MemoryRow(
                key: RowKey(entity: chunk.layout.entity, number: row.key(chunk.layout)), version: row.version(chunk.layout),
                values: chunk.values(row: Int(place.row)))
        }
    }
}
