// What opening a store does in every kind of database.

import CoreDataValues
import Foundation

/// Compares a database with the model of a plan, and makes a store of one that is empty: *inspect · create or adopt · fit the names*.
package struct StoreSetup {
    private let plan: StorePlan
    private let session: any SQLSession
    private let ignoresVersionHashes: Bool
    private var map: StoreMap { plan.map }

    package init(_ plan: StorePlan, _ session: any SQLSession, ignoresVersionHashes: Bool) {
        self.plan = plan
        self.session = session
        self.ignoresVersionHashes = ignoresVersionHashes
    }

    /// What the metadata say, and whether the model fits; nil where there are none. Nothing is changed.
    package func inspect() throws -> StoreInspection? {
        guard let record = try MetadataRecord.row(session) else { return nil }
        if let known = plan.fitting(record.plist, uuid: record.uuid) {
            return StoreInspection(path: session.path, metadata: known, mismatch: nil)
        }
        let metadata = try record.metadata(session)
        let mismatch = ignoresVersionHashes ? nil : try mismatch(metadata)
        if metadata.versionHashes == map.versionHashes { plan.remember(record.plist, metadata) }
        return StoreInspection(path: session.path, metadata: metadata, mismatch: mismatch)
    }

    private func mismatch(_ metadata: StoreMetadata) throws -> StoreMismatch? {
        let tables = DerivedTables(map: map, session: session)
        let accepted = try map.entities.filter { entity in
            guard let hash = metadata.versionHashes[entity.name] else { return false }
            return try VersionHash.isForeign(hash, for: entity) && tables.fit(entity)
        }
        return StoreMismatch(
            map.schema, map.entities, recorded: metadata.versionHashes, accepted: Set(accepted.map(\.name)))
    }

    /// Versioning is ignored: the model's hashes are recorded in place of the store's, if it may be written.
    package func adopt(_ metadata: StoreMetadata, isReadOnly: Bool) throws -> StoreMetadata {
        var current = metadata
        current.versionHashes = map.versionHashes
        // A hash that we cannot compute stays, so that whoever wrote it still knows the store.
        for entity in map.entities {
            if let recorded = metadata.versionHashes[entity.name], VersionHash.isForeign(recorded, for: entity) {
                current.versionHashes[entity.name] = recorded
            }
        }
        current.modelVersionIdentifiers = map.schema.versionIdentifiers
        if isReadOnly || current.versionHashes == metadata.versionHashes { return metadata }
        try session.transaction {
            try MetadataRecord.write(current, schema: map.schema, to: session)
            return true
        }
        return current
    }

    /// Makes everything that a store has in one transaction, unless another process was first.
    ///
    /// - Parameter definitions: what `Definitions` says, for a database that can do all of it.
    package func create(_ definitions: [String]) throws -> StoreMetadata {
        var metadata = StoreMetadata(
            uuid: UUID().uuidString, type: session.dialect.metadata["NSStoreType"] ?? "",
            modelVersionIdentifiers: map.schema.versionIdentifiers, versionHashes: map.versionHashes)
        try session.transaction {
            guard try Catalogue(session).tables().isEmpty else {
                if let theirs = try MetadataRecord.read(session) { metadata = theirs }
                try StoreInspection(path: session.path, metadata: metadata, mismatch: mismatch(metadata)).requireFit()
                return false
            }
            for sql in definitions { try session.run(sql, []) }
            try map.schema.addEntityNumbers(session, plan.writes)
            if let copy = ModelCopy.data(of: map.schema) {
                try session.run(MetadataStatements(session.dialect).keepModel, [.data(copy)])
            }
            try MetadataRecord.write(metadata, schema: map.schema, to: session)
            return true
        }
        return metadata
    }

    /// The plan for the names that the database gives its join tables.
    ///
    /// - Parameter definitions: those of its join tables.
    package func fittingPlan(_ definitions: String) throws -> StorePlan {
        let isOwn = !ignoresVersionHashes
        return try plan.plan(joins: definitions, isOwn: isOwn) {
            try Catalogue(session).joinTables()
        } unknown: { answer in
            // A model that is not the store's own may have relationships that the store has not.
            if isOwn { throw answer.refusal(at: session.path, map.schema) }
        }
    }
}

extension StoreMap {
    /// The version hashes of what the store keeps.
    var versionHashes: [String: Data] {
        Dictionary(entities.map { ($0.name, $0.versionHash) }, uniquingKeysWith: { a, _ in a })
    }
}
