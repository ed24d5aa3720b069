// What a database has of tables, columns, indexes and triggers.

import CoreDataValues

/// Asks the database, not the model.
package struct Catalogue {
    private let session: any SQLReading
    package init(_ session: any SQLReading) { self.session = session }

    package func tables() throws -> Set<String> { Set(try names(session.dialect.tables)) }

    /// The types of a table's columns by their names, as the dialect spells them; empty for a table that is not there.
    package func columns(of table: String) throws -> [String: String] {
        Dictionary(try pairs(session.dialect.columns(of: table)), uniquingKeysWith: { first, _ in first })
    }

    func uniqueIndexes(of table: String) throws -> Set<String> {
        Set(try names(session.dialect.uniqueIndexes(of: table)))
    }

    /// The columns of a table's indexes by the indexes' names; what an index computes is no column. Without those of primary keys.
    func indexes(of table: String) throws -> [String: Set<String>] {
        var indexes: [String: Set<String>] = [:]
        for (index, column) in try pairs(session.dialect.indexes(of: table)) {
            indexes[index, default: []].insert(column)
        }
        return indexes
    }

    func triggers() throws -> [String] { try names(session.dialect.triggers) }

    /// The columns of tables that are named as join tables are.
    package func joinTables() throws -> [String: [String]] {
        var tables: [String: [String]] = [:]
        for (table, column) in try pairs(session.dialect.joinColumns) { tables[table, default: []].append(column) }
        return tables
    }

    private func names(_ sql: String) throws -> [String] { try session.tuples(sql, []).compactMap { $0.first?.word } }

    private func pairs(_ sql: String) throws -> [(String, String)] {
        try session.tuples(sql, []).compactMap { row in
            guard row.count == 2, let first = row[0].word, let second = row[1].word else { return nil }
            return (first, second)
        }
    }
}

extension Value {
    /// nil for what a database keeps as something else than a text.
    package var word: String? {
        if case .text(let text) = self { text } else { nil }
    }
}
