// Whether a file fits although a hash in it cannot be compared.

import CoreDataValues

/// Compares what a file has for one tree of entities with what the model asks for.
///
/// How Core Data hashes an entity with derived attributes is not known, so its files are recognised by their tables and triggers.
package struct DerivedTables {
    let map: StoreMap
    let session: any SQLReading
    private var catalogue: Catalogue { Catalogue(session) }

    package init(map: StoreMap, session: any SQLReading) {
        self.map = map
        self.session = session
    }

    package func fit(_ entity: Entity) throws -> Bool {
        guard let table = map.tables.first(where: { $0.root == entity.root }) else { return false }
        return try haveParents(entity) && haveColumns(table) && haveConstraints(table) && haveJoins(entity)
            && haveTriggers(entity)
    }

    private func haveParents(_ entity: Entity) throws -> Bool {
        try session.tuples(MetadataStatements(map.dialect).parents, []).allSatisfy { row in
            guard let known = row[0].word.flatMap(map.schema.entity(named:)), known.root == entity.root else {
                return true
            }
            return row[1].word == known.parent.map { map.schema[$0].name }
        }
    }

    private func haveColumns(_ table: TableMap) throws -> Bool {
        let left =
            try CleanupTable(map.dialect).steps(session)?.map(\.step).filter {
                $0.kind == .column && $0.table == table.name
            } ?? []
        let unwanted = Set(["Z_PK", "Z_ENT", "Z_OPT"] + left.map(\.name))
        let found = try catalogue.columns(of: table.name).filter { !unwanted.contains($0.key) }
        let wanted = table.columns.map { ($0.name, map.dialect.type($0.kind)) }
        return found == Dictionary(wanted, uniquingKeysWith: { first, _ in first })
    }

    private func haveConstraints(_ table: TableMap) throws -> Bool {
        let names = map.entities.filter { $0.root == table.root }.flatMap { entity in
            entity.draft.uniquenessConstraints.map { Definitions.constraintName($0, of: entity) }
        }
        return try catalogue.uniqueIndexes(of: table.name) == Set(names)
    }

    private func haveJoins(_ entity: Entity) throws -> Bool {
        let answer = StoredJoins(map.joins, schema: map.schema, tables: try catalogue.joinTables()).resolve(
            byEntities: false)
        return answer.unknown.allSatisfy { join, _ in
            [join.relationship, join.inverse].allSatisfy { map.schema[map.schema[$0].owner].root != entity.root }
        }
    }

    /// An attribute that was a plain one has no trigger, so that nobody would derive it.
    private func haveTriggers(_ entity: Entity) throws -> Bool {
        if entity.derivedSlots.isEmpty { return true }
        let triggers = try catalogue.triggers().filter { $0.hasPrefix("Z_DA_") }
        return entity.derivedSlots.allSatisfy { slot in
            let part = "_\(map.schema[entity.slots[slot].owner].name)_\(entity.slots[slot].name)_"
            return triggers.contains { $0.contains(part) }
        }
    }
}
