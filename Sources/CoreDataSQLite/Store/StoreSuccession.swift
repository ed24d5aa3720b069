// Puts what was made of a store in its place, without a moment in which others could write to it.

import CCoreDataSQLite
import CoreDataSQL
import CoreDataValues
import Foundation

/// A file that is read, made into another one, and filled with that again, all in one transaction of its own.
///
/// The file stays the same, so that whoever has it open reads the new content next. Other writers wait, readers see the
/// former state until the commit. What is no table of the former store's is left alone; a program's own views, triggers and indexes over its
/// tables are put back where they still make sense.
package struct StoreSuccession {
    private let url: URL
    /// Of the former store.
    private let plan: StorePlan
    private let options: SQLiteOptions
    private var path: String { url.path }

    /// - Parameters:
    ///   - schema: the one that the store has, with the configuration whose entities it keeps.
    ///   - options: how long to wait for others' locks.
    package init(url: URL, schema: Schema, configuration: String?, options: SQLiteOptions) throws {
        (self.url, self.options) = (url, options.patient)
        plan = try StorePlan(schema: schema, configuration: configuration)
    }

    /// *lock · compare · make · take the tables and rows · check · commit*
    ///
    /// - Parameters:
    ///   - hashes: those of the store as it was seen; another process may have been first.
    ///   - successor: where the new store is made.
    ///   - make: leaves it there, closed.
    ///   - check: the last word before the commit.
    /// - Returns: what of a program's own definitions is left out.
    /// - Throws: 134110 for a store that is not as it was seen, what `make` and `check` throw, and what SQLite says; nothing is changed then.
    package func run(
        expecting hashes: [String: Data], successor: URL, make: () throws -> Void, check: () throws -> Void
    ) throws -> [String] {
        let connection = try Connection(path: path, access: .write, options: options, counter: StatementCounter())
        defer { connection.close() }
        var files: ExchangedFiles?
        var omitted: [String] = []
        do {
            // A connection that has read the schema knows that there is a log.
            try connection.run("SELECT COUNT(*) FROM sqlite_master")
            try connection.transaction {
                guard let now = try MetadataRecord.read(connection), now.versionHashes == hashes else {
                    throw StoreError(
                        134110,
                        "The store at \(path) was migrated or replaced elsewhere meanwhile; nothing was changed. Open it again.",
                        path: path)
                }
                try make()
                let made = try Connection(
                    path: successor.path, access: .read, options: SQLiteOptions(), counter: StatementCounter())
                defer { made.close() }
                let uuid = try MetadataRecord.read(made)?.uuid
                let map = try formerMap(connection)
                let externals = try ExternalColumns(map, url: url)
                let former = try Set(externals?.names(connection) ?? []).union(
                    Cleanup(connection, map, externals).waitingFiles())
                files = try ExchangedFiles(
                    from: successor, to: url, former: former, stores: [uuid, now.uuid].compactMap { $0 })
                try files?.link()
                try files?.separate()
                let (foreign, own) = (ForeignDefinitions(connection), try map.tableNames())
                try foreign.sortOut()
                // The history's tables have indexes of Core Data's that are no model's.
                try foreign.setAside(over: own.filter { $0.hasPrefix("Z") })
                try Cleanup.dropTables(connection)
                try clear(own, connection)
                try copyAll(from: made, to: connection)
                try foreign.sortOut()
                omitted = try foreign.putBack()
                try check()
                return true
            }
        } catch {
            files?.undo()
            throw error
        }
        files?.complete()
        return omitted
    }

    // MARK: Tables

    private struct Part {
        let name: String
        let sql: String
        let isTable: Bool
        var isVirtual: Bool { sql.uppercased().hasPrefix("CREATE VIRTUAL") }
    }

    private func parts(_ connection: Connection) throws -> [Part] {
        let statement = try Statement(
            "SELECT name, sql, type FROM sqlite_master WHERE sql IS NOT NULL ORDER BY rowid", on: connection)
        defer { statement.finish() }
        var parts: [Part] = []
        while try statement.step() {
            guard let name = statement.text(0), let sql = statement.text(1), !name.lowercased().hasPrefix("sqlite_")
            else { continue }
            parts.append(Part(name: name, sql: sql, isTable: statement.text(2) == "table"))
        }
        // What an R-tree keeps its nodes in comes and goes with it.
        let shadows = parts.filter(\.isVirtual).flatMap { part in
            ["node", "parent", "rowid"].map { "\(part.name)_\($0)" }
        }
        return parts.filter { !shadows.contains($0.name) }
    }

    private func formerMap(_ connection: Connection) throws -> StoreMap {
        let definitions = try connection.run(
            "SELECT \(SQLiteDialect.joinDefinitions) FROM sqlite_master WHERE type = 'table'")
        return try StoreSetup(plan, connection, ignoresVersionHashes: false).fittingPlan(definitions ?? "").map
    }

    /// Core Data's tables, and those that this library keeps beside them.
    private func clear(_ own: Set<String>, _ connection: Connection) throws {
        for part in try parts(connection) where part.isTable && own.contains(part.name.uppercased()) {
            try connection.run("DROP TABLE \(SQLiteDialect().quoted(part.name))")
        }
    }

    private func copyAll(from made: Connection, to connection: Connection) throws {
        let parts = try parts(made)
        for part in parts where part.isTable {
            try connection.run(part.sql)
            try copyRows(SQLiteDialect().quoted(part.name), from: made, to: connection)
        }
        for part in parts where !part.isTable { try connection.run(part.sql) }
    }

    private func copyRows(_ table: String, from made: Connection, to connection: Connection) throws {
        let rows = try Statement("SELECT * FROM \(table)", on: made)
        defer { rows.finish() }
        let count = sqlite3_column_count(rows.handle)
        let marks = Array(repeating: "?", count: Int(count)).joined(separator: ",")
        let insertion = try Statement("INSERT INTO \(table) VALUES (\(marks))", on: connection)
        while try rows.step() {
            for column in 0..<count {
                let code = sqlite3_bind_value(insertion.handle, column + 1, sqlite3_column_value(rows.handle, column))
                guard code == SQLITE_OK else {
                    throw connection.error(code, doing: "Copying a row", sql: insertion.sql)
                }
            }
            _ = try insertion.step()
            sqlite3_reset(insertion.handle)
        }
        insertion.finish()
    }
}
