// The tables in which a set change keeps its rows while it runs.

import CoreDataValues

/// A temporary table of the rows that a set change is about. Nothing of them passes through memory.
///
/// It is emptied at the end and stays with its connection: a table is dropped only where nobody reads by that connection.
package enum KeyTable {
    /// The rows of a deletion: tree, number, entity, the round in which a row was found.
    package static let rows = "coredata_set"
    /// Rows that stay and change because others go: tree, number, entity, which relationship.
    package static let hits = "coredata_hit"

    /// The rows of an update, with a further column for each value that is computed: a table for each list of kinds.
    package static func rows(with values: [SlotKind]) -> String {
        "coredata_update" + (values.isEmpty ? "" : "_") + values.map { String($0.rawValue, radix: 36) }.joined()
    }

    /// - Parameter values: what is kept in further columns, `v0`, `v1` …
    package static func define(_ name: String, values: [SlotKind] = [], key: String, _ dialect: any SQLDialect)
        -> String
    {
        let columns = ["t", "k", "e", "r"].map { "\($0) \(dialect.type(.int)) NOT NULL" }
        let further = values.enumerated().map { "v\($0.offset) \(dialect.type($0.element))" }
        return
            "CREATE TEMPORARY TABLE IF NOT EXISTS \(name) (\((columns + further).joined(separator: ", ")), PRIMARY KEY (\(key)))"
    }

    package static func empty(_ name: String) -> String { "DELETE FROM \(name)" }

    /// The numbers of a tree's rows in brackets, to stand behind `IN`.
    package static func numbers(of root: EntityIndex, in name: String = rows, where condition: String = "") -> String {
        "(SELECT k FROM \(name) WHERE t = \(root.number)\(condition.isEmpty ? "" : " AND " + condition))"
    }

    /// Answers entities with the number of their rows.
    package static func entities(in name: String) -> String { "SELECT e, COUNT(*) FROM \(name) GROUP BY e ORDER BY e" }

    /// Answers number and entity of the rows of a round, by number.
    package static func keys(round: Int, in name: String = rows) -> String {
        "SELECT k, e FROM \(name) WHERE r = \(round) ORDER BY k"
    }

    /// Answers number and entity of all rows.
    package static func keys(in name: String) -> String { "SELECT DISTINCT k, e FROM \(name) ORDER BY e, k" }

    /// The entities of a range, as a condition on a column.
    static func among(_ column: String, _ entities: ClosedRange<UInt16>) -> String {
        "\(column) BETWEEN \(entities.lowerBound + 1) AND \(entities.upperBound + 1)"
    }
}

extension SelectCompiler {
    /// Fills a table of rows with what a query finds, and columns computed of each.
    package func fill(_ query: Query, _ operands: [BoundOperand] = [], into name: String = KeyTable.rows) throws
        -> Selection
    {
        let builder = SelectBuilder(map, query.values)
        let scope = SelectScope(builder, entity: query.bound.entity)
        let scopes = LevelScopes(scope)
        let columns = try operands.map { try OperandCompiler(scopes: scopes).compile($0) }
        let condition = try self.condition(query.bound, scopes)
        let order = query.isPart ? try self.order(query.bound.order, scopes) : ""
        // A table without subentities may hold NULL there.
        let root = map.schema[query.bound.entity.root]
        let entity = root.hasSubentities ? scope.column("Z_ENT") : "\(root.index.number)"
        let values = [scope.column("Z_PK"), entity] + columns
        var sql = "INSERT INTO \(name) SELECT \(root.index.number), \(values[0]), \(values[1]), 0"
        sql += columns.map { ", " + $0 }.joined() + " FROM \(try scope.from())\(condition)\(order)"
        if query.isPart { sql += limit(query, builder) }
        return Selection(sql: sql, bindings: builder.bindings)
    }
}
