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
    package let capabilities: StoreCapabilities
    package let url: URL
    package let options: SQLiteOptions
    package let identifier: String
    package let history: HistoryKeeping
    let historyWriter: HistoryWriter?
    let plan: StorePlan
    /// What the metadata said when the store was opened.
    let recorded: StoreMetadata
    /// nil when no attribute may be stored in files.
    let externals: ExternalColumns?
    let pool: Pool
    let reader: SQLReader
    let writer: SQLWriter
    let counter = StatementCounter()

    package init(url: URL, plan: StorePlan, options: SQLiteOptions) throws {
        schema = plan.map.schema
        self.url = url
        externals = try ExternalColumns(plan.map, url: url)
        let opened = try StoreOpener(place: FilePlace(url: url), plan: plan, options: options, counter: counter).open()
        self.options = opened.options
        self.plan = opened.plan
        pool = opened.pool
        pool.keptFiles = externals?.kept
        reader = try SQLReader(opened.plan, opened.options.readsOneState ? OneState(of: opened.pool) : opened.pool)
        recorded = opened.metadata
        identifier = recorded.uuid
        history = opened.history
        capabilities = pool.pinsViews && !opened.options.readsOneState ? [.membership, .pinnedViews] : .membership
        historyWriter = opened.historyWriter
        writer = SQLWriter(opened.plan, opened.pool, store: identifier, files: externals, history: historyWriter)
        guard !opened.options.isReadOnly else { return }
        try writer.sweepFiles()
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
        try StoreOpener(place: FilePlace(url: url), plan: plan, options: SQLiteOptions(), counter: StatementCounter())
            .inspect()
    }

    /// Statements prepared and run so far, over all connections.
    package var counts: StatementCounts {
        var counts = counter.counts
        counts.pinnedViews = pool.pinnedViews
        return counts
    }

    // MARK: Metadata

    package func metadata() throws -> StoreMetadata { try reader.metadata() }

    package func setMetadata(_ metadata: StoreMetadata) throws {
        try refuseIfReadOnly("Its metadata cannot be changed")
        try writer.setMetadata(metadata)
    }

    // MARK: Writing

    package func allocateKeys(_ count: Int, in root: EntityIndex) throws -> Range<Int64> {
        guard count > 0 else { return 0..<0 }
        try refuseIfReadOnly("New rows cannot be numbered")
        return try writer.allocateKeys(count, in: root)
    }

    package func commit(_ batch: ChangeBatch) throws -> CommitOutcome {
        if batch.isEmpty { return .committed }
        try refuseIfReadOnly("Changes cannot be saved")
        let outcome = try writer.commit(batch)
        if outcome.isCommitted { counter.moved(batch.rowCount) }
        return outcome
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
