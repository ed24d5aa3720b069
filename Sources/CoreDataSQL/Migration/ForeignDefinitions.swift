// Views, triggers and indexes that no model has made.

import CoreDataValues

/// Keeps what a program has defined over the tables of a store, while these are made anew: *sort out · set aside · sort out · put back*
///
/// Where one thing goes after the other later on, as clean-up does it: *set aside · put back*.
///
/// Whatever the database cannot compile any more is left out: it refuses changes of the schema, and as a trigger the saves of the store.
/// Inside a transaction. What a definition does not compile by is no error that leaves pages unwritten, so the transaction may go on.
package final class ForeignDefinitions {
    private struct Definition {
        let kind: String
        let name: String
        let table: String
        let sql: String
        var isIndex: Bool { kind == "index" }
    }
    private let session: any SQLSession
    private var dialect: any SQLDialect { session.dialect }
    /// Those that are put back when the tables are as they will be.
    private var waiting: [Definition] = []
    /// Whether there was none at the first look. Nobody else can make one meanwhile.
    private var areNone = false
    /// The indexes that a model has made, by their names, with their statements: as they were when the database was last asked, without
    /// those of tables that are set aside, with which they go.
    private(set) var modelIndexes: [String: String] = [:]

    package init(_ session: any SQLSession) { self.session = session }

    /// Before tables are set aside, and once the new ones are there. Columns that are renamed afterwards are followed by the database.
    package func sortOut() throws {
        let present = try definitions().filter { !$0.isIndex }
        if try present.isEmpty || compiles() { return }
        for definition in present.reversed() { try drop(definition) }
        waiting += try make(present)
    }

    /// - Parameter tables: those that are made anew. With them all that is defined over them goes.
    package func setAside(over tables: Set<String>) throws {
        let gone = try definitions().filter { tables.contains($0.table) && $0.kind != "view" }
        for definition in gone { try drop(definition) }
        waiting += gone
    }

    /// Before a table or a column of it goes, which the database refuses where a definition has it, or leaves a definition without.
    func setAside(around table: String) throws {
        let gone = try definitions().filter { !$0.isIndex || $0.table == table }
        for definition in gone.reversed() { try drop(definition) }
        waiting += gone
    }

    /// - Returns: the names of those that are left out.
    package func putBack() throws -> [String] { try make(waiting).map { "\($0.kind) \($0.name)" } }

    /// In the order in which they were made.
    private func definitions() throws -> [Definition] {
        if areNone { return [] }
        let found = try all().filter { !Self.isOfModel($0.kind, $0.name) }
        areNone = found.isEmpty && waiting.isEmpty
        return found
    }

    private func all() throws -> [Definition] {
        guard let query = dialect.definitions else { return [] }
        let all = try session.tuples(query, []).compactMap { row -> Definition? in
            guard row.count == 4, let kind = row[0].word, let name = row[1].word, let table = row[2].word,
                let sql = row[3].word
            else { return nil }
            return Definition(kind: kind, name: name, table: table, sql: sql)
        }
        modelIndexes = all.reduce(into: [:]) { indexes, definition in
            guard definition.isIndex, Self.isOfModel(definition.kind, definition.name),
                !definition.table.hasPrefix(MigrationCompiler.asidePrefix)
            else { return }
            indexes[definition.name] = definition.sql
        }
        return all
    }

    /// Asks anew, once tables or columns have other names.
    func lookAgain() throws { _ = try all() }

    /// By the names that Core Data gives.
    private static func isOfModel(_ kind: String, _ name: String) -> Bool {
        kind == "index" ? name.hasPrefix("Z") : name.hasPrefix("Z_DA_") || name.hasPrefix("Z_RT_")
    }

    private func drop(_ definition: Definition) throws {
        try session.run("DROP \(definition.kind.uppercased()) IF EXISTS \(dialect.quoted(definition.name))", [])
    }

    /// - Returns: those that do not compile.
    private func make(_ definitions: [Definition]) throws -> [Definition] {
        // One may need another that was made later.
        var (open, count) = (definitions, definitions.count + 1)
        while !open.isEmpty, open.count < count {
            count = open.count
            open = try open.filter { try !make($0) }
        }
        return open
    }

    private func make(_ definition: Definition) throws -> Bool {
        guard try succeeds(definition.sql) else { return false }
        if try definition.isIndex || compiles() { return true }
        try drop(definition)
        return false
    }

    /// Whether the database can make sense of all views and triggers.
    private func compiles() throws -> Bool {
        let (table, key) = (dialect.defined("Z_FORMER_TEST"), dialect.defined("Z_PK"))
        try session.run("CREATE TABLE \(table) ( \(key) \(dialect.type(.int)) )", [])
        let compiles = try succeeds("ALTER TABLE \(table) RENAME COLUMN \(key) TO \(key)")
        try session.run("DROP TABLE \(table)", [])
        return compiles
    }

    private func succeeds(_ sql: String) throws -> Bool {
        do { try session.run(sql, []) } catch let error as StoreError {
            guard session.isOfStatement(error) else { throw error }
            return false
        }
        return true
    }
}
