// Records commits in the history, inside their transactions.

import CoreDataSQL
import CoreDataValues
import Foundation

/// Writes one transaction with its changes for each commit of a store that keeps history.
///
/// Numbers are taken in the transaction of the commit, not from blocks: a higher number is a later commit, whichever process made
/// it, so that a token misses none.
struct HistoryWriter: Sendable {
    let masks: [ChangeMask]
    /// By entity: how its deletions are written.
    private let deletions: [String]
    private let tables: HistoryTables
    let statements: HistoryStatements
    private let dialect: any SQLDialect
    private let bundle: String
    private let process: String

    init(_ map: StoreMap) throws {
        masks = map.schema.entities.map { ChangeMask($0, map.schema) }
        process = ProcessInfo.processInfo.processName
        bundle = Bundle.main.bundleIdentifier ?? process
        let statements = HistoryStatements(map.dialect)
        var (deletions, most) = ([String](), 0)
        for entity in map.schema.entities {
            let slots = masks[entity.index.value].tombstones
            guard !slots.isEmpty, let table = try? map.table(of: entity.index) else {
                deletions.append(statements.addChanges)
                continue
            }
            let columns = slots.compactMap { table.column(of: $0, in: entity.index) }.map { table.columns[$0].name }
            deletions.append(statements.addDeletions(keeping: columns, of: table.name))
            most = max(most, columns.count)
        }
        self.deletions = deletions
        tables = HistoryTables(tombstones: most, dialect: map.dialect)
        self.statements = statements
        dialect = map.dialect
    }

    // MARK: Opening

    /// Makes the tables, or the columns that are missing in them; nothing is written where all are there.
    func prepare(_ connection: Connection) throws {
        if try missing(connection).isEmpty { return }
        try connection.transaction {
            // Another process may have been faster, and a table that is not there yet is made whole.
            for table in HistoryTables.Table.allCases { try connection.run(tables.definition(of: table)) }
            for (table, field) in try missing(connection) {
                try connection.run(tables.addition(of: field, to: table))
            }
            for sql in tables.indexes { try connection.run(sql) }
            return true
        }
    }

    private func missing(_ connection: Connection) throws -> [(table: HistoryTables.Table, field: HistoryTables.Field)] {
        try HistoryTables.Table.allCases.flatMap { table in
            let statement = try Statement("SELECT name FROM pragma_table_info(?)", on: connection)
            defer { statement.finish() }
            try statement.bind(1, .text(table.name))
            var found: Set<String> = []
            while try statement.step() { if let name = statement.text(0) { found.insert(name) } }
            return tables.fields(of: table).filter { !found.contains($0.name) }.map { (table, $0) }
        }
    }

    // MARK: A commit

    /// Before rows are deleted, since tombstones are copied from those that are about to go.
    ///
    /// - Parameter gone: touched rows that are not there any more, of which there is nothing to tell.
    func record(_ batch: ChangeBatch, without gone: Set<RowKey>, on connection: Connection) throws {
        let changes = RecordedChanges(batch, masks, without: gone)
        let count = changes.count
        if count == 0 { return }
        let transaction = try addTransaction(batch.note, connection)
        var next = try take(count, of: .change, connection)
        for group in changes.groups {
            try add(group, transaction, from: next, connection)
            next += Int64(group.numbers.count)
        }
    }

    func addTransaction(_ note: HistoryNote?, _ connection: Connection) throws -> Int64 {
        let origin = try [note?.author, bundle, note?.contextName, process].map { try number(of: $0, connection) }
        let transaction = try take(1, of: .transaction, connection)
        let time = Value.date(Date().timeIntervalSinceReferenceDate)
        try run(statements.addTransaction, [.int(transaction), time] + origin, connection)
        return transaction
    }

    private func add(
        _ group: RecordedChanges.Group, _ transaction: Int64, from first: Int64, _ connection: Connection
    ) throws {
        let sql = group.kind == .delete ? deletions[group.entity.value] : statements.addChanges
        let mask = group.mask.map { Value.data(Data($0)) } ?? .null
        try run(
            sql,
            [
                .int(first), .int(transaction), .int(group.kind.rawValue), .int(Int64(group.entity.number)), mask,
                dialect.list(group.numbers),
            ], connection)
    }

    /// The number of a text, which is written down when it is new. Looked up each time: whoever shortens the history may
    /// remove texts.
    private func number(of text: String?, _ connection: Connection) throws -> Value {
        guard let text else { return .null }
        let known = try connection.statement(statements.findString)
        defer { known.finish() }
        try known.bind(1, .text(text))
        if try known.step() { return .int(known.int(0)) }
        let number = try take(1, of: .string, connection)
        try run(statements.addString, [.int(number), .text(text)], connection)
        return .int(number)
    }

    /// Answers the first of `count` new numbers.
    func take(_ count: Int, of table: HistoryTables.Table, _ connection: Connection) throws -> Int64 {
        let statement = try connection.statement(statements.allocate(table))
        defer { statement.finish() }
        try statement.bind(1, Int64(count))
        _ = try statement.step()
        return statement.int(0) - Int64(count) + 1
    }

    private func run(_ sql: String, _ values: [Value], _ connection: Connection) throws {
        let statement = try connection.statement(sql)
        defer { statement.finish() }
        try statement.bind(values)
        _ = try statement.step()
    }

    // MARK: Reading

    /// The number of the last transaction, 0 for none.
    static func lastTransaction(_ connection: Connection) throws -> Int64 {
        let statement = try connection.statement(HistoryStatements(SQLiteDialect()).lastTransaction)
        defer { statement.finish() }
        return try statement.step() ? statement.int(0) : 0
    }
}
