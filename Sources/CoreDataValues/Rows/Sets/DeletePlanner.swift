// A deletion of a set of rows with what its delete rules do, worked out row by row.

/// *find · follow cascades to their end · deny · nullify · part*
struct DeletePlanner {
    /// A row at the other end of a relationship of a row that goes.
    private struct Other {
        let relationship: ResolvedRelationship
        let owner: RowKey
        let row: MemoryRow
    }
    private let query: FetchPlan
    private let store: any RowStore
    private var schema: Schema { store.schema }
    /// All rows that go, and the order in which they were found.
    private var doomed: [RowKey: MemoryRow] = [:]
    private var order: [RowKey] = []
    private var others: [Other] = []
    private var edits = RowEdits()
    private var batch = ChangeBatch()

    init(_ query: FetchPlan, _ store: any RowStore) {
        self.query = query
        self.store = store
    }

    func plan() throws -> SetPlan {
        var copy = self
        return try copy.run()
    }

    private mutating func run() throws -> SetPlan {
        let found = try store.rows(of: query)
        var wave = add(found)
        while !wave.isEmpty { wave = try follow(wave) }
        others.removeAll { doomed[$0.row.key] != nil }
        for other in others { try apply(other) }
        batch.updates = try edits.groups(schema)
        batch.deletes = deletions()
        var plan = SetPlan(batch: batch)
        plan.outcome.count = found.count
        plan.outcome.keys = found.map(\.key).sorted { $0.number < $1.number }
        plan.outcome.effects = found.map { _ in .deleted }
        plan.outcome.touched.deleted = order
        plan.outcome.touched.changed = edits.keys
        return plan
    }

    /// Answers those that were not known to go.
    private mutating func add(_ rows: [MemoryRow]) -> [MemoryRow] {
        rows.filter { row in
            guard doomed.updateValue(row, forKey: row.key) == nil else { return false }
            order.append(row.key)
            return true
        }
    }

    // MARK: Following

    /// Reads what is at the other ends of rows, and answers the rows that go with them.
    private mutating func follow(_ wave: [MemoryRow]) throws -> [MemoryRow] {
        var next: [MemoryRow] = []
        for (entity, rows) in Dictionary(grouping: wave, by: \.key.entity).sorted(by: { $0.key < $1.key }) {
            for index in schema[entity].relationships where schema[index].isFollowed(in: schema) {
                let relationship = schema[index]
                let ends = try relationship.isToMany ? members(of: relationship, rows) : target(of: relationship, rows)
                if relationship.description.deleteRule == .cascade {
                    next += add(ends.map(\.row))
                    if relationship.isManyToMany(in: schema) { others += ends }
                } else {
                    others += ends
                }
            }
        }
        return next
    }

    private func members(of relationship: ResolvedRelationship, _ rows: [MemoryRow]) throws -> [Other] {
        let entities = Dictionary(rows.map { ($0.key.number, $0.key.entity) }, uniquingKeysWith: { a, _ in a })
        var found: [Other] = []
        try store.targets(of: relationship.index, from: rows.map(\.key.number), .latest) { batch in
            for (row, owner) in zip(batch.rows.memoryRows, batch.owners) {
                guard let entity = entities[owner] else { continue }
                found.append(Other(relationship: relationship, owner: RowKey(entity: entity, number: owner), row: row))
            }
            return .more
        }
        return found
    }

    private func target(of relationship: ResolvedRelationship, _ rows: [MemoryRow]) throws -> [Other] {
        guard let slot = relationship.slot else { return [] }
        var owners: [Int64: [RowKey]] = [:]
        for row in rows { if case .int(let target) = row.values[slot] { owners[target, default: []].append(row.key) } }
        var found: [Other] = []
        try store.rows(for: owners.keys.sorted(), in: schema[relationship.destination].root, .latest) { batch in
            for row in batch.memoryRows where relationship.accepts(row.key.entity.rawValue) {
                found += (owners[row.key.number] ?? []).map { Other(relationship: relationship, owner: $0, row: row) }
            }
            return .more
        }
        return found
    }

    // MARK: What stays

    /// Does to a row that stays what the rule of a row that goes says.
    private mutating func apply(_ other: Other) throws {
        let relationship = other.relationship
        if relationship.description.deleteRule == .deny { throw StoreError.denied(relationship, schema) }
        if relationship.isManyToMany(in: schema) {
            batch.links.append(
                LinkChange(relationship: relationship.index, owner: other.owner, added: [], removed: [other.row.key]))
        } else if relationship.description.deleteRule == .nullify {
            try nullify(other)
        }
    }

    private mutating func nullify(_ other: Other) throws {
        guard let inverse = other.relationship.inverse.map({ schema[$0] }) else {
            batch.adoptions.append(
                AdoptionChange(
                    relationship: other.relationship.index, owner: other.owner, added: [], removed: [other.row.key]))
            return
        }
        let entity = schema[other.row.key.entity]
        guard let slot = inverse.slot, other.row.values[slot] == .int(other.owner.number) else { return }
        guard !entity.slots[slot].isRequired else { throw UpdateBinder.missing(entity, inverse.name) }
        edits.change(other.row, entity.emptied(slot))
    }

    private func deletions() -> [DeleteGroup] {
        Dictionary(grouping: order, by: \.entity).sorted { $0.key < $1.key }.map { entity, keys in
            DeleteGroup(entity: entity, numbers: keys.map(\.number), expected: keys.map { doomed[$0]?.version ?? 0 })
        }
    }
}

extension ResolvedRelationship {
    /// Whether the rows at its other end have to be looked at when its object is deleted by a set change.
    package func isFollowed(in schema: Schema) -> Bool {
        if description.isTransient { return false }
        if isManyToMany(in: schema) { return true }
        switch description.deleteRule {
        case .noAction: return false
        case .cascade, .deny: return true
        // A to-one without inverse is nobody's, and of one to many only the own row tells.
        case .nullify: return isToMany || inverse.map { !schema[$0].isToMany } ?? false
        }
    }
}

extension StoreError {
    package static func denied(_ relationship: ResolvedRelationship, _ schema: Schema) -> StoreError {
        let name = schema[relationship.owner].name
        return StoreError(
            1600,
            "Rows of \(name) still have \(relationship.name), whose delete rule is deny; nothing was deleted. Delete or part those first.",
            entity: name, property: relationship.name)
    }
}
