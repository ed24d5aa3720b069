// The rows that a uniqueness constraint forbids.

import CoreDataValues

/// Rows that have the same values in all of a constraint's attributes, as many as are named one by one.
struct EqualRows {
    private let table: String
    private let columns: [String]
    private let dialect: any SQLDialect

    init(_ entity: Entity, _ constraint: UniquenessConstraint, _ map: StoreMap) {
        let table = try? map.table(of: entity.index)
        dialect = map.dialect
        self.table = dialect.quoted(table?.name ?? "")
        columns = constraint.slots.compactMap { slot in
            table.flatMap { table in
                table.column(of: slot, in: entity.index).map { map.dialect.quoted(table.columns[$0].name) }
            }
        }
    }

    private var list: String { columns.joined(separator: ", ") }
    private var equal: String {
        let present = columns.map { dialect.isPresent($0) }.joined(separator: " AND ")
        return "FROM \(table) WHERE \(present) GROUP BY \(list) HAVING COUNT(*) > 1"
    }

    /// Answers how many there are.
    var count: String { "SELECT SUM(e.n) FROM (SELECT COUNT(*) AS n \(equal)) AS e" }

    /// Answers number and entity of each row and its values, equal ones together. Nulls are not equal.
    var sql: String {
        let (key, entity) = (dialect.quoted("Z_PK"), dialect.quoted("Z_ENT"))
        let pairs = columns.map { "e.\($0) = t.\($0)" }.joined(separator: " AND ")
        let own = columns.map { "t.\($0)" }.joined(separator: ", ")
        return
            "SELECT t.\(key), t.\(entity), \(own) FROM \(table) AS t JOIN (SELECT \(list) \(equal)) AS e ON \(pairs) ORDER BY \(own), t.\(key) LIMIT \(FailedObject.limit)"
    }
}
