// The rows of an insertion as they come from a stream.

/// What a set change asks of each new chunk, and which values an upsert takes: the same for every store.
package struct StreamRules: Sendable {
    package let schema: Schema
    private let uniqueness: SetChange.Uniqueness

    package init(_ uniqueness: SetChange.Uniqueness, in schema: Schema) {
        self.uniqueness = uniqueness
        self.schema = schema
    }

    /// - Throws: 134060 for a row with relationships, 1570 for one without a required value.
    package func check(_ chunk: RowChunk) throws(StoreError) {
        let entity = schema[chunk.layout.entity]
        if entity.isAbstract {
            throw StoreError(
                134060, "\(entity.name) is abstract, so it has no rows. Insert rows of one below it.",
                entity: entity.name)
        }
        let required = entity.slots.indices.filter {
            entity.slots[$0].isRequired && entity.slots[$0].attribute?.isDerived == false
                && !entity.slots[$0].isTransient
        }
        let relationships = entity.slots.indices.filter { entity.slots[$0].kind == .toOne }
        for index in 0..<chunk.count {
            let row = chunk.row(index)
            for slot in required where !row.isPresent(slot) {
                throw UpdateBinder.missing(entity, entity.slots[slot].name)
            }
            for slot in relationships where row.isPresent(slot) {
                throw StoreError(
                    134060,
                    "A new row of \(entity.name) has a value for the relationship \(entity.slots[slot].name), which a set of "
                        + "new rows cannot set. Insert the rows first, or save objects.",
                    entity: entity.name, property: entity.slots[slot].name)
            }
        }
    }

    /// The slots that a stored row takes from a new one.
    package func updated(_ entity: Entity) throws(StoreError) -> [Int] {
        guard case .update(let names) = uniqueness else { return [] }
        let all = entity.slots.indices.filter {
            entity.slots[$0].attribute?.isDerived == false && !entity.slots[$0].isTransient
        }
        guard let names else { return all }
        var slots: [Int] = []
        for name in names {
            guard case .slot(let slot)? = entity.places[name], all.contains(slot) else {
                throw StoreError(
                    134060,
                    "A stored row of \(entity.name) cannot take “\(name)” of a new one: it is no stored attribute of it.",
                    entity: entity.name, property: name)
            }
            slots.append(slot)
        }
        return slots.sorted()
    }

    /// The slots among `slots`, those of `updated`, that a stored row takes from one of the new rows.
    package func taken(_ slots: [Int], from rows: NewRows, row: Int) -> [Int] {
        guard let given = rows.given?[row] else { return slots }
        return slots.filter(given.contains)
    }

    /// A stored row of another entity than the new row's has the unique values.
    package func otherEntity(_ entity: Entity, _ other: EntityIndex) -> StoreError {
        StoreError(
            133021,
            "A new row of \(entity.name) has the unique values of a row of \(schema[other].name), which cannot take its values; nothing "
                + "was written.", entity: entity.name)
    }
}

extension RowChunk {
    /// Gives a row the number and the version of a new one.
    package func number(row index: Int, _ key: Int64, version: Int32) {
        let header = row(index) - layout.header
        header[0] = UInt64(bitPattern: key)
        header[1] = UInt64(UInt32(bitPattern: version)) | UInt64(layout.entity.rawValue) << 32
    }
}

/// All rows of a stream, checked.
final class StreamedRows {
    private(set) var chunks: [NewRows]
    let rules: StreamRules

    init(_ next: () throws -> NewRows?, _ uniqueness: SetChange.Uniqueness, in schema: Schema) throws {
        rules = StreamRules(uniqueness, in: schema)
        var chunks: [NewRows] = []
        while let rows = try next() {
            try rules.check(rows.chunk)
            _ = try rules.updated(schema[rows.chunk.layout.entity])
            if rows.chunk.count > 0 { chunks.append(rows) }
        }
        self.chunks = chunks
    }

    /// Gives the chunks away, the first one last, so that each can go once its rows are elsewhere.
    func giveAway() -> [NewRows] {
        defer { chunks = [] }
        return chunks.reversed()
    }
}
