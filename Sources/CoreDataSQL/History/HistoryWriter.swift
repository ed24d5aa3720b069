// Records commits in the history, inside their transactions.

import CoreDataValues
import Foundation
import Synchronization

/// Writes one transaction with its changes for each commit of a store that keeps history.
///
/// Numbers are taken in the transaction of the commit, not from blocks: a higher number is a later commit, whichever process made
/// it, so that a token misses none.
package struct HistoryWriter: Sendable {
    package let masks: [ChangeMask]
    /// By entity: how its deletions are written.
    private let deletions: [String]
    private let tables: HistoryTables
    /// How many values of a deleted row the tables have room for.
    package var tombstones: Int { tables.tombstones }
    package let statements: HistoryStatements
    private let writes: WriteCompiler
    /// nil unless former values are kept.
    let formerValues: FormerValueWriter?
    private let bundle: String
    private let process: String

    /// - Parameter keepsFormerValues: whether a table of our own keeps what rows had before.
    package init(_ map: StoreMap, keepsFormerValues: Bool = false) throws {
        formerValues = keepsFormerValues ? FormerValueWriter(map) : nil
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
        writes = WriteCompiler(map)
    }

    // MARK: Opening

    /// Makes the tables, or the columns that are missing in them; nothing is written where all are there.
    package func prepare(_ session: any SQLSession) throws {
        try formerValues?.prepare(session)
        if try missing(session).isEmpty { return }
        try session.transaction {
            // Another process may have been faster, and a table that is not there yet is made whole.
            for table in HistoryTables.Table.allCases {
                try session.run(.text(tables.definition(of: table)), [], writes)
            }
            for (table, field) in try missing(session) {
                try session.run(.text(tables.addition(of: field, to: table)), [], writes)
            }
            for sql in tables.indexes { try session.run(.text(sql), [], writes) }
            return true
        }
    }

    private func missing(_ session: any SQLSession) throws -> [(table: HistoryTables.Table, field: HistoryTables.Field)]
    {
        try HistoryTables.Table.allCases.flatMap { table in
            let found = try Catalogue(session).columns(of: table.name)
            return tables.fields(of: table).filter { found[$0.name] == nil }.map { (table, $0) }
        }
    }

    // MARK: A commit

    /// Before rows are deleted, since tombstones are copied from those that are about to go.
    ///
    /// - Parameter gone: touched rows that are not there any more, of which there is nothing to tell.
    func record(_ batch: ChangeBatch, without gone: Set<RowKey>, on session: any SQLSession) throws {
        let changes = RecordedChanges(batch, masks, without: gone)
        let count = changes.count
        if count == 0 { return }
        let transaction = try addTransaction(batch.note, session)
        var next = try allocate(count, of: .change, session)
        for group in changes.groups {
            try add(group, transaction, from: next, session)
            if let formerValues, group.kind != .insert {
                let mask = masks[group.entity.value]
                try formerValues.keep(group.entity, group.mask, mask, .listed, group.numbers, transaction, session)
            }
            next += Int64(group.numbers.count)
        }
        guard let formerValues else { return }
        let adoptions = Dictionary(grouping: batch.adoptions) { $0.relationship }
        for (index, members) in adoptions.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            let numbers = members.flatMap { $0.added.map(\.number) }
            if numbers.isEmpty { continue }
            try formerValues.keepLost(writes.map.schema[index], .listed, numbers, transaction, session)
        }
    }

    package func addTransaction(_ note: HistoryNote?, _ session: any SQLSession) throws -> Int64 {
        let origin = try [note?.author, bundle, note?.contextName, process].map { try number(of: $0, session) }
        let transaction = try allocate(1, of: .transaction, session)
        let time = Value.date(Date().timeIntervalSinceReferenceDate)
        try session.run(.text(statements.addTransaction), [.int(transaction), time] + origin, writes)
        try formerValues?.mark(transaction, session)
        note?.number.store(transaction, ordering: .relaxed)
        return transaction
    }

    private func add(
        _ group: RecordedChanges.Group, _ transaction: Int64, from first: Int64, _ session: any SQLSession
    ) throws {
        let sql = group.kind == .delete ? deletions[group.entity.value] : statements.addChanges
        let mask = group.mask.map { Value.data(Data($0)) } ?? .null
        try session.run(
            .text(sql),
            [
                .int(first), .int(transaction), .int(group.kind.rawValue), .int(Int64(group.entity.number)), mask,
                writes.map.dialect.list(group.numbers),
            ], writes)
    }

    /// The number of a text, which is written down when it is new. Looked up each time: whoever shortens the history may
    /// remove texts.
    private func number(of text: String?, _ session: any SQLSession) throws -> Value {
        guard let text else { return .null }
        let known = try session.numbers(.text(statements.findString), each: 1, [.text(text)], writes)
        if let number = known.first, let number { return .int(number) }
        let number = try allocate(1, of: .string, session)
        try session.run(.text(statements.addString), [.int(number), .text(text)], writes)
        return .int(number)
    }

    /// Answers the first of `count` new numbers.
    package func allocate(_ count: Int, of table: HistoryTables.Table, _ session: any SQLSession) throws -> Int64 {
        let last = try session.numbers(.text(statements.allocate(table)), each: 1, [.int(Int64(count))], writes)
        let end = last.first.flatMap { $0 } ?? 0
        guard end >= count, end < .max else { throw StoreError.noNumbers(table.entity, in: session.path) }
        return end - Int64(count) + 1
    }
}
