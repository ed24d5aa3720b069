// Where a page in the middle of an indexed order begins.

import CoreDataValues

/// Finds the first row of a page by an index alone.
///
/// Where an index has the first of several sort keys, a database reads all rows before the page too, and sorts them run by run of equal
/// keys. Here the index says which key the page begins with and how many rows have keys before that; only the rest is read and sorted.
/// Null comes first in an order, and last in a descending one.
struct PageStart {
    /// Which rows are not before the page by their first key. All rows, where the page begins with null or has no row.
    let condition: String
    /// How many of these are before it by their other keys.
    let offset: String

    /// - Parameters:
    ///   - column: the first key, in rows of the table under the alias of `scope`.
    ///   - offset: a parameter.
    init(_ column: String, isAscending: Bool, _ scope: SelectScope, offset: String) throws {
        let dialect = scope.builder.map.dialect
        let table = dialect.quoted(try scope.builder.map.table(of: scope.entity.index).name)
        let (own, key) = (scope.column(column), dialect.quoted(column))
        let order = key + (isAscending ? "" : " DESC") + dialect.nullOrder(isAscending: isAscending)
        let first = "(SELECT \(key) FROM \(table) ORDER BY \(order)\(dialect.part(limit: "1", offset: offset)))"
        let earlier =
            isAscending ? "\(key) < \(first) OR (\(key) IS NULL AND \(first) IS NOT NULL)" : "\(key) > \(first)"
        condition =
            isAscending
            ? "(\(own) >= \(first) OR \(first) IS NULL)"
            : "(\(own) <= \(first) OR \(own) IS NULL OR \(first) IS NULL)"
        self.offset = "\(offset) - (SELECT COUNT(*) FROM \(table) WHERE \(earlier))"
    }
}
