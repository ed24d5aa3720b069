// Deletions of sets of rows with what their delete rules do.

import CoreDataValues

extension SetWriter {
    /// *stage rows · follow cascades · deny · note who changes · record · empty · part · delete · answer · clear*
    package func delete(_ query: Query) throws -> SetOutcome {
        let compiler = SetDeleteCompiler(query.bound.entity, last: query.bound.last, map, notesPairs: history != nil)
        for sql in compiler.definitions { try run(sql) }
        let fill = try plan.selects.fill(query)
        var outcome = SetOutcome()
        outcome.count = try run(fill.sql, fill.values(for: query))
        if outcome.count == 0 { return outcome }
        try followCascades(compiler)
        for denial in try compiler.denials() where try isFound(denial.sql) {
            throw StoreError.denied(denial.relationship, schema)
        }
        let notes = try compiler.notes()
        for note in notes where try run(note.sql) > 0 { try requireOptional(note.inverse) }
        let entities = try entities(in: KeyTable.rows)
        try record(compiler, entities)
        for note in notes { if let sql = try compiler.empty(note.inverse, bit: note.bit) { try run(sql) } }
        for root in compiler.hitRoots { try run(compiler.raise(root)) }
        for sql in try compiler.partings() { try run(sql) }
        for root in Set(entities.map { schema[$0.0].root }).sorted() { try run(compiler.delete(root)) }
        try answer(&outcome, entities)
        for name in [KeyTable.rows, KeyTable.hits] { try run(KeyTable.empty(name)) }
        return outcome
    }

    private func followCascades(_ compiler: SetDeleteCompiler) throws {
        var round = 0
        while true {
            let sql = try compiler.cascades(from: round)
            if sql.isEmpty { return }
            var found = 0
            for statement in sql { found += try run(statement) }
            if found == 0 { return }
            round += 1
        }
    }

    /// Some rows of the entity were noted.
    private func requireOptional(_ inverse: ResolvedRelationship) throws {
        guard let slot = inverse.slot, schema[inverse.owner].slots[slot].isRequired else { return }
        throw StoreError(missing: inverse.name, of: schema[inverse.owner])
    }

    private func record(_ compiler: SetDeleteCompiler, _ entities: [(EntityIndex, Int)]) throws {
        for (entity, count) in entities {
            let keys = KeyTable.numbers(of: schema[entity].root, where: "e = \(entity.number)")
            try files?.replace(entity, keys: keys, session)
            try history?.add(.delete, entity, count: count, of: keys)
        }
        guard let history else { return }
        for group in try hitGroups() {
            let inverses = (0..<60).filter { group.bits >> Int64($0) & 1 == 1 }.compactMap { compiler.inverse(bit: $0) }
            let slots = inverses.flatMap { inverse in
                inverse.slot.map { inverse.hasEntityTag ? [$0, $0 + 1] : [$0] } ?? []
            }
            let mask = history.mask(group.entity, slots, inverses.filter(\.isToMany).map(\.index))
            try history.add(
                .update, group.entity, mask: mask, count: group.count,
                of: SetDeleteCompiler.hitKeys(group.entity, bits: group.bits))
        }
    }

    private func hitGroups() throws -> [(entity: EntityIndex, bits: Int64, count: Int)] {
        let numbers = try numbers(SetDeleteCompiler.hitGroups, each: 3)
        return stride(from: 0, to: numbers.count, by: 3).compactMap { place in
            entity(numbers[place]).map { ($0, numbers[place + 1], Int(numbers[place + 2])) }
        }
    }

    private func answer(_ outcome: inout SetOutcome, _ entities: [(EntityIndex, Int)]) throws {
        guard answer != .count else {
            outcome.touched.entities = Set(entities.map(\.0)).union(try hitGroups().map(\.entity))
            return
        }
        outcome.keys = try keys(KeyTable.keys(round: 0))
        if answer == .effects { outcome.effects = outcome.keys.map { _ in .deleted } }
        outcome.touched.deleted = try keys(KeyTable.keys(in: KeyTable.rows))
        outcome.touched.changed = try keys(KeyTable.keys(in: KeyTable.hits))
    }
}
