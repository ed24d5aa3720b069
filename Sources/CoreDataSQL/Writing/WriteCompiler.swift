// Statements that write: one text for each shape, values always bound.

import CoreDataValues

/// Compiles writes over one store's map. Parameters are plain `?`, in the order the comments give.
package struct WriteCompiler: Sendable {
    package let map: StoreMap
    package init(_ map: StoreMap) { self.map = map }

    /// How many rows the next INSERT carries when `left` are left: the largest power of two up to 32, so that a remainder takes
    /// few statements and an entity has six texts at most.
    ///
    /// Ten rows a statement take 0.76 of the time of single ones, fifty 0.70 (YARDSTICKS §3); chunks hold multiples of 32.
    /// - Parameter parameters: parameters a row; SQLite takes at most 32,766 a statement everywhere.
    package static func rowsOfInsert(left: Int, parameters: Int) -> Int {
        var rows = 32
        while rows > 1, rows > left || rows * parameters > 30_000 { rows /= 2 }
        return rows
    }

    /// How many rows one DELETE of rows with the same version takes.
    package static func rowsOfDelete(left: Int) -> Int { left >= 32 ? 32 : 1 }

    /// The stored slots of an entity, in the order their values are bound.
    package func storedSlots(of entity: Entity) throws -> [Int] {
        let table = try map.table(of: entity.index)
        return entity.slots.indices.filter { table.column(of: $0, in: entity.index) != nil }
    }

    /// For each row: key, version, then the stored slots.
    package func insert(_ entity: Entity, rows: Int) throws -> String {
        let table = try map.table(of: entity.index)
        let columns = try columnNames(storedSlots(of: entity), of: entity, in: table)
        let row = "(?, \(entity.index.number), ?" + String(repeating: ", ?", count: columns.count) + ")"
        return "INSERT INTO \(quoted(table.name)) "
            + "(\((["Z_PK", "Z_ENT", "Z_OPT"] + columns).map(quoted).joined(separator: ", "))) VALUES "
            + Array(repeating: row, count: rows).joined(separator: ", ")
    }

    /// The new version, the slots that are stored, key, old version.
    package func update(_ entity: Entity, slots: [Int]) throws -> String {
        let table = try map.table(of: entity.index)
        let columns = try columnNames(slots, of: entity, in: table)
        let assignments = (["Z_OPT"] + columns).map { "\(quoted($0)) = ?" }.joined(separator: ", ")
        return "UPDATE \(quoted(table.name)) SET \(assignments) WHERE \"Z_PK\" = ? AND \"Z_OPT\" IS ?"
    }

    /// A key, or a JSON list of keys. Answers each row that is there with its new version.
    package func touch(_ entity: Entity, isSingle: Bool) throws -> String {
        "UPDATE \(quoted(try map.table(of: entity.index).name)) SET \"Z_OPT\" = ifnull(\"Z_OPT\", 0) + 1 "
            + "WHERE \"Z_PK\" \(isSingle ? "= ?" : "IN (SELECT value FROM json_each(?))") RETURNING \"Z_PK\", \"Z_OPT\""
    }

    /// The expected version, then the keys.
    package func delete(_ entity: Entity, rows: Int) throws -> String {
        let keys = rows == 1 ? "= ?" : "IN (" + Array(repeating: "?", count: rows).joined(separator: ", ") + ")"
        return "DELETE FROM \(quoted(try map.table(of: entity.index).name)) WHERE \"Z_OPT\" IS ? AND \"Z_PK\" \(keys)"
    }

    /// Key. Answers the version a row has now.
    package func version(_ entity: Entity) throws -> String {
        "SELECT \"Z_OPT\" FROM \(quoted(try map.table(of: entity.index).name)) WHERE \"Z_PK\" = ?"
    }

    /// Deleted keys as a JSON list: takes their pairs out of every join table they may be in.
    package func unlink(_ entity: Entity) -> [String] {
        entity.toMany.compactMap { relationship in
            guard let table = map.join(of: relationship) else { return nil }
            let side = table.side(of: relationship)
            let keys = "IN (SELECT value FROM json_each(?1))"
            let both = table.isReflexive ? " OR \(quoted(side.member)) \(keys)" : ""
            return "DELETE FROM \(quoted(table.name)) WHERE \(quoted(side.owner)) \(keys)\(both)"
        }
    }

    /// Owner, member, then the position in each side that is ordered, this one first. A pair that is there already stays as it is.
    package func link(_ side: JoinTable.Side, other: JoinTable.Side, in table: JoinTable) -> String {
        let orders = (table.isReflexive ? [side] : [side, other]).compactMap(\.order)
        let columns = ([side.owner, side.member] + orders).map(quoted)
        return "INSERT OR IGNORE INTO \(quoted(table.name)) (\(columns.joined(separator: ", "))) "
            + "VALUES (\(columns.map { _ in "?" }.joined(separator: ", ")))"
    }

    /// Owner, member.
    package func unlink(_ side: JoinTable.Side, in table: JoinTable) -> String {
        "DELETE FROM \(quoted(table.name)) WHERE \(quoted(side.owner)) = ? AND \(quoted(side.member)) = ?"
    }

    /// Owner. Answers the highest position among its members.
    package func lastPosition(_ columns: PositionColumns) -> String {
        "SELECT MAX(\(quoted(columns.position))) FROM \(quoted(columns.table)) WHERE \(quoted(columns.owner)) = ?"
    }

    /// Owner. Answers each member with its position.
    package func positions(_ columns: PositionColumns) -> String {
        "SELECT \(quoted(columns.member)), \(quoted(columns.position)) FROM \(quoted(columns.table)) "
            + "WHERE \(quoted(columns.owner)) = ?"
    }

    /// Member, owner. Answers the position.
    package func position(_ columns: PositionColumns) -> String {
        "SELECT \(quoted(columns.position)) FROM \(quoted(columns.table)) "
            + "WHERE \(quoted(columns.member)) = ? AND \(quoted(columns.owner)) = ?"
    }

    /// Position, member, owner.
    package func order(_ columns: PositionColumns) -> String {
        "UPDATE \(quoted(columns.table)) SET \(quoted(columns.position)) = ? "
            + "WHERE \(quoted(columns.member)) = ? AND \(quoted(columns.owner)) = ?"
    }

    /// Owner, member: a member enters a to-many without inverse.
    package func adopt(_ column: Column, in table: TableMap) -> String {
        "UPDATE \(quoted(table.name)) SET \(quoted(column.name)) = ? WHERE \"Z_PK\" = ?"
    }

    /// Member, owner: a member leaves, if it still is this owner's.
    package func release(_ column: Column, in table: TableMap) -> String {
        "UPDATE \(quoted(table.name)) SET \(quoted(column.name)) = NULL "
            + "WHERE \"Z_PK\" = ? AND \(quoted(column.name)) IS ?"
    }

    /// Count, root entity number. Answers the highest number handed out afterwards.
    package func allocate(_ root: Entity) throws -> String {
        let table = quoted(try map.table(of: root.index).name)
        return "UPDATE \"Z_PRIMARYKEY\" SET \"Z_MAX\" = MAX(COALESCE(\"Z_MAX\", 0), "
            + "COALESCE((SELECT MAX(\"Z_PK\") FROM \(table)), 0)) + ? WHERE \"Z_ENT\" = ? RETURNING \"Z_MAX\""
    }

    private func columnNames(_ slots: [Int], of entity: Entity, in table: TableMap) throws -> [String] {
        slots.compactMap { table.column(of: $0, in: entity.index) }.map { table.columns[$0].name }
    }
}
