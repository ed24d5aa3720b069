// How a model and a store recognise each other.

import CoreDataValues
import Foundation

extension NSManagedObjectModel {
    /// The hash of every entity. Empty for a model that contradicts itself; using it says what is wrong.
    public var entityVersionHashesByName: [String: Data] {
        guard let schema = try? schema() else { return [:] }
        return Dictionary(
            schema.entities.map { ($0.name, $0.versionHash) }, uniquingKeysWith: { first, _ in first })
    }

    /// The SHA-256 of all entity hashes, in base64; stores record it. Empty for a model that contradicts
    /// itself.
    public var versionChecksum: String { (try? schema())?.versionChecksum ?? "" }

    /// Whether a store with this metadata can be opened with the entities of a configuration, all for nil.
    public func isConfiguration(
        withName configuration: String?, compatibleWithStoreMetadata metadata: [String: Any]
    ) -> Bool {
        guard let stored = metadata["NSStoreModelVersionHashes"] as? [String: Data],
            let entities = entities(forConfigurationName: configuration)
        else { return false }
        let all = entityVersionHashesByName
        let names = entities.compactMap(\.name)
        return !all.isEmpty && stored.count == names.count && names.allSatisfy { stored[$0] == all[$0] }
    }
}
