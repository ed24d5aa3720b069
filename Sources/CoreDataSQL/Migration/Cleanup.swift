// What a migration has put off, and the doing of it.

import CoreDataValues
import Foundation

/// Something that the model has no use for any more and that is still in the database.
package struct CleanupStep: Equatable, Sendable {
    package enum Kind: String, Sendable {
        case index
        /// The files that values of a column refer to.
        case files
        case column
        case table
    }
    package let kind: Kind
    package let table: String
    /// Of the index or the column; the table's own for a table.
    package let name: String

    package init(_ kind: Kind, _ name: String, of table: String) {
        (self.kind, self.name, self.table) = (kind, name, table)
    }
}

/// The steps that are left, in a table of our own that goes with the last of them. Core Data does not look at it.
///
/// They are written down, since from the model alone a column that nobody needs cannot be told from one that a program added.
package struct CleanupTable: Sendable {
    package static let name = "OCDCLEANUP"
    /// What stands in the place of a step's kind for a file that values of a column have referred to.
    private static let file = "file"
    private let dialect: any SQLDialect
    package init(_ dialect: any SQLDialect) { self.dialect = dialect }

    private func name(_ name: String) -> String { dialect.defined(name) }
    private var table: String { name(Self.name) }
    private var columns: String { ["Z_PK", "ZKIND", "ZTABLE", "ZNAME"].map(name).joined(separator: ", ") }

    package var definition: String {
        let text = dialect.type(.text)
        return "CREATE TABLE \(table) ( \(name("Z_PK")) \(dialect.type(.int)) PRIMARY KEY, \(name("ZKIND")) \(text), "
            + "\(name("ZTABLE")) \(text), \(name("ZNAME")) \(text) )"
    }

    /// Number, kind, table, name.
    package var add: String {
        "INSERT INTO \(table) (\(columns)) VALUES (\((1...4).map(dialect.next).joined(separator: ", ")))"
    }
    /// Answers the same of all steps, in their order.
    package var all: String {
        "SELECT \(columns) FROM \(table) WHERE \(name("ZKIND")) <> '\(Self.file)' ORDER BY \(name("Z_PK"))"
    }
    /// The column, as `place` names it. Answers the names of the files that values of it have referred to.
    package var files: String { "SELECT \(name("ZNAME")) \(ofColumn)" }
    /// The column.
    package var removeFiles: String { "DELETE \(ofColumn)" }
    private var ofColumn: String {
        "FROM \(table) WHERE \(name("ZKIND")) = '\(Self.file)' AND \(name("ZTABLE")) = \(dialect.next(1))"
    }
    /// Number.
    package var remove: String { "DELETE FROM \(table) WHERE \(name("Z_PK")) = \(dialect.next(1))" }
    package var end: String { "DROP TABLE \(table)" }

    /// How a file's row names the column.
    static func place(_ step: CleanupStep) -> Value { .text("\(step.table).\(step.name)") }

    /// The values of `add` for a file.
    static func values(_ number: Int, file: String, of step: CleanupStep) -> [Value] {
        [.int(Int64(number)), .text(Self.file), place(step), .text(file)]
    }

    /// What a step runs; nil for files.
    package func statement(_ step: CleanupStep) -> String? {
        switch step.kind {
        case .index: "DROP INDEX \(name(step.name))"
        case .files: nil
        case .column: "ALTER TABLE \(name(step.table)) DROP COLUMN \(name(step.name))"
        case .table: "DROP TABLE \(name(step.name))"
        }
    }

    /// What is left of the steps; nil where nothing was put off.
    func steps(_ session: any SQLReading) throws -> [(number: Int64, step: CleanupStep)]? {
        guard try Catalogue(session).tables().contains(Self.name) else { return nil }
        return try session.tuples(all, []).compactMap { row in
            guard row.count == 4, case .int(let number) = row[0], let kind = row[1].word.flatMap(CleanupStep.Kind.init),
                let table = row[2].word,
                let name = row[3].word
            else { return nil }
            return (number, CleanupStep(kind, name, of: table))
        }
    }
}

