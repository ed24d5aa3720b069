// Performs a migration inside a transaction.

import CoreDataValues

/// *note the files · prepare · copy · check · numbers · history · complete*
package struct Migrator {
    private let compiler: MigrationCompiler
    private let migration: BoundMigration
    private let session: any SQLSession
    private let texts: WriteCompiler
    private let from: StoreMap
    private let to: StoreMap

    package init(_ migration: BoundMigration, from: StoreMap, to: StoreMap, session: any SQLSession) throws {
        self.migration = migration
        self.session = session
        (self.from, self.to) = (from, to)
        compiler = try MigrationCompiler(migration, from: from, to: to)
        texts = WriteCompiler(to)
    }

    /// Everything but the metadata. Inside a transaction, which the caller rolls back when it throws.
    ///
    /// - Parameters:
    ///   - history: nil for a store that records none.
    ///   - files: the columns that refer to files, before and after.
    /// - Returns: the files that no row refers to any more.
    package func perform(history: HistoryWriter?, files: (before: ExternalColumns?, after: ExternalColumns?)) throws -> Set<String> {
        let former = try Set(files.before?.names(session) ?? [])
        for sql in try compiler.preparations { try run(sql) }
        for (sql, values) in try compiler.insertions { try session.run(.text(sql), values, texts) }
        for check in try compiler.checks where try isFound(check.sql) { throw StoreError(missing: check.slot.name, of: check.entity) }
        for check in try compiler.overflows where try isFound(check.sql) { throw StoreError.overflow(of: check.slot, check.entity) }
        try renumber()
        if let history { for sql in compiler.history(tombstones: history.tombstones) { try run(sql) } }
        try complete()
        return try former.isEmpty ? [] : former.subtracting(files.after?.names(session) ?? [])
    }

    private func run(_ sql: String) throws { try session.run(.text(sql), [], texts) }
    private func isFound(_ sql: String) throws -> Bool { try !session.numbers(.text(sql), each: 1, [], texts).isEmpty }

    /// New rows get numbers that no row of the former tree has ever had.
    private func renumber() throws {
        let statements = MetadataStatements(to.dialect)
        let pairs = try session.numbers(.text(statements.lastNumbers(of: from.schema.entities.count)), each: 2, [], texts)
        var last: [Int64: Int64] = [:]
        for place in stride(from: 0, to: pairs.count, by: 2) { last[pairs[place] ?? 0] = pairs[place + 1] }
        try run(statements.removeEntities(of: from.schema.entities.count))
        try to.schema.addEntityNumbers(session, texts)
        for copy in migration.copies {
            let (root, former) = (copy.destination.root, migration.source[copy.source.root])
            guard let number = last[Int64(former.index.number)], number > 0 else { continue }
            try session.run(.text(statements.setLastNumber), [.int(number), .int(Int64(root.number))], texts)
        }
    }

    private func complete() throws {
        for sql in try compiler.completions {
            do { try run(sql) } catch let error as StoreError {
                guard let columns = session.duplicate(error) else { throw error }
                throw StoreError(
                    134111,
                    "The store at \(session.path) cannot be migrated: rows have the same values in \(columns), which the new model has "
                        + "unique; nothing was changed. Make them differ first.", path: session.path, engine: error.engine, sql: sql)
            }
        }
    }
}
