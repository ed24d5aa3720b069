// What a store records beside its rows.

import Foundation

/// What a store records beside its rows.
package struct StoreMetadata: Sendable {
    /// `NSStoreUUID`, upper case.
    package var uuid: String
    /// `NSStoreType`.
    package var type: String
    package var modelVersionIdentifiers: [String]
    package var versionHashes: [String: Data]
    /// The application's own keys, as a binary property list of a dictionary.
    package var userInfo: Data?
    package init(
        uuid: String, type: String, modelVersionIdentifiers: [String], versionHashes: [String: Data],
        userInfo: Data? = nil
    ) {
        self.uuid = uuid
        self.type = type
        self.modelVersionIdentifiers = modelVersionIdentifiers
        self.versionHashes = versionHashes
        self.userInfo = userInfo
    }
}
