// Statements that write: one text for each shape, values always bound.

import CoreDataValues

/// Compiles writes over one store's map. Parameters are bound in the order the comments give.
package final class WriteCompiler: Sendable {
    package let map: StoreMap
    /// By entity, those that the store does not keep have none.
    private let stored: [[Int]]

    package init(_ map: StoreMap) {
        self.map = map
        stored = map.schema.entities.map { entity in
            guard let table = try? map.table(of: entity.index) else { return [] }
            return entity.slots.indices.filter { table.column(of: $0, in: entity.index) != nil }
        }
    }

    private var dialect: any SQLDialect { map.dialect }
    private func quoted(_ name: String) -> String { map.dialect.quoted(name) }
    private func next(_ number: Int) -> String { map.dialect.next(number) }
    private var isInKeys: String { dialect.isIn(SQLList(dialect.parameter(1, like: dialect.list([Int64(0)])))) }
    /// The same in a statement whose parameters stand in their order.
    private func isInKeys(_ number: Int) -> String { dialect.isIn(SQLList(dialect.next(number))) }

    /// How many rows the next INSERT carries when `left` are left: 32, 4 or 1, so that a remainder takes few statements and an entity
    /// has three texts at most. To prepare one takes 17,000 instructions a row.
    ///
    /// Ten rows a statement take 0.76 of the time of single ones, fifty 0.70; chunks hold multiples of 32.
    /// - Parameter parameters: parameters a row; SQLite takes at most 32,766 a statement everywhere, others 65,535.
    package static func rowsOfInsert(left: Int, parameters: Int) -> Int {
        [32, 4].first { $0 <= left && $0 * parameters <= 30_000 } ?? 1
    }

    /// How many rows one DELETE of rows with the same version takes when `left` are left. SQLite puts the keys of a list into a table of
    /// their own, which takes 20,000 instructions to make.
    package static func rowsOfDelete(left: Int) -> Int { left >= 128 ? 128 : left >= 32 ? 32 : 1 }

    /// The stored slots of an entity, in the order their values are bound.
    package func stored(of entity: EntityIndex) -> [Int] { stored[entity.value] }

    /// For each row: key, version, then the stored slots.
    package func insert(_ entity: Entity, rows: Int) throws -> String {
        let table = try map.table(of: entity.index)
        let columns = try columnNames(stored[entity.index.value], of: entity, in: table)
        let width = columns.count + 2
        func values(_ row: Int) -> String {
            let parameters = (1...width).map { next(row * width + $0) }
            return "(\(parameters[0]), \(entity.index.number), \(parameters.dropFirst().joined(separator: ", ")))"
        }
        // Where parameters have no numbers all rows are alike: to put 32 together one by one takes 300,000 instructions.
        let list = next(1) == next(2) ? Array(repeating: values(0), count: rows) : (0..<rows).map(values)
        return "INSERT INTO \(quoted(table.name)) "
            + "(\((["Z_PK", "Z_ENT", "Z_OPT"] + columns).map(quoted).joined(separator: ", "))) VALUES "
            + list.joined(separator: ", ")
    }

    /// The new version, the slots that are stored, key, old version.
    package func update(_ entity: Entity, slots: [Int]) throws -> String {
        let table = try map.table(of: entity.index)
        let columns = try ["Z_OPT"] + columnNames(slots, of: entity, in: table)
        let assignments = columns.enumerated().map { "\(quoted($1)) = \(next($0 + 1))" }.joined(separator: ", ")
        let (key, version) = (next(columns.count + 1), next(columns.count + 2))
        return
            "UPDATE \(quoted(table.name)) SET \(assignments) WHERE \"Z_PK\" = \(key) AND \(dialect.isSame("\"Z_OPT\"", version))"
    }

    /// A key, or a list of keys. Answers each row that is there with its new version.
    package func touch(_ entity: Entity, isSingle: Bool) throws -> String {
        "UPDATE \(quoted(try map.table(of: entity.index).name)) SET \"Z_OPT\" = \(dialect.risen("\"Z_OPT\"")) "
            + "WHERE \"Z_PK\" \(isSingle ? "= \(next(1))" : isInKeys(1)) RETURNING \"Z_PK\", \"Z_OPT\""
    }

    /// The expected version, then the keys.
    package func delete(_ entity: Entity, rows: Int) throws -> String {
        var keys = "= \(next(2))"
        if rows > 1 {
            keys = "IN (\(next(2))"
            for number in 3..<(rows + 2) {
                keys += ", "
                keys += next(number)
            }
            keys += ")"
        }
        return
            "DELETE FROM \(quoted(try map.table(of: entity.index).name)) WHERE \(dialect.isSame("\"Z_OPT\"", next(1))) "
            + "AND \"Z_PK\" \(keys)"
    }

    /// Key. Answers the version a row has now.
    package func version(_ entity: Entity) throws -> String {
        "SELECT \"Z_OPT\" FROM \(quoted(try map.table(of: entity.index).name)) WHERE \"Z_PK\" = \(next(1))"
    }

    /// A list of keys: the columns become NULL.
    package func clear(_ entity: Entity, slots: [Int]) throws -> String {
        let table = try map.table(of: entity.index)
        let assignments = try columnNames(slots, of: entity, in: table).map { "\(quoted($0)) = NULL" }.joined(
            separator: ", ")
        return "UPDATE \(quoted(table.name)) SET \(assignments) WHERE \"Z_PK\" \(isInKeys)"
    }

    /// A list of deleted keys: takes their pairs out of every join table they may be in.
    package func unlink(_ entity: Entity) -> [String] {
        entity.toMany.compactMap { relationship in
            guard let table = map.join(of: relationship) else { return nil }
            let side = table.side(of: relationship)
            let keys = isInKeys
            let both = table.isReflexive ? " OR \(quoted(side.member)) \(keys)" : ""
            return "DELETE FROM \(quoted(table.name)) WHERE \(quoted(side.owner)) \(keys)\(both)"
        }
    }

    /// Owner, member, then the position in each side that is ordered, this one first. A pair that is there already stays as it is.
    package func link(_ side: JoinTable.Side, other: JoinTable.Side, in table: JoinTable) -> String {
        let orders = (table.isReflexive ? [side] : [side, other]).compactMap(\.order)
        let columns = ([side.owner, side.member] + orders).map(quoted)
        return dialect.insertNew(into: quoted(table.name), columns, columns.indices.map { next($0 + 1) })
    }

    /// Owner, member.
    package func unlink(_ side: JoinTable.Side, in table: JoinTable) -> String {
        "DELETE FROM \(quoted(table.name)) WHERE \(quoted(side.owner)) = \(next(1)) AND \(quoted(side.member)) = \(next(2))"
    }

    /// Owner. Answers the highest position among its members.
    package func lastPosition(_ columns: PositionColumns) -> String {
        "SELECT MAX(\(quoted(columns.position))) FROM \(quoted(columns.table)) WHERE \(quoted(columns.owner)) = \(next(1))"
    }

    /// Owner. Answers each member with its position.
    package func positions(_ columns: PositionColumns) -> String {
        "SELECT \(quoted(columns.member)), \(quoted(columns.position)) FROM \(quoted(columns.table)) "
            + "WHERE \(quoted(columns.owner)) = \(next(1))"
    }

    /// Member, owner. Answers the position.
    package func position(_ columns: PositionColumns) -> String {
        "SELECT \(quoted(columns.position)) FROM \(quoted(columns.table)) "
            + "WHERE \(quoted(columns.member)) = \(next(1)) AND \(quoted(columns.owner)) = \(next(2))"
    }

    /// Position, member, owner.
    package func order(_ columns: PositionColumns) -> String {
        "UPDATE \(quoted(columns.table)) SET \(quoted(columns.position)) = \(next(1)) "
            + "WHERE \(quoted(columns.member)) = \(next(2)) AND \(quoted(columns.owner)) = \(next(3))"
    }

    /// Owner, member: a member enters a to-many without inverse.
    package func adopt(_ column: Column, in table: TableMap) -> String {
        "UPDATE \(quoted(table.name)) SET \(quoted(column.name)) = \(next(1)) WHERE \"Z_PK\" = \(next(2))"
    }

    /// Member, owner: a member leaves, if it still is this owner's.
    package func release(_ column: Column, in table: TableMap) -> String {
        "UPDATE \(quoted(table.name)) SET \(quoted(column.name)) = NULL "
            + "WHERE \"Z_PK\" = \(next(1)) AND \(dialect.isSame(quoted(column.name), next(2)))"
    }

    /// Count, root entity number. Answers the highest number handed out afterwards.
    package func allocate(_ root: Entity) throws -> String {
        let table = quoted(try map.table(of: root.index).name)
        let last = dialect.larger("COALESCE(\"Z_MAX\", 0)", "COALESCE((SELECT MAX(\"Z_PK\") FROM \(table)), 0)")
        return
            "UPDATE \"Z_PRIMARYKEY\" SET \"Z_MAX\" = \(last) + \(next(1)) WHERE \"Z_ENT\" = \(next(2)) RETURNING \"Z_MAX\""
    }

    private func columnNames(_ slots: [Int], of entity: Entity, in table: TableMap) throws -> [String] {
        slots.compactMap { table.column(of: $0, in: entity.index) }.map { table.columns[$0].name }
    }
}
