// What a compiled model package says of its versions.

import CoreDataValues
import Foundation

/// A package's `VersionInfo.plist`.
package struct CompiledVersions: Sendable {
    /// The name of the current version, nil for a package without versions.
    package let current: String?
    /// The hashes of the entities, by version.
    package let hashes: [String: [String: Data]]
    /// The checksums of the versions, which newer tools write.
    package let checksums: [String: String]

    /// - Throws: `ModelFileError` where there is no such file, or one that is no property list.
    package init(in package: URL) throws(ModelFileError) {
        let url = package.appendingPathComponent("VersionInfo.plist")
        guard let size = ModelPackage.size(of: url.path), size < 16 << 20, let data = try? Data(contentsOf: url),
            let top = (try? PropertyList(data, .document(bytes: data.count)))?.top, top.entries != nil
        else { throw ModelFileError("there is no property list here that names the versions", path: url.path) }
        current = top["NSManagedObjectModel_CurrentVersionName"]?.text
        var hashes: [String: [String: Data]] = [:]
        for (name, version) in Self.entries(top["NSManagedObjectModel_VersionHashes"]) {
            for (entity, hash) in Self.entries(version) { hashes[name, default: [:]][entity] = hash.data }
        }
        self.hashes = hashes
        var checksums: [String: String] = [:]
        for (name, sum) in Self.entries(top["NSManagedObjectModel_VersionChecksums"]) { checksums[name] = sum.text }
        self.checksums = checksums
    }

    private static func entries(_ item: PropertyListItem?) -> [(String, PropertyListItem)] {
        guard let entries = item?.entries else { return [] }
        return zip(entries.keys, entries.values).compactMap { key, value in key.text.map { ($0, value) } }
    }
}
