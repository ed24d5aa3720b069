// Whether a file fits although a hash in it cannot be compared (store format §4.5).

import CCoreDataSQLite
import CoreDataSQL
import CoreDataValues

/// Compares what a file has for one tree of entities with what the model asks for.
///
/// How Core Data hashes an entity with derived attributes is not known, so its files are recognised by their tables and triggers.
struct DerivedTables {
    let map: StoreMap
    let connection: Connection

    func fit(_ entity: Entity) throws -> Bool {
        guard let table = map.tables.first(where: { $0.root == entity.root }) else { return false }
        return try haveParents(entity) && haveColumns(table) && haveConstraints(table) && haveJoins(entity) && haveTriggers(entity)
    }

    private func haveParents(_ entity: Entity) throws -> Bool {
        let rows = try rows("SELECT a.Z_NAME, b.Z_NAME FROM Z_PRIMARYKEY a LEFT JOIN Z_PRIMARYKEY b ON b.Z_ENT = a.Z_SUPER")
        return rows.allSatisfy { row in
            guard let known = row[0].flatMap(map.schema.entity(named:)), known.root == entity.root else { return true }
            return row[1] == known.parent.map { map.schema[$0].name }
        }
    }

    private func haveColumns(_ table: TableMap) throws -> Bool {
        let rows = try rows(
            "SELECT name, upper(type) FROM pragma_table_info(?) WHERE name NOT IN ('Z_PK', 'Z_ENT', 'Z_OPT')", table.name)
        return Set(rows) == Set(table.columns.map { [$0.name, map.dialect.type($0.kind)] })
    }

    private func haveConstraints(_ table: TableMap) throws -> Bool {
        let rows = try rows(
            "SELECT name FROM sqlite_master WHERE type = 'index' AND tbl_name = ? AND sql LIKE 'CREATE UNIQUE INDEX%'", table.name)
        let names = map.entities.filter { $0.root == table.root }.flatMap { entity in
            entity.draft.uniquenessConstraints.map { Definitions.constraintName($0, of: entity) }
        }
        return Set(rows) == Set(names.map { [$0] })
    }

    private func haveJoins(_ entity: Entity) throws -> Bool {
        let tables = try JoinReader(connection: connection).tables()
        let answer = StoredJoins(map.joins, schema: map.schema, tables: tables).resolve(byEntities: false)
        return answer.unknown.allSatisfy { join, _ in
            [join.relationship, join.inverse].allSatisfy { map.schema[map.schema[$0].owner].root != entity.root }
        }
    }

    /// An attribute that was a plain one has no trigger, so that nobody would derive it.
    private func haveTriggers(_ entity: Entity) throws -> Bool {
        try entity.derivedSlots.allSatisfy { slot in
            let owner = map.schema[entity.slots[slot].owner].name
            let rows = try rows(
                "SELECT name FROM sqlite_master WHERE type = 'trigger' AND name LIKE 'Z_DA_%' AND instr(name, ?) > 0 LIMIT 1",
                "_\(owner)_\(entity.slots[slot].name)_")
            return !rows.isEmpty
        }
    }

    private func rows(_ sql: String, _ argument: String? = nil) throws -> [[String?]] {
        let statement = try Statement(sql, on: connection)
        defer { statement.finish() }
        if let argument { try statement.bind(1, .text(argument)) }
        var rows: [[String?]] = []
        while try statement.step() { rows.append((0..<Int(sqlite3_column_count(statement.handle))).map { statement.text($0) }) }
        return rows
    }
}
