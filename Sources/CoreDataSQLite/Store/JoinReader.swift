// The join tables of a file, as the file defines them.

import CoreDataSQL
import CoreDataValues

/// Reads the definitions and columns of a file's join tables.
struct JoinReader {
    let connection: Connection

    private static let isJoin = "name GLOB 'Z_[0-9]*'"
    /// All definitions in one text, for a statement that reads the tables in `sqlite_master`.
    static let definitions = "group_concat(CASE WHEN \(isJoin) THEN sql END, char(10))"

    func read() throws -> String {
        try connection.run("SELECT \(Self.definitions) FROM sqlite_master WHERE type = 'table'") ?? ""
    }

    /// Columns by table.
    func tables() throws -> [String: [String]] {
        let statement = try Statement(
            "SELECT m.name, c.name FROM sqlite_master m, pragma_table_info(m.name) c WHERE m.type = 'table' AND m.\(Self.isJoin)",
            on: connection)
        defer { statement.finish() }
        var tables: [String: [String]] = [:]
        while try statement.step() {
            if let table = statement.text(0), let column = statement.text(1) { tables[table, default: []].append(column) }
        }
        return tables
    }

    /// The error for relationships whose tables cannot be told.
    func refusal(_ answer: StoredJoins.Answer, _ schema: Schema) -> StoreError {
        let first = answer.unknown.first.map { schema[$0.join.relationship] }
        let sentences = answer.unknown.map { join, candidates in
            let titles = [join.relationship, join.inverse].map { "\(schema[schema[$0].owner].name).\(schema[$0].name)" }
            return (join.isReflexive ? titles[0] : titles.joined(separator: " and "))
                + (candidates.isEmpty ? " (no table is left)" : " (may be \(candidates.joined(separator: ", ")))")
        }
        return StoreError(
            134020,
            "The store at \(connection.path) does not say which table keeps the members of \(sentences.joined(separator: "; ")). "
                + "Restore the store from a copy, or rename the table's columns after the relationships.",
            path: connection.path, entity: first.map { schema[$0.owner].name }, property: first?.name)
    }
}
