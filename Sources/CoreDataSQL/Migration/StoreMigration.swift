// The migration of one store: whether it may be, and everything of it that one transaction holds.

import CoreDataValues
import Foundation

/// A migration plan for a store as it is: *compare · move rows and changes · note the files that go · forget the model · write the metadata*
package struct StoreMigration {
    private let migration: BoundMigration
    private let plans: (from: StorePlan, to: StorePlan)
    private var store: StoreMap { plans.from.map }
    private let known: StoreMetadata
    private let files: (before: ExternalColumns?, after: ExternalColumns?)
    private let path: String
    /// The tables afterwards.
    package let target: StoreMap

    /// - Parameters:
    ///   - files: the columns of the store that refer to files.
    ///   - known: the metadata when the store was opened.
    /// - Throws: 134110 for a plan that begins with another model than the store's, 134100 for a store of other hashes.
    package init(
        _ plan: MigrationPlan, from store: StorePlan, to later: StorePlan, at url: URL, files: ExternalColumns?,
        known: StoreMetadata
    ) throws {
        migration = try BoundMigration(plan)
        (plans, self.known, path) = ((store, later), known, url.path)
        try Self.requireFit(plan, store.map, known, url.path)
        target = StoreMap(later.map, after: store.map, migration)
        self.files = (files, try ExternalColumns(target, url: url))
    }

    /// Whether one of the two has indexes that triggers fill.
    package var hasRTrees: Bool { !(store.rTrees + target.rTrees).isEmpty }

    /// The plan begins at the store's own schema.
    private static func requireFit(_ plan: MigrationPlan, _ store: StoreMap, _ metadata: StoreMetadata, _ path: String)
        throws
    {
        let (kept, schema) = (store.entities, store.schema)
        let accepted = kept.filter { entity in
            metadata.versionHashes[entity.name].map { VersionHash.isForeign($0, for: entity) } ?? false
        }
        let names = zip(plan.source.entities, schema.entities)
        let isSame =
            plan.source === schema
            || plan.source.entities.count == schema.entities.count
                && names.allSatisfy { $0.name == $1.name && $0.versionHash == $1.versionHash }
        guard isSame else {
            throw StoreError(
                134110,
                "The store at \(path) is of another model than the migration plan begins with; nothing was changed. "
                    + "Make the plan from the model with which the store is open.", path: path)
        }
        let mismatch = StoreMismatch(
            schema, kept, recorded: metadata.versionHashes, accepted: Set(accepted.map(\.name)))
        if let mismatch { throw mismatch.refusal(at: path) }
    }

    /// In one transaction.
    ///
    /// - Parameters:
    ///   - recordsHistory: whether the store has a history.
    ///   - defers: whether clean-up is put off. What an earlier migration has put off is done now.
    ///   - note: names the files that go, before they do.
    /// - Returns: the files that no row refers to any more, and what of a program's own definitions is left out.
    package func perform(_ session: any SQLSession, recordsHistory: Bool, defers: Bool, note: PendingFiles) throws
        -> (gone: Set<String>, omitted: [String])
    {
        var gone: Set<String> = []
        var omitted: [String] = []
        var written: (plist: Data, metadata: StoreMetadata)?
        try session.transaction {
            let now = try requireUnchanged(session)
            let cleaned = try Cleanup(session, store, files.before).finish()
            gone = cleaned.gone
            let outcome = try Migrator(
                migration, from: store, to: target, store: known.uuid, session: session, defers: defers
            )
            .perform(recordsHistory: recordsHistory, files: files)
            gone.formUnion(outcome.gone)
            omitted = cleaned.omitted + outcome.omitted
            try Cleanup(session, target, files.after).putOff(outcome.left)
            if !gone.isEmpty { try note.add(gone.sorted()) }
            try exchangeModel(session)
            let metadata = try migrated(now).deferring(!outcome.left.isEmpty)
            written = (try MetadataRecord.write(metadata, schema: target.schema, to: session), metadata)
            return true
        }
        // Whoever opens the store next need not read them.
        if let written { plans.to.remember(written.plist, written.metadata) }
        return (gone, omitted)
    }

    /// Another process may have been first. Answers the metadata as they are.
    private func requireUnchanged(_ session: any SQLSession) throws -> StoreMetadata {
        let now = try MetadataRecord.row(session).map {
            try plans.from.fitting($0.plist, uuid: $0.uuid) ?? $0.metadata(session)
        }
        guard let now, now.uuid == known.uuid, now.versionHashes == known.versionHashes else {
            throw StoreError(
                134110,
                "The store at \(path) was migrated or replaced elsewhere meanwhile; nothing was changed. Open it again.",
                path: path)
        }
        return now
    }

    /// The copy of the former model beside the rows becomes one of the new model.
    private func exchangeModel(_ session: any SQLSession) throws {
        guard try Catalogue(session).tables().contains(MetadataStatements.modelCopy) else { return }
        let statements = MetadataStatements(session.dialect)
        try session.run(statements.forgetModel, [])
        if let copy = ModelCopy.data(of: target.schema) { try session.run(statements.keepModel, [.data(copy)]) }
    }

    private func migrated(_ now: StoreMetadata) -> StoreMetadata {
        var metadata = now
        metadata.versionHashes = target.versionHashes
        metadata.modelVersionIdentifiers = target.schema.versionIdentifiers
        return metadata
    }
}
