// A commit to a store in memory: everything is checked before anything is written.

/// A batch that has been read and compared with what is there; applying it cannot fail.
struct MemoryCommit {
    private let schema: Schema
    private let tables: MemoryTables
    private let batch: ChangeBatch
    private let derived: MemoryDerivation?
    private var written: [MemoryRow] = []
    private var replaced: [MemoryRow] = []
    private var removed: [MemoryRow] = []
    /// Touched rows that another writer changed or removed since they were read.
    private(set) var overtaken: [RowKey] = []
    private(set) var conflicts: [Conflict] = []

    /// *check absences · read inserts · read updates · read deletes · read touches · check constraints*
    init(
        _ batch: ChangeBatch, tables: MemoryTables, schema: Schema, derived: MemoryDerivation?
    ) throws(StoreError) {
        self.derived = derived
        self.schema = schema
        self.tables = tables
        self.batch = batch
        var expected: [RowKey: Int32] = [:]
        for key in batch.absences { checkAbsence(key) }
        if conflicts.isEmpty { for chunk in batch.inserts { try readInserts(chunk) } }
        for group in batch.updates { try readUpdates(group, &expected) }
        for group in batch.deletes { readDeletes(group) }
        for check in batch.checks {
            for (number, version) in zip(check.numbers, check.expected) {
                _ = current(RowKey(entity: check.entity, number: number), expected: version)
            }
        }
        for group in batch.touches { readTouches(group) }
        if conflicts.isEmpty { checkConstraints(expected) }
    }

    /// What is to be written, without a hold on the tables that it was checked against.
    func changes() -> MemoryChanges {
        MemoryChanges(batch: batch, written: written, replaced: replaced, removed: removed)
    }

    private mutating func checkAbsence(_ key: RowKey) {
        guard let row = tables.row(key.number, in: schema[key.entity].root) else { return }
        conflicts.append(Conflict(key: key, expected: 0, kind: .changed(version: row.version)))
    }

    private mutating func readInserts(_ chunk: RowChunk) throws(StoreError) {
        for index in 0..<chunk.count {
            let row = read(chunk, index)
            let root = schema[row.key.entity].root
            guard row.key.number > 0, tables.row(row.key.number, in: root) == nil else {
                throw StoreError(
                    134030,
                    "A new row was given the number \(row.key.number), which is taken or not allocated; "
                        + "allocate its number from this store.", entity: schema[row.key.entity].name)
            }
            written.append(derived?.withTexts(row) ?? row)
        }
    }

    private mutating func readUpdates(
        _ group: UpdateGroup, _ expected: inout [RowKey: Int32]
    ) throws(StoreError) {
        guard group.expected.count == group.chunk.count else {
            throw StoreError(
                134030, "\(group.chunk.count) rows were given to update with \(group.expected.count) versions.",
                entity: schema[group.entity].name)
        }
        for index in 0..<group.chunk.count {
            let row = read(group.chunk, index)
            expected[row.key] = group.expected[index]
            guard var old = current(row.key, expected: group.expected[index]) else { continue }
            replaced.append(old)
            old.version = row.version
            for slot in group.slots where old.values.indices.contains(slot) { old.values[slot] = row.values[slot] }
            written.append(derived?.withTexts(old) ?? old)
        }
    }

    private mutating func readDeletes(_ group: DeleteGroup) {
        for (number, version) in zip(group.numbers, group.expected) {
            let key = RowKey(entity: group.entity, number: number)
            if let old = current(key, expected: version) { removed.append(old) }
        }
    }

    private mutating func readTouches(_ group: TouchGroup) {
        for (index, key) in group.keys.enumerated() {
            guard let old = tables.row(key.number, in: schema[key.entity].root), old.key.entity == key.entity else {
                overtaken.append(key)
                if group.gains[index] {
                    conflicts.append(Conflict(key: key, expected: group.read[index], kind: .deleted))
                }
                continue
            }
            var row = old
            row.version = TouchGroup.version(after: old.version)
            if row.version != group.chunk.row(index).version(group.chunk.layout) { overtaken.append(key) }
            replaced.append(old)
            written.append(row)
        }
    }

    /// The row as it stands, or nil and a conflict.
    private mutating func current(_ key: RowKey, expected: Int32) -> MemoryRow? {
        guard let row = tables.row(key.number, in: schema[key.entity].root), row.key.entity == key.entity else {
            conflicts.append(Conflict(key: key, expected: expected, kind: .deleted))
            return nil
        }
        guard row.version == expected else {
            conflicts.append(Conflict(key: key, expected: expected, kind: .changed(version: row.version)))
            return nil
        }
        return row
    }

    private func read(_ chunk: RowChunk, _ index: Int) -> MemoryRow {
        MemoryRow(chunk, index, schema[chunk.layout.entity])
    }

    /// Compares what rows claim with what is taken and not given up, in the batch or in the store.
    private mutating func checkConstraints(_ expected: [RowKey: Int32]) {
        var freed: Set<ConstraintIndex.Claim> = []
        for row in replaced + removed { freed.formUnion(ConstraintIndex.claims(of: row, schema: schema)) }
        var claimed: Set<ConstraintIndex.Claim> = []
        for row in written {
            for claim in ConstraintIndex.claims(of: row, schema: schema) {
                let isTaken = tables.constraints.taken[claim] != nil && !freed.contains(claim)
                if claimed.insert(claim).inserted, !isTaken { continue }
                let names = schema[claim.name.entity].draft.uniquenessConstraints[claim.name.position]
                conflicts.append(
                    Conflict(key: row.key, expected: expected[row.key] ?? 0, kind: .constraint(names)))
            }
        }
    }
}

extension MemoryRow {
    /// A row of a chunk, as a store keeps it.
    init(_ chunk: RowChunk, _ index: Int, _ entity: Entity) {
        let header = chunk.row(index)
        var values = chunk.values(row: index)
        for (slot, description) in entity.slots.enumerated() where description.isTransient { values[slot] = .null }
        self.init(
            key: RowKey(entity: entity.index, number: header.key(chunk.layout)), version: header.version(chunk.layout),
            values: values)
    }
}

/// Checked changes.
struct MemoryChanges {
    let batch: ChangeBatch
    let written: [MemoryRow]
    let replaced: [MemoryRow]
    let removed: [MemoryRow]

    /// *free claims · remove · put · link · adopt · order*
    ///
    /// - Returns: the rows whose derived attributes changed.
    func apply(to tables: inout MemoryTables, schema: Schema, derived: MemoryDerivation?) -> [RowKey] {
        let former = derived?.concerned(by: self, in: tables) ?? [:]
        for row in replaced + removed { tables.constraints.free(ConstraintIndex.claims(of: row, schema: schema)) }
        for change in batch.links where !change.removed.isEmpty {
            tables.link(
                LinkChange(relationship: change.relationship, owner: change.owner, added: [], removed: change.removed),
                schema: schema)
        }
        tables.remove(removed.map(\.key), schema: schema)
        for row in written {
            tables.put(row, schema: schema)
            tables.constraints.claim(ConstraintIndex.claims(of: row, schema: schema), for: row.key.number)
        }
        for change in batch.links where !change.added.isEmpty {
            tables.link(
                LinkChange(relationship: change.relationship, owner: change.owner, added: change.added, removed: []),
                schema: schema)
        }
        for change in batch.adoptions { tables.adopt(change) }
        for change in batch.orders { tables.order(change, schema: schema) }
        for root in Set(written.map { schema[$0.key.entity].root }) { tables.trees[root]?.sortNumbers() }
        return derived?.derive(concerned: former, changes: self, in: &tables) ?? []
    }
}
