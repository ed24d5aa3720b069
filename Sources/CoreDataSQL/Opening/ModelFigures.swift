// The two figures over a whole model that a store records beside its hashes.

import CoreDataValues
import Foundation

/// `NSStoreModelVersionHashesDigest` and `NSStoreModelVersionChecksumKey`.
enum ModelFigures {
    /// - Parameter recorded: the hashes that the store records; one that we cannot compute takes the place of ours.
    static func values(of schema: Schema, recorded: [String: Data]) -> [String: String] {
        var hashes = schema.versionHashes
        for entity in schema.entities {
            if let hash = recorded[entity.name], VersionHash.isForeign(hash, for: entity) { hashes[entity.name] = hash }
        }
        return [
            "NSStoreModelVersionHashesDigest": VersionHash.digest(of: hashes),
            "NSStoreModelVersionChecksumKey": VersionHash.checksum(of: hashes),
        ]
    }
}
