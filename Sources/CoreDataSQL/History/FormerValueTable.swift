// The table of values that rows had before a transaction: ours, and unknown to Core Data.

import CoreDataValues

/// Names, definitions and statements. A row a value, by the name of its property, so that new columns change nothing; one without a
/// property for each transaction that keeps them. A minus before the name: a member that an owner lost without a change of its own.
package struct FormerValueTable: Sendable {
    package static let name = "OCDFORMERVALUE"
    private let dialect: any SQLDialect
    package init(_ dialect: any SQLDialect) { self.dialect = dialect }

    private func name(_ name: String) -> String { dialect.defined(name) }
    private var table: String { name(Self.name) }
    private func number(_ number: Int) -> String { dialect.parameter(number, like: .int(0)) }
    private static let columns = ["ZTRANSACTIONID", "ZENTITY", "ZENTITYPK", "ZPROPERTY", "ZPLACE", "ZVALUE"]

    package var definitions: [String] {
        let kinds: [SlotKind] = [.int, .int, .int, .text, .int, .data]
        let columns = zip(Self.columns, kinds).map { "\(name($0)) \(dialect.type($1))" }.joined(separator: ", ")
        return [
            "CREATE TABLE IF NOT EXISTS \(table) ( \(columns) )",
            "CREATE INDEX IF NOT EXISTS \(name("OCDFORMERVALUE_ZTRANSACTIONID")) ON \(table) (\(name("ZTRANSACTIONID")))",
        ]
    }

    /// Transaction. Says that its values are kept, even if there are none.
    package var mark: String { "INSERT INTO \(table) (\(name("ZTRANSACTIONID"))) VALUES (\(number(1)))" }

    static func lost(_ property: String) -> String { "-" + property }

    /// The property of a name in the table, and whether it says what was lost.
    static func property(_ name: String) -> (name: String, isLost: Bool) {
        name.hasPrefix("-") ? (String(name.dropFirst()), true) : (name, false)
    }

    /// Which rows: a list of numbers as the last parameter, or a SELECT in brackets.
    package enum Rows: Sendable {
        case listed
        case selected(String)
    }

    private func among(_ rows: Rows, _ last: Int = 4) -> String {
        switch rows {
        case .listed: dialect.isIn(SQLList(dialect.parameter(last, like: dialect.list([Int64(0)]))))
        case .selected(let keys): "IN \(keys)"
        }
    }

    /// Transaction, entity, name of the property. Copies a column of rows.
    package func keep(_ column: Column, of source: String, rows: Rows) -> String {
        let cell = "r.\(dialect.quoted(column.name))"
        let value = column.kind == .externalData ? dialect.content(cell, length: nil) : dialect.tombstone(cell)
        return insert("r.\"Z_PK\"", place: "NULL", value)
            + " FROM \(dialect.quoted(source)) AS r WHERE r.\"Z_PK\" \(among(rows))"
    }

    /// The same for the members of a to-many.
    package func keep(_ members: MemberColumns, rows: Rows) -> String {
        let owner = "r.\(dialect.quoted(members.owner))"
        let place = members.position.map { "r.\(dialect.quoted($0))" } ?? "NULL"
        return insert(owner, place: place, dialect.tombstone("r.\(dialect.quoted(members.member))"))
            + " FROM \(dialect.quoted(members.table)) AS r WHERE \(owner) \(among(rows))"
    }

    private func insert(_ row: String, place: String, _ value: String) -> String {
        insert(number(2), row, dialect.parameter(3, like: .text("")), place, value)
    }

    private func insert(_ entity: String, _ row: String, _ property: String, _ place: String, _ value: String) -> String
    {
        "INSERT INTO \(table) (\(Self.columns.map(name).joined(separator: ", "))) SELECT \(number(1)), \(entity), \(row), "
            + "\(property), \(place), \(value)"
    }

    /// Transaction, name of the to-many. Keeps rows as members of their owners, whose own numbers stand in a column; with an order, each
    /// with how many stand before it.
    ///
    /// - Parameter entity: the number of the owners' entity; nil where their rows in `owners` tell it.
    package func keepLost(_ members: MemberColumns, of owners: String, entity: Int?, rows: Rows) -> String {
        let (table, owner) = (dialect.quoted(members.table), dialect.quoted(members.owner))
        let isLost = "r.\"Z_PK\" \(among(rows, 3))"
        var source = table
        if let position = members.position.map(dialect.quoted) {
            let order = "\(position)\(dialect.nullOrder(isAscending: true)), \"Z_PK\""
            source =
                "(SELECT \"Z_PK\", \(owner), ROW_NUMBER() OVER (PARTITION BY \(owner) ORDER BY \(order)) - 1 AS place FROM \(table) "
                + "WHERE \(owner) IN (SELECT r.\(owner) FROM \(table) AS r WHERE \(isLost)))"
        }
        let place = members.position == nil ? "NULL" : "r.place"
        let tag = entity.map(String.init) ?? "o.\"Z_ENT\""
        return insert(
            tag, "r.\(owner)", dialect.parameter(2, like: .text("")), place, dialect.tombstone("r.\"Z_PK\""))
            + " FROM \(source) AS r\(entity == nil ? " JOIN \(dialect.quoted(owners)) AS o ON o.\"Z_PK\" = r.\(owner)" : "") "
            + "WHERE r.\(owner) IS NOT NULL AND \(isLost)"
    }

    /// Transaction. Answers entity, number, property, place and value.
    package var values: String {
        "SELECT \(Self.columns.dropFirst().map(name).joined(separator: ", ")) FROM \(table) WHERE \(name("ZTRANSACTIONID")) = \(number(1)) "
            + "ORDER BY \(name("ZENTITY")), \(name("ZENTITYPK")), \(name("ZPROPERTY")), \(name("ZPLACE"))"
    }

    // MARK: Migrating

    /// Answers entities and properties that there are values of.
    package var properties: String {
        "SELECT DISTINCT \(name("ZENTITY")), \(name("ZPROPERTY")) FROM \(table) WHERE \(name("ZENTITY")) IS NOT NULL"
    }

    /// Entity and property before, entity and property afterwards. What was moved has a negative number until all is.
    package var move: String {
        "UPDATE \(table) SET \(name("ZENTITY")) = -\(number(3)), \(name("ZPROPERTY")) = \(dialect.parameter(4, like: .text(""))) "
            + "WHERE \(name("ZENTITY")) = \(number(1)) AND \(name("ZPROPERTY")) = \(dialect.parameter(2, like: .text("")))"
    }

    /// Drops what was not moved, and gives the rest its numbers.
    package var moved: [String] {
        let entity = name("ZENTITY")
        return [
            "DELETE FROM \(table) WHERE \(entity) > 0",
            "UPDATE \(table) SET \(entity) = -\(entity) WHERE \(entity) < 0",
        ]
    }

    /// Removes what came before a transaction.
    package var shortening: String { "DELETE FROM \(table) WHERE \(name("ZTRANSACTIONID")) < \(number(1))" }
}

/// Where a store keeps the members of a to-many.
package struct MemberColumns: Sendable, Equatable {
    package let table: String
    package let owner: String
    package let member: String
    package let position: String?
}

extension StoreMap {
    /// nil where the members' own to-ones say all of it.
    func members(of index: RelationshipIndex) throws -> MemberColumns? {
        if let ordered = try positions(of: index) {
            return MemberColumns(
                table: ordered.table, owner: ordered.owner, member: ordered.member, position: ordered.position)
        }
        if let join = join(of: index) {
            let side = join.side(of: index)
            return MemberColumns(table: join.name, owner: side.owner, member: side.member, position: nil)
        }
        let table = try table(of: schema[index].destination)
        return table.ownerColumn(of: index).map {
            MemberColumns(table: table.name, owner: $0.name, member: "Z_PK", position: nil)
        }
    }
}
