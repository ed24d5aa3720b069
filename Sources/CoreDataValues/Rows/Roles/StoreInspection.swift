// What opening a store finds before anything is opened.

import Foundation

/// What lies where a store is to be, and whether a model fits it. A model that does not is an answer and no error.
package struct StoreInspection: Sendable {
    package enum Content: Sendable, Equatable {
        /// No file, or one without anything in it: opening makes a new store.
        case nothing
        case store
    }

    package let path: String
    package let content: Content
    /// nil where there is no store.
    package let metadata: StoreMetadata?
    /// nil where the model fits.
    package let mismatch: StoreMismatch?

    package init(nothingAt path: String) {
        self.path = path
        content = .nothing
        metadata = nil
        mismatch = nil
    }

    package init(path: String, metadata: StoreMetadata, mismatch: StoreMismatch?) {
        self.path = path
        content = .store
        self.metadata = metadata
        self.mismatch = mismatch
    }

    /// Compares the recorded hashes of a store alone.
    package init(path: String, metadata: StoreMetadata, schema: Schema, configuration: String?) {
        self.init(
            path: path, metadata: metadata,
            mismatch: StoreMismatch(
                schema, schema.entities(inConfiguration: configuration) ?? [], recorded: metadata.versionHashes))
    }

    /// - Throws: 134100 for a model that does not fit, saying what differs.
    package func requireFit() throws(StoreError) {
        if let mismatch { throw mismatch.refusal(at: path) }
    }
}

/// The entities by which a model does not fit a store.
package struct StoreMismatch: Sendable {
    package let schema: Schema
    /// The hashes that the store records.
    package let recorded: [String: Data]
    package let changed: [String]
    package let onlyInModel: [String]
    package let onlyInStore: [String]

    /// nil where the model fits.
    ///
    /// - Parameters:
    ///   - entities: those that the store is to keep.
    ///   - accepted: entities that fit although their hashes differ.
    package init?(_ schema: Schema, _ entities: [Entity], recorded: [String: Data], accepted: Set<String> = []) {
        self.schema = schema
        self.recorded = recorded
        changed = entities.filter { entity in
            guard let hash = recorded[entity.name] else { return false }
            return hash != entity.versionHash && !accepted.contains(entity.name)
        }.map(\.name).sorted()
        onlyInModel = entities.map(\.name).filter { recorded[$0] == nil }.sorted()
        onlyInStore = Set(recorded.keys).subtracting(entities.map(\.name)).sorted()
        if changed.isEmpty, onlyInModel.isEmpty, onlyInStore.isEmpty { return nil }
    }

    /// The version of the model that the store was written with; nil where none is at hand. Reads model files.
    package func writer() -> SchemaVersion? { schema.versions?.version(fitting: recorded) }

    /// What the model has otherwise than the version that wrote the store.
    package func diff(from writer: SchemaVersion) -> SchemaDiff { SchemaDiff(from: writer.schema, to: schema) }

    /// Whether an entity is the store's, or is to be.
    func concerns(_ entity: EntityDiff) -> Bool {
        let names = [entity.source, entity.destination].compactMap { $0 }
        return names.contains { recorded[$0] != nil || onlyInModel.contains($0) }
    }
}
