// An insertion of a stream of rows, worked out row by row.

/// *number · find who has the unique values · insert, keep or update*
struct InsertPlanner {
    private typealias Claim = ConstraintIndex.Claim
    private let chunks: [NewRows]
    private let rules: StreamRules
    private let uniqueness: SetChange.Uniqueness
    private let store: any RowStore
    private var schema: Schema { store.schema }
    /// New rows by number, for rules that look at them again.
    private var new: [RowKey: MemoryRow] = [:]
    private var order: [RowKey] = []
    private var stored: [RowKey: MemoryRow] = [:]
    private var edits = RowEdits()
    /// Who has values at present, as far as they were looked for; nil for nobody.
    private var holders: [Claim: RowKey?] = [:]
    private var outcome = SetOutcome()

    /// Finds the stored rows that have unique values of a chunk, faster than a fetch could.
    typealias Find = (RowChunk, Entity) -> [MemoryRow]
    private let find: Find?

    init(
        _ chunks: [NewRows], _ rules: StreamRules, _ uniqueness: SetChange.Uniqueness, _ store: any RowStore,
        find: Find? = nil
    ) {
        self.chunks = chunks
        self.rules = rules
        self.uniqueness = uniqueness
        self.store = store
        self.find = find
    }

    func plan() throws -> SetPlan {
        var copy = self
        return try copy.run()
    }

    private mutating func run() throws -> SetPlan {
        var batch = ChangeBatch()
        for rows in chunks {
            let chunk = rows.chunk
            try number(chunk)
            let entity = schema[chunk.layout.entity]
            if uniqueness == .fail || entity.constraints.isEmpty {
                batch.inserts.append(chunk)
                for index in 0..<chunk.count { note(key(chunk, index), .inserted) }
                outcome.count += chunk.count
            } else {
                try look(for: chunk, entity)
                for index in 0..<chunk.count { try insert(rows, index, entity) }
            }
        }
        batch.inserts += try newChunks()
        batch.updates = try edits.groups(schema)
        outcome.touched.changed = edits.keys
        return SetPlan(batch: batch, outcome: outcome)
    }

    private func number(_ chunk: RowChunk) throws {
        let numbers = try store.allocateKeys(chunk.count, in: schema[chunk.layout.entity].root)
        for (index, number) in numbers.enumerated() { chunk.number(row: index, number, version: 1) }
    }

    private func key(_ chunk: RowChunk, _ index: Int) -> RowKey {
        RowKey(entity: chunk.layout.entity, number: chunk.row(index).key(chunk.layout))
    }

    private mutating func note(_ key: RowKey, _ effect: SetOutcome.Effect) {
        outcome.keys.append(key)
        outcome.effects.append(effect)
    }

    // MARK: One row

    private mutating func insert(_ rows: NewRows, _ index: Int, _ entity: Entity) throws {
        let row = MemoryRow(rows.chunk, index, entity)
        let claims = ConstraintIndex.claims(of: row, schema: schema)
        guard let holder = claims.compactMap({ holders[$0] ?? nil }).first else {
            for claim in claims { holders[claim] = row.key }
            new[row.key] = row
            order.append(row.key)
            outcome.count += 1
            return note(row.key, .inserted)
        }
        guard case .update = uniqueness else { return note(holder, .kept) }
        try update(holder, with: row, rules.taken(try rules.updated(entity), from: rows, row: index), entity)
        outcome.count += 1
        note(holder, .updated)
    }

    private mutating func update(_ holder: RowKey, with row: MemoryRow, _ slots: [Int], _ entity: Entity) throws {
        guard holder.entity == entity.index else { throw rules.otherEntity(entity, holder.entity) }
        guard var former = new[holder] ?? edits.row(holder) ?? stored[holder] else { return }
        for claim in ConstraintIndex.claims(of: former, schema: schema) { holders[claim] = .some(nil) }
        let assignments = slots.map { (slot: $0, value: row.values[$0]) }
        for (slot, value) in assignments { former.values[slot] = value }
        for claim in ConstraintIndex.claims(of: former, schema: schema) {
            if holders[claim] ?? nil != nil {
                throw StoreError.notUnique(
                    entity, schema[claim.name.entity].draft.uniquenessConstraints[claim.name.position])
            }
            holders[claim] = holder
        }
        if new[holder] == nil, let row = stored[holder] { return edits.change(row, assignments, isOwnChange: true) }
        former.version += 1
        new[holder] = former
    }

    // MARK: Stored rows

    /// Finds the stored rows that have unique values of a chunk, with one fetch a constraint.
    private mutating func look(for chunk: RowChunk, _ entity: Entity) throws {
        if let find { return note(find(chunk, entity)) }
        for constraint in entity.constraints {
            let owner = schema[constraint.owner]
            guard let first = constraint.slots.first else { continue }
            var values: Set<Value> = []
            for index in 0..<chunk.count { values.insert(chunk.value(row: index, slot: first)) }
            values.remove(.null)
            if values.isEmpty { continue }
            var plan = FetchPlan(entity: owner.index)
            let path = Expression.keyPath(entity.slots[first].name.split(separator: ".").map(String.init))
            plan.predicate = .comparison(Comparison(path, .in, .list(values.map { .constant($0) })))
            note(try store.rows(of: plan))
        }
    }

    private mutating func note(_ rows: [MemoryRow]) {
        for row in rows {
            for claim in ConstraintIndex.claims(of: row, schema: schema) where holders[claim] == nil {
                holders[claim] = row.key
            }
            if stored[row.key] == nil { stored[row.key] = row }
        }
    }

    private func newChunks() throws -> [RowChunk] {
        var packer = ValuePacker(schema, room: order.count)
        for key in order {
            if let row = new[key] { _ = try packer.append(key, version: row.version, values: row.values) }
        }
        return packer.chunks
    }
}
