// The other versions of a schema.

import Foundation

/// One version of a model.
package struct SchemaVersion: Sendable {
    package let name: String
    package let schema: Schema
    /// What the schema was made of.
    package let draft: SchemaDraft
    /// Whether all hashes that it was found by are its own: of others there may be more than one version that fits.
    package let isExact: Bool

    package init(name: String, schema: Schema, draft: SchemaDraft, isExact: Bool) {
        self.name = name
        self.schema = schema
        self.draft = draft
        self.isExact = isExact
    }
}

/// Where versions of a model are kept. They are read when they are asked for.
package protocol SchemaVersions: Sendable {
    /// What people call it: `Model.xcdatamodeld`.
    var name: String { get }

    /// The version that a store with these hashes was written with, nil where there is none.
    ///
    /// Hashes that cannot be compared (`VersionHash.isForeign`) do not count, but a version with exactly these hashes comes before
    /// one that only may have them. Costs a look at the bytes of all versions, and the
    /// reading of few.
    func version(fitting recorded: [String: Data]) -> SchemaVersion?
}

extension Schema {
    /// Whether these are hashes of the schema, or of a configuration of it.
    package func fitsExactly(_ recorded: [String: Data]) -> Bool {
        !recorded.isEmpty && recorded.allSatisfy { name, hash in entity(named: name)?.versionHash == hash }
    }

    /// Whether a store with these hashes can have been written with the schema, or with a configuration of it.
    package func fits(_ recorded: [String: Data]) -> Bool {
        !recorded.isEmpty
            && recorded.allSatisfy { name, hash in
                entity(named: name).map { $0.versionHash == hash || VersionHash.isForeign(hash, for: $0) } ?? false
            }
    }
}
