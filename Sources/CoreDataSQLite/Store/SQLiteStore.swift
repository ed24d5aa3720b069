// The SQLite store: rows in Core Data's own file layout.

import CoreDataSQL
import CoreDataValues
import Foundation
import Synchronization

/// A store in one SQLite file.
///
/// Opening creates the file with all its tables in one transaction, or compares the model with the one the
/// file was written with; a refusal (`StoreError`) leaves the file as it was. Reads and writes may come from
/// any thread: there is one writer, and a reader never waits for it.
package final class SQLiteStore: RowStore, StoreCopier {
    package let schema: Schema
    package var capabilities: StoreCapabilities { .membership }
    package let url: URL
    package let options: SQLiteOptions
    package let identifier: String
    package let history: HistoryKeeping
    let historyWriter: HistoryWriter?
    let plan: StorePlan
    /// nil when no attribute may be stored in files.
    let externals: ExternalColumns?
    let pool: Pool
    private let keys = KeyBlocks()
    private let counter = StatementCounter()

    private var selects: SelectCompiler { plan.selects }
    private var writes: WriteCompiler { plan.writes }
    private var shapes: ShapeCache { plan.shapes }
    private var selections: SelectionCache { plan.selections }

    package init(url: URL, plan: StorePlan, options: SQLiteOptions) throws {
        schema = plan.map.schema
        self.url = url
        externals = try ExternalColumns(plan.map, url: url)
        let opened = try StoreOpener(place: FilePlace(url: url), plan: plan, options: options, counter: counter).open()
        self.options = opened.options
        self.plan = opened.plan
        pool = opened.pool
        identifier = opened.metadata.uuid
        history = opened.history
        historyWriter = opened.historyWriter
        guard !opened.options.isReadOnly else { return }
        if let externals { try externals.sweep(pool, store: identifier) }
        if options.vacuums { try pool.write { _ = try $0.run("VACUUM") } }
        if options.analyzes { try pool.write { _ = try $0.run("ANALYZE") } }
    }

    /// - Parameter configuration: the configuration whose entities the store keeps, nil for all.
    package convenience init(url: URL, schema: Schema, configuration: String?, options: SQLiteOptions) throws {
        try self.init(url: url, plan: StorePlan(schema: schema, configuration: configuration), options: options)
    }

    /// What lies at a URL, and whether a model fits it; nothing is opened or changed.
    ///
    /// - Throws: 134080 for what is no store.
    package static func inspect(url: URL, plan: StorePlan) throws -> StoreInspection {
        try StoreOpener(place: FilePlace(url: url), plan: plan, options: SQLiteOptions(), counter: StatementCounter()).inspect()
    }

    /// Statements prepared and run so far, over all connections.
    package var counts: StatementCounts { counter.counts }

    // MARK: Metadata

    package func metadata() throws -> StoreMetadata {
        try pool.read { connection in
            guard let metadata = try MetadataRecord.read(connection) else {
                throw StoreError(134080, "The store at \(url.path) has lost its metadata.", path: url.path)
            }
            return metadata
        }
    }

    package func setMetadata(_ metadata: StoreMetadata) throws {
        try refuseIfReadOnly("Its metadata cannot be changed")
        try pool.write { connection in
            try connection.transaction {
                try MetadataRecord.write(metadata, schema: schema, to: connection)
                return true
            }
        }
    }

    // MARK: Reading

    package func fetch(_ plan: FetchPlan, _ receive: (RowBatch) throws -> FetchStep) throws {
        let entity = schema[plan.entity]
        let last = plan.includesSubentities ? entity.last : entity.index
        let shape = try shapes.shape(entity, last: last, includesValues: plan.includesValues)
        let selection = try selections.selection(plan, in: schema) { try selects.select($0, shape: shape) }
        let expected = plan.limit > 0 ? plan.limit : .max
        try pool.read { connection in
            let statement = try connection.selection(selection.number, selection.sql)
            try statement.bind(selection.bindings)
            try RowDecoder(shape: shape, schema: schema).run(statement, expected: expected, receive)
        }
    }

    package func fetchValues(_ plan: FetchPlan, _ receive: (ValueRows) throws -> FetchStep) throws {
        let query = try Query(valuesOf: plan, in: schema)
        guard let projection = query.bound.projection else { return }
        let values = try selects.values(query, projection)
        try pool.read { connection in
            try connection.addsDecimals(for: values.selection.sql)
            let statement = try connection.statement(values.selection.sql)
            try statement.bind(values.selection.values(for: query))
            try ValueDecoder(values.cells, projection, query.bound.entity).run(statement, receive)
        }
    }

    package func count(_ plan: FetchPlan) throws -> Int {
        let query = try Query(plan, in: schema)
        let selection = try selects.count(query)
        return try pool.read { connection in
            let statement = try connection.statement(selection.sql)
            defer { statement.finish() }
            try statement.bind(selection.values(for: query))
            return try statement.step() ? Int(statement.int(0)) : 0
        }
    }

    package func rows(
        for numbers: [Int64], in root: EntityIndex, _ receive: (RowBatch) throws -> FetchStep
    ) throws {
        guard let first = numbers.first else { return }
        let shape = try shapes.tree(root)
        try pool.read { connection in
            let statement: Statement
            if numbers.count == 1 {
                statement = try connection.rowStatement(shape.first) {
                    try selects.row(in: schema[shape.first], shape: shape)
                }
                try statement.bind(1, first)
            } else {
                statement = try connection.statement(.rows(shape.first, values: true)) {
                    try selects.rows(in: schema[shape.first], shape: shape)
                }
                try statement.bind(1, plan.map.dialect.list(numbers))
            }
            try RowDecoder(shape: shape, schema: schema).run(statement, expected: numbers.count, receive)
        }
    }

    package func members(
        of relationship: RelationshipIndex, owner: RowKey, _ receive: (RowBatch) throws -> FetchStep
    ) throws {
        let resolved = schema[relationship]
        let entity = schema[resolved.destination]
        let shape = try shapes.shape(entity, last: entity.last, includesValues: true)
        try pool.read { connection in
            let statement = try connection.statement(.members(relationship)) {
                try selects.members(of: resolved, shape: shape)
            }
            try statement.bind(1, owner.number)
            try RowDecoder(shape: shape, schema: schema).run(statement, receive)
        }
    }

    package func isMember(_ member: RowKey, of relationship: RelationshipIndex, owner: RowKey) throws -> Bool {
        try pool.read { connection in
            let statement = try connection.statement(.membership(relationship)) {
                try selects.membership(in: schema[relationship])
            }
            defer { statement.finish(clears: false) }
            try statement.bind(1, owner.number)
            try statement.bind(2, member.number)
            return try statement.step()
        }
    }

    package func targets(
        of relationship: RelationshipIndex, from owners: [Int64], _ receive: (MemberBatch) throws -> FetchStep
    ) throws {
        let resolved = schema[relationship]
        let entity = schema[resolved.destination]
        let shape = try shapes.shape(entity, last: entity.last, includesValues: true)
        let targets = try selects.targets(of: resolved, shape: shape)
        try pool.read { connection in
            let statement = try connection.statement(.targets(relationship)) { targets.sql }
            try statement.bind(1, plan.map.dialect.list(owners))
            let decoder = MemberDecoder(shape: shape, schema: schema)
            if let slot = targets.ownerSlot {
                try decoder.run(statement, ownerSlot: slot, receive)
            } else {
                try decoder.run(statement, receive)
            }
        }
    }

    package func targets(
        of relationship: RelationshipIndex, fromAll owners: [Int64], _ receive: (MemberBatch) throws -> FetchStep
    ) throws {
        let resolved = schema[relationship]
        let entity = schema[resolved.destination]
        let shape = try shapes.shape(entity, last: entity.last, includesValues: true)
        guard let targets = try selects.targetsOfAll(of: resolved, shape: shape), let slot = targets.ownerSlot else {
            return try self.targets(of: relationship, from: owners, receive)
        }
        try pool.read { connection in
            let statement = try connection.statement(.targetsOfAll(relationship)) { targets.sql }
            try statement.bind(1, plan.map.dialect.list(owners))
            try MemberDecoder(shape: shape, schema: schema).run(statement, ownerSlot: slot, receive)
        }
    }

    // MARK: Writing

    package func allocateKeys(_ count: Int, in root: EntityIndex) throws -> Range<Int64> {
        guard count > 0 else { return 0..<0 }
        try refuseIfReadOnly("New rows cannot be numbered")
        let entity = schema[schema[root].root]
        return try keys.take(count, of: entity.index, on: pool) { wanted, writer in
            try KeyReservation(entity: entity, compiler: writes).take(wanted, on: writer)
        }
    }

    package func commit(_ batch: ChangeBatch) throws -> CommitOutcome {
        if batch.isEmpty { return .committed }
        try refuseIfReadOnly("Changes cannot be saved")
        let files = try externals?.stage(batch, store: identifier)
        do {
            let outcome = try pool.write { connection in
                try Committer(plan: plan, files: files, history: historyWriter, connection: connection).commit(batch)
            }
            if let files { files.end(isCommitted: outcome.isCommitted) }
            if outcome.isCommitted { counter.moved(batch.rowCount) }
            return outcome
        } catch {
            files?.end(isCommitted: false)
            throw error
        }
    }

    package func lastTransaction() throws -> Int64? {
        history == .recorded ? try pool.read { try HistoryWriter.lastTransaction($0) } : nil
    }

    package var valueFiles: (any ValueFiles)? { ExternalFolder(store: url) }
    package var copier: (any StoreCopier)? { self }

    package func close() throws { try pool.close() }

    func refuseIfReadOnly(_ what: String) throws {
        guard options.isReadOnly else { return }
        let why =
            history == .closed
            ? "keeps a history and was opened without asking for it (NSPersistentHistoryTrackingKey). Open it with that option"
            : "was opened read-only. Open it without that option"
        throw StoreError(134030, "\(what): the store at \(url.path) \(why).", path: url.path)
    }
}

/// Takes a block of numbers from the file.
struct KeyReservation {
    let entity: Entity
    let compiler: WriteCompiler

    func take(_ count: Int, on connection: Connection) throws -> Range<Int64> {
        var numbers: Range<Int64> = 0..<0
        try connection.transaction {
            numbers = try taken(count, on: connection)
            return true
        }
        return numbers
    }

    /// The same inside a transaction.
    func taken(_ count: Int, on connection: Connection) throws -> Range<Int64> {
        let statement = try connection.statement(.allocate(entity.index)) {
            try compiler.allocate(entity)
        }
        defer { statement.finish() }
        try statement.bind(1, Int64(count))
        try statement.bind(2, Int64(entity.index.number))
        guard try statement.step() else { throw missing(connection.path) }
        let end = statement.int(0)
        return (end - Int64(count) + 1)..<(end + 1)
    }

    private func missing(_ path: String) -> StoreError {
        StoreError(
            134180,
            "The store at \(path) has no row for \(entity.name) in Z_PRIMARYKEY, so new rows cannot be numbered. "
                + "Restore the store from a copy.",
            path: path, entity: entity.name)
    }
}