/// Does what was put off. Inside a transaction.
package struct Cleanup {
    private let session: any SQLSession
    private let map: StoreMap
    private let files: ExternalColumns?
    private var statements: CleanupTable { CleanupTable(map.dialect) }

    /// - Parameters:
    ///   - map: the tables of the model that the store has. What it has use for is never removed.
    ///   - files: its columns that refer to files.
    package init(_ session: any SQLSession, _ map: StoreMap, _ files: ExternalColumns?) {
        (self.session, self.map, self.files) = (session, map, files)
    }

    /// Whether there is something to do, if only the key to be taken from the metadata.
    package static func isPending(_ session: any SQLReading) throws -> Bool {
        if try Catalogue(session).tables().contains(CleanupTable.name) { return true }
        return try MetadataRecord.read(session)?.defers == true
    }

    /// What came of clean-up.
    package struct Outcome {
        /// The files that no row refers to any more.
        package fileprivate(set) var gone: Set<String> = []
        /// What of a program's own definitions is left out.
        package fileprivate(set) var omitted: [String] = []
    }

    /// Does one step; nil where nothing is left. What Core Data has put off itself is written down nowhere: the key goes, the rest stays.
    package func step() throws -> Outcome? {
        guard let left = try statements.steps(session) else {
            try forget()
            return nil
        }
        guard let (number, step) = left.first else {
            try end()
            return nil
        }
        let outcome = try perform(step)
        try session.run(statements.remove, [.int(number)])
        if left.count == 1 { try end() }
        return outcome
    }

    /// Does all that is left, for a migration, which writes the metadata anew whatever was put off.
    package func finish() throws -> Outcome {
        var all = Outcome()
        if try statements.steps(session) == nil { return all }
        while let outcome = try step() {
            all.gone.formUnion(outcome.gone)
            all.omitted += outcome.omitted
        }
        return all
    }

    /// The files of values that wait to be removed, for a store whose tables all go: they are forgotten here.
    package func waitingFiles() throws -> Set<String> {
        let steps = try statements.steps(session)?.map(\.step).filter { $0.kind == .files } ?? []
        return try steps.reduce(into: []) { $0.formUnion(try remove($1)) }
    }

    /// Removes what is left of tables that no model has, where all others go as well.
    package static func dropTables(_ session: any SQLSession) throws {
        let statements = CleanupTable(session.dialect)
        guard let left = try statements.steps(session)?.map(\.step).filter({ $0.kind == .table }) else { return }
        let there = try Catalogue(session).tables()
        for sql in left.filter({ there.contains($0.name) }).compactMap(statements.statement) {
            try session.run(sql, [])
        }
        try session.run(statements.end, [])
    }

    /// Writes down what is left to do, and the files of values that wait for it: a row that is deleted meanwhile takes its own reference along.
    func putOff(_ steps: [CleanupStep]) throws {
        if steps.isEmpty { return }
        try session.run(statements.definition, [])
        for (number, step) in steps.enumerated() {
            try session.run(
                statements.add,
                [.int(Int64(number + 1)), .text(step.kind.rawValue), .text(step.table), .text(step.name)])
        }
        var number = steps.count
        for step in steps where step.kind == .files {
            for file in try files(of: [step]).sorted() {
                number += 1
                try session.run(statements.add, CleanupTable.values(number, file: file, of: step))
            }
        }
    }

    /// The files that values of these columns refer to.
    func files(of steps: [CleanupStep]) throws -> Set<String> {
        let texts = FileStatements(map.dialect)
        return Set(
            try steps.filter { $0.kind == .files }.flatMap { step in
                try session.tuples(texts.allNames(in: step.name, of: step.table), []).compactMap { $0.first?.word }
            }.filter { UUID(uuidString: $0) != nil })
    }

    private func end() throws {
        try session.run(statements.end, [])
        try forget()
    }

    private func forget() throws {
        guard let metadata = try MetadataRecord.read(session), try metadata.defers else { return }
        try MetadataRecord.rewrite(metadata.deferring(false), to: session)
    }

    private func perform(_ step: CleanupStep) throws -> Outcome {
        if step.kind == .files { return Outcome(gone: try remove(step)) }
        guard try isThere(step), !isUsed(step), let sql = statements.statement(step) else { return Outcome() }
        let foreign = ForeignDefinitions(session)
        if step.kind != .index { try foreign.setAside(around: step.table) }
        do { try session.run(sql, []) } catch let error as StoreError {
            // What a program has made part of the table itself keeps its column, which is in nobody's way.
            guard step.kind == .column, session.isOfStatement(error) else { throw error }
        }
        return Outcome(omitted: try foreign.putBack())
    }

    /// Files of values: those that rows refer to, and those that rows which were deleted since referred to.
    private func remove(_ step: CleanupStep) throws -> Set<String> {
        let recorded = try session.tuples(statements.files, [CleanupTable.place(step)]).compactMap { $0.first?.word }
        try session.run(statements.removeFiles, [CleanupTable.place(step)])
        if isUsed(step) { return [] }
        var gone = Set(recorded.filter { UUID(uuidString: $0) != nil })
        if try isThere(step) { gone.formUnion(try files(of: [step])) }
        return try gone.isEmpty ? [] : gone.subtracting(files?.names(session) ?? [])
    }

    /// A program may have removed it itself.
    private func isThere(_ step: CleanupStep) throws -> Bool {
        let catalogue = Catalogue(session)
        return switch step.kind {
        case .index: try catalogue.indexes(of: step.table)[step.name] != nil
        case .files, .column: try catalogue.columns(of: step.table)[step.name] != nil
        case .table: try catalogue.tables().contains(step.name)
        }
    }

    /// A store that was opened with its version ignored may have another model than the one whose remains these are.
    private func isUsed(_ step: CleanupStep) -> Bool {
        switch step.kind {
        case .index: false
        case .files, .column:
            map.tables.contains { $0.name == step.table && $0.columns.contains { $0.name == step.name } }
        case .table: map.tables.contains { $0.name == step.name } || map.joins.contains { $0.name == step.name }
        }
    }
}

extension StoreMetadata {
    /// The key under which Core Data's stores say that a migration has put something off.
    package static let deferredMigration = "NSPersistentStoreDeferredLightweightMigrationOptionKey"

    fileprivate var defers: Bool {
        get throws {
            guard let value = try MetadataRecord.application(userInfo)[Self.deferredMigration] else { return false }
            if case .bool(false) = value { return false }
            return true
        }
    }

    /// The same with the key, or without it.
    func deferring(_ defers: Bool) throws -> StoreMetadata {
        var (metadata, values) = (self, try MetadataRecord.application(userInfo))
        guard defers || values[Self.deferredMigration] != nil else { return self }
        values[Self.deferredMigration] = defers ? .bool(true) : nil
        metadata.userInfo = values.isEmpty ? nil : MetadataRecord.encode(values)
        return metadata
    }
}
