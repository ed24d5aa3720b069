// Brings the file of a store from one schema to another.

import CoreDataSQL
import CoreDataValues
import Foundation

extension SQLiteStore: StoreMigrator {
    /// A store in memory would be gone with its connection.
    package var migrator: (any StoreMigrator)? { pool.isSingle ? nil : self }

    package func migrate(_ plan: MigrationPlan, configuration: String?) throws {
        try refuseIfReadOnly("It cannot be migrated")
        let migration = try BoundMigration(plan)
        let known = try metadata()
        try requireFit(plan, known)
        let target = try StoreMap(schema: plan.destination, configuration: configuration)
        let after = try ExternalColumns(target, url: url)
        let folder = ExternalFolder(store: url)
        let note = PendingFiles(folder, store: identifier)
        var gone: Set<String> = []
        try pool.alone { connection in
            DerivedFunctions.register(on: connection.handle, touched: connection.touched)
            if try !target.rTrees.isEmpty && !connection.hasRTrees() { _ = try Definitions(target).statements(hasRTree: false) }
            if !(self.plan.map.rTrees + target.rTrees).isEmpty { connection.trustsTriggers() }
            try connection.transaction {
                try requireUnchanged(known, connection)
                let migrator = try Migrator(migration, from: self.plan.map, to: target, session: connection)
                gone = try migrator.perform(history: historyWriter, files: (externals, after))
                if !gone.isEmpty { try note.add(gone.sorted()) }
                try forgetModel(connection)
                try MetadataRecord.write(known.migrated(to: target), schema: plan.destination, to: connection)
                return true
            }
        }
        KeptFiles.of(folder).remove(gone, note)
    }

    /// The plan begins at the store's own schema.
    private func requireFit(_ plan: MigrationPlan, _ metadata: StoreMetadata) throws {
        let kept = self.plan.map.entities
        let accepted = kept.filter { entity in
            metadata.versionHashes[entity.name].map { VersionHash.isForeign($0, for: entity) } ?? false
        }
        let names = zip(plan.source.entities, schema.entities)
        let isSame = plan.source === schema
            || plan.source.entities.count == schema.entities.count
                && names.allSatisfy { $0.name == $1.name && $0.versionHash == $1.versionHash }
        guard isSame else {
            throw StoreError(
                134110,
                "The store at \(url.path) is of another model than the migration plan begins with; nothing was changed. "
                    + "Make the plan from the model with which the store is open.", path: url.path)
        }
        let mismatch = StoreMismatch(schema, kept, recorded: metadata.versionHashes, accepted: Set(accepted.map(\.name)))
        if let mismatch { throw mismatch.refusal(at: url.path) }
    }

    /// Another process may have been first.
    private func requireUnchanged(_ known: StoreMetadata, _ connection: Connection) throws {
        guard let now = try MetadataRecord.read(connection), now.uuid == known.uuid, now.versionHashes == known.versionHashes else {
            throw StoreError(
                134110,
                "The store at \(url.path) was migrated or replaced by another process meanwhile; nothing was changed. Open it again.",
                path: url.path)
        }
    }

    /// Core Data keeps a copy of the former model beside the rows.
    private func forgetModel(_ connection: Connection) throws {
        if try Catalogue(connection).columns(of: MetadataStatements.modelCopy).isEmpty { return }
        try connection.run(MetadataStatements(connection.dialect).forgetModel)
    }
}

extension StoreMetadata {
    fileprivate func migrated(to map: StoreMap) -> StoreMetadata {
        var metadata = self
        metadata.versionHashes = Dictionary(map.entities.map { ($0.name, $0.versionHash) }, uniquingKeysWith: { a, _ in a })
        metadata.modelVersionIdentifiers = map.schema.versionIdentifiers
        return metadata
    }
}
