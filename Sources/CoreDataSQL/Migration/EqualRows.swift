// The rows that a uniqueness constraint forbids.

import CoreDataValues

/// Rows that have the same values in all of a constraint's attributes, ten at most.
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

    /// Answers number and entity of each row and its values, equal ones together. Nulls are not equal.
    var sql: String {
        let (key, entity, list) = (dialect.quoted("Z_PK"), dialect.quoted("Z_ENT"), columns.joined(separator: ", "))
        let present = columns.map { dialect.isPresent($0) }.joined(separator: " AND ")
        let equal = "SELECT \(list) FROM \(table) WHERE \(present) GROUP BY \(list) HAVING COUNT(*) > 1"
        let pairs = columns.map { "e.\($0) = t.\($0)" }.joined(separator: " AND ")
        let own = columns.map { "t.\($0)" }.joined(separator: ", ")
        return
            "SELECT t.\(key), t.\(entity), \(own) FROM \(table) AS t JOIN (\(equal)) AS e ON \(pairs) ORDER BY \(own), t.\(key) LIMIT 10"
    }
}
