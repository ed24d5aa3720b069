// Performs a migration inside a transaction.

import CoreDataValues

/// *note the files · prepare · copy · alter · check · numbers · history · complete*
package struct Migrator {
    private let compiler: MigrationCompiler
    private let migration: BoundMigration
    private let session: any SQLSession
    private let texts: WriteCompiler
    private let from: StoreMap
    private let to: StoreMap
    /// The store's, for its objects' names.
    private let identifier: String

    package init(
        _ migration: BoundMigration, from: StoreMap, to: StoreMap, store identifier: String, session: any SQLSession,
        defers: Bool = false
    ) throws {
        self.migration = migration
        self.session = session
        self.identifier = identifier
        (self.from, self.to) = (from, to)
        compiler = try MigrationCompiler(migration, from: from, to: to, defers: defers)
        texts = WriteCompiler(to)
    }

    /// Everything but the metadata. Inside a transaction, which the caller rolls back when it throws.
    ///
    /// - Parameters:
    ///   - recordsHistory: whether the store has a history.
    ///   - files: the columns that refer to files, before and after.
    /// - Returns: the files that no row refers to any more, what was put off, and what of a program's own definitions is left out.
    package func perform(
        recordsHistory: Bool, files: (before: ExternalColumns?, after: ExternalColumns?)
    ) throws -> (gone: Set<String>, left: [CleanupStep], omitted: [String]) {
        let former = try Set(files.before?.names(session) ?? [])
        let foreign = ForeignDefinitions(session)
        try foreign.sortOut()
        try foreign.setAside(over: Set(compiler.remade))
        for sql in try compiler.preparations { try run(sql) }
        try foreign.sortOut()
        let isRefused = try change()
        try requireValues()
        for check in try compiler.overflows where try !found(check.sql).isEmpty {
            throw StoreError.overflow(of: check.slot, check.entity)
        }
        try renumber()
        if recordsHistory { try HistoryMigration(migration, from: from.schema, to: to.schema).run(session, texts) }
        if compiler.renames || isRefused { try foreign.lookAgain() }
        try complete(foreign.modelIndexes, restoresConstraints: isRefused)
        let left = try putOff()
        let omitted = try foreign.putBack()
        if former.isEmpty { return ([], left, omitted) }
        let waiting = try Cleanup(session, to, files.after).files(of: left)
        return try (former.subtracting(files.after?.names(session) ?? []).subtracting(waiting), left, omitted)
    }

    /// What is left for later; what cannot wait is done.
    private func putOff() throws -> [CleanupStep] {
        let (catalogue, statements) = (Catalogue(session), CleanupTable(to.dialect))
        let misleading = try compiler.misleading(catalogue)
        for name in misleading { try statements.statement(CleanupStep(.table, name, of: name)).map(run) }
        return try compiler.leftovers(catalogue).filter { !($0.kind == .table && misleading.contains($0.name)) }
    }

    private func run(_ sql: String) throws { try session.run(.text(sql), [], texts) }
    private func found(_ sql: String) throws -> [Int64] {
        try session.numbers(.text(sql), each: 1, [], texts).compactMap { $0 }
    }

    private func requireValues() throws {
        let missing = try compiler.checks.compactMap { check -> MissingValues? in
            let numbers = try found(check.sql)
            if numbers.isEmpty { return nil }
            let count = numbers.count < FailedObject.limit ? numbers.count : Int(try found(check.count).first ?? 0)
            return MissingValues(
                check.entity.name, check.slot.name, numbers.map { uri(check.former, $0) }, count: count)
        }
        guard var error = StoreError.missingValues(missing, session.path) else { return }
        error.objects += try equalRows().flatMap(\.objects)
        throw error
    }

    /// An object by its name in the former model.
    private func uri(_ entity: Entity, _ number: Int64) -> String {
        "x-coredata://\(identifier)/\(entity.name)/p\(number)"
    }

    /// New rows get numbers that no row of the former tree has ever had.
    private func renumber() throws {
        let statements = MetadataStatements(to.dialect)
        let pairs = try session.numbers(
            .text(statements.lastNumbers(of: from.schema.entities.count)), each: 2, [], texts)
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

    /// Copies and alters. Rows that become equal are refused as they are written; without the constraints they go on, to be named
    /// together when these are made again.
    ///
    /// - Returns: whether constraints wait for that.
    private func change() throws -> Bool {
        var isRefused = false
        for (sql, values) in try compiler.insertions + compiler.changes {
            do { try session.run(.text(sql), values, texts) } catch let error as StoreError {
                guard !isRefused, session.duplicate(error) != nil else { throw error }
                isRefused = true
                try dropConstraints()
                try session.run(.text(sql), values, texts)
            }
        }
        return isRefused
    }

    private func dropConstraints() throws {
        let catalogue = Catalogue(session)
        for table in try catalogue.tables() where table.hasPrefix("Z") {
            for name in try catalogue.uniqueIndexes(of: table) where name.hasPrefix("Z_") {
                try run("DROP INDEX \(to.dialect.defined(name))")
            }
        }
    }

    /// - Parameters:
    ///   - indexes: what the file has, by name.
    ///   - restoresConstraints: whether those that stay are made anew as well.
    private func complete(_ indexes: [String: String], restoresConstraints: Bool) throws {
        let statements = try compiler.completions + (restoresConstraints ? compiler.constraints().map(\.sql) : [])
        for sql in compiler.completing(statements, with: indexes) {
            do { try run(sql) } catch let error as StoreError {
                let refused = session.duplicate(error) == nil ? [] : try equalRows()
                guard var told = refused.first else { throw error }
                told.objects = refused.flatMap(\.objects)
                (told.engine, told.sql) = (error.engine, sql)
                throw told
            }
        }
    }

    /// Rows that uniqueness constraints forbid, by their objects and values: an error for each constraint that has some.
    private func equalRows() throws -> [StoreError] {
        try compiler.constraints().compactMap { try equalRows(in: $0.constraint, of: $0.entity) }
    }

    private func equalRows(in constraint: UniquenessConstraint, of entity: Entity) throws -> StoreError? {
        let equal = EqualRows(entity, constraint, to)
        let former = Dictionary(
            migration.copies.map { ($0.destination.index.number, $0.source) }, uniquingKeysWith: { first, _ in first })
        let rows = try session.tuples(equal.sql, []).compactMap { row -> (uri: String, values: String)? in
            guard row.count > 2, case .int(let number) = row[0], case .int(let entity) = row[1],
                let entity = former[Int(entity)]
            else { return nil }
            return (uri(entity, number), row[2...].map(\.shown).joined(separator: ", "))
        }
        if rows.isEmpty { return nil }
        return StoreError.equalObjects(
            rows, count: try found(equal.count).first.map { Int($0) }, in: constraint.names, of: entity.name,
            session.path)
    }
}
