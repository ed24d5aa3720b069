// The two figures over a whole model that a store records beside its hashes.

import CoreDataValues

/// `NSStoreModelVersionHashesDigest` and `NSStoreModelVersionChecksumKey`.
enum ModelFigures {
    static func values(of schema: Schema) -> [String: String] {
        [
            "NSStoreModelVersionHashesDigest": schema.versionHashesDigest,
            "NSStoreModelVersionChecksumKey": schema.versionChecksum,
        ]
    }
}
