// Version hashes: how a store recognises the model that it was written with.

import Foundation

/// Computes the hash of every entity of a draft.
struct VersionHash {
    let draft: SchemaDraft

    func entityHashes() -> [String: Data] { [:] }
}
