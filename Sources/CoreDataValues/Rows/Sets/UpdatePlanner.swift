// An update of a set of rows, worked out row by row.

/// *find · compute · change · place among ordered members*
struct UpdatePlanner {
    private typealias Code = (inout Frame) -> Operand
    private let update: BoundUpdate
    private let store: any RowStore
    private let codes: [Code?]
    private let related: RelatedReader
    private var edits = RowEdits()
    private var schema: Schema { store.schema }
    private var entity: Entity { update.entity }

    init(_ update: BoundUpdate, _ store: any RowStore) {
        self.update = update
        self.store = store
        let compiler = BoundCompiler(update.query)
        codes = update.assignments.map {
            if case .operand(let operand) = $0.source { compiler.code(operand) } else { nil }
        }
        related = RelatedReader(store, .latest)
    }

    func plan() throws -> SetPlan {
        var copy = self
        return try copy.run()
    }

    private mutating func run() throws -> SetPlan {
        try requireTargets()
        let rows = try store.rows(of: update.query.bound.plan)
        var former: [(row: MemoryRow, values: [(slot: Int, value: Value)])] = []
        for row in rows { former.append((row, try values(of: row))) }
        for (row, values) in former { edits.change(row, values) }
        try partOneToOnes(rows)
        var plan = SetPlan()
        plan.batch.updates = try edits.groups(schema)
        plan.batch.orders = orders(rows)
        plan.outcome.count = rows.count
        plan.outcome.keys = rows.map(\.key).sorted { $0.number < $1.number }
        plan.outcome.effects = rows.map { _ in .updated }
        plan.outcome.touched.changed = edits.keys
        return plan
    }

    // MARK: Values

    private func values(of row: MemoryRow) throws -> [(slot: Int, value: Value)] {
        var frame = Frame(objects: Array(repeating: .value(.null), count: update.query.bound.levelCount))
        frame.objects[0] = .source(RowSource(row: row, tables: related, schema: schema))
        var values: [(slot: Int, value: Value)] = []
        for (assignment, code) in zip(update.assignments, codes) {
            switch assignment.source {
            case .constant(let value): values.append((assignment.slot, value))
            case .operand:
                guard let code else { continue }
                values.append((assignment.slot, try value(code(&frame), assignment)))
            case .target(let key): values += target(key, assignment.slot)
            }
        }
        try related.throwFailure()
        return values
    }

    private func value(_ operand: Operand, _ assignment: BoundAssignment) throws(StoreError) -> Value {
        let slot = entity.slots[assignment.slot]
        guard let value = ValueType(slot.kind)?.value(operand) else { throw .overflow(of: slot, entity) }
        if case .int(let number) = value, slot.attribute?.type.narrowRange?.contains(number) == false {
            throw .overflow(of: slot, entity)
        }
        if value.isNull, assignment.isRequired { throw UpdateBinder.missing(entity, slot.name) }
        return value
    }

    private func target(_ key: RowKey?, _ slot: Int) -> [(slot: Int, value: Value)] {
        let number = key.map { Value.int($0.number) } ?? .null
        guard slot + 1 < entity.slots.count, entity.slots[slot + 1].kind == .entityTag else { return [(slot, number)] }
        return [(slot, number), (slot + 1, key.map { .int(Int64($0.entity.number)) } ?? .null)]
    }

    // MARK: Relationships

    private var targets: [(relationship: ResolvedRelationship, slot: Int, key: RowKey?)] {
        update.assignments.compactMap { assignment in
            guard case .target(let key) = assignment.source, let index = entity.slots[assignment.slot].relationship
            else { return nil }
            return (schema[index], assignment.slot, key)
        }
    }

    private func requireTargets() throws {
        for (relationship, _, key) in targets {
            guard let key else { continue }
            var isThere = false
            try store.rows(for: [key.number], in: schema[key.entity].root, .latest) { batch in
                isThere = isThere || batch.memoryRows.contains { relationship.accepts($0.key.entity.rawValue) }
                return .more
            }
            if !isThere { throw StoreError.noTarget(relationship, entity) }
        }
    }

    /// The other ends of one-to-ones that end.
    private mutating func partOneToOnes(_ rows: [MemoryRow]) throws {
        for (relationship, slot, _) in targets {
            guard let inverse = relationship.inverse.map({ schema[$0] }), let back = inverse.slot else { continue }
            var owners: [Int64: Int64] = [:]
            for row in rows { if case .int(let target) = row.values[slot] { owners[target] = row.key.number } }
            try store.rows(for: owners.keys.sorted(), in: schema[relationship.destination].root, .latest) { batch in
                for row in batch.memoryRows where relationship.accepts(row.key.entity.rawValue) {
                    guard row.values[back] == owners[row.key.number].map({ .int($0) }) else { continue }
                    if schema[row.key.entity].slots[back].isRequired {
                        throw UpdateBinder.missing(schema[row.key.entity], inverse.name)
                    }
                    edits.change(row, schema[row.key.entity].emptied(back))
                }
                return .more
            }
        }
    }

    /// New members of an ordered relationship stand behind the others, by number.
    private func orders(_ rows: [MemoryRow]) -> [OrderChange] {
        targets.compactMap { relationship, slot, key in
            guard let key, let inverse = relationship.inverse, schema[inverse].isOrdered else { return nil }
            let members = rows.filter { $0.values[slot] != .int(key.number) }.map(\.key).sorted {
                $0.number < $1.number
            }
            return members.isEmpty
                ? nil : OrderChange(relationship: inverse, owner: key, members: members, isTail: true)
        }
    }
}

extension Entity {
    /// A to-one's slots without a target.
    func emptied(_ slot: Int) -> [(slot: Int, value: Value)] {
        let hasTag = slot + 1 < slots.count && slots[slot + 1].kind == .entityTag
        return hasTag ? [(slot, .null), (slot + 1, .null)] : [(slot, .null)]
    }
}

extension StoreError {
    /// A calculation of an update that is too large for the property, in the same words for every store.
    package static func overflow(of slot: Slot, _ entity: Entity) -> StoreError {
        let (bits, wider) =
            if let range = slot.attribute?.type.narrowRange {
                range.upperBound == Int64(Int16.max) ? (16, "Integer 32") : (32, "Integer 64")
            } else { (64, "Double") }
        return StoreError(
            134060,
            "A calculation for \(entity.name).\(slot.name) does not fit into \(bits) bits; nothing was written. Assign smaller numbers, or "
                + "give the attribute the type \(wider).", entity: entity.name, property: slot.name)
    }

    package static func noTarget(_ relationship: ResolvedRelationship, _ entity: Entity) -> StoreError {
        StoreError(
            133000,
            "The object that was assigned to \(entity.name).\(relationship.name) is not in the store; nothing was written. Save it "
                + "first.", entity: entity.name, property: relationship.name)
    }
}
