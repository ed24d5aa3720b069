// The row of Z_METADATA and its property list.

import CoreDataValues
import Foundation

/// Reads and writes a store's metadata. Keys this version does not know are kept as the application's own.
struct MetadataRecord {
    static var frameworkVersion: Int { 1344 }
    static let own: Set<String> = [
        "NSStoreType", "NSPersistenceFrameworkVersion", "NSStoreModelVersionHashes",
        "NSStoreModelVersionHashesVersion",
        "NSStoreModelVersionIdentifiers", "_NSAutoVacuumLevel", "NSStoreModelVersionHashesDigest",
        "NSStoreModelVersionChecksumKey",
    ]

    let uuid: String
    let plist: Data?

    /// nil when the database has no metadata row.
    static func row(_ connection: Connection) throws -> MetadataRecord? {
        let statement = try Statement("SELECT Z_UUID, Z_PLIST FROM Z_METADATA", on: connection)
        defer { statement.finish() }
        guard try statement.step() else { return nil }
        return MetadataRecord(uuid: statement.text(0) ?? "", plist: statement.data(1))
    }

    /// nil when the database has no metadata row.
    static func read(_ connection: Connection) throws -> StoreMetadata? {
        try row(connection)?.metadata(connection.path)
    }

    func metadata(_ path: String) throws -> StoreMetadata {
        guard let plist,
            let values = try? PropertyListSerialization.propertyList(from: plist, format: nil)
                as? [String: Any]
        else {
            throw StoreError(
                134080,
                "The metadata of the store at \(path) cannot be read. Restore it from a copy.",
                path: path)
        }
        let rest = values.filter { !Self.own.contains($0.key) }
        let userInfo = rest.isEmpty ? nil : try Self.encode(rest)
        return StoreMetadata(
            uuid: uuid, type: values["NSStoreType"] as? String ?? "SQLite",
            modelVersionIdentifiers: values["NSStoreModelVersionIdentifiers"] as? [String] ?? [],
            versionHashes: values["NSStoreModelVersionHashes"] as? [String: Data] ?? [:], userInfo: userInfo)
    }

    /// Writes the row, with the two figures over the whole model.
    static func write(_ metadata: StoreMetadata, schema: Schema, to connection: Connection) throws {
        var values = try application(metadata.userInfo)
        values["NSStoreType"] = "SQLite"
        values["NSPersistenceFrameworkVersion"] = frameworkVersion
        values["NSStoreModelVersionHashes"] = metadata.versionHashes
        values["NSStoreModelVersionHashesVersion"] = 3
        values["NSStoreModelVersionIdentifiers"] = metadata.modelVersionIdentifiers
        values["_NSAutoVacuumLevel"] = "2"
        for (key, value) in ModelFigures.values(of: schema, recorded: metadata.versionHashes) { values[key] = value }
        let statement = try Statement(
            "INSERT OR REPLACE INTO Z_METADATA (Z_VERSION, Z_UUID, Z_PLIST) VALUES (1, ?, ?)", on: connection)
        defer { statement.finish() }
        try statement.bind(1, .text(metadata.uuid))
        try statement.bind(2, .data(encode(values)))
        _ = try statement.step()
    }

    static func application(_ userInfo: Data?) throws -> [String: Any] {
        guard let userInfo else { return [:] }
        guard
            let values = try? PropertyListSerialization.propertyList(from: userInfo, format: nil)
                as? [String: Any]
        else {
            throw StoreError(134060, "A store's own metadata must be a property list of a dictionary.")
        }
        return values.filter { !own.contains($0.key) }
    }

    static func encode(_ values: [String: Any]) throws -> Data {
        try PropertyListSerialization.data(fromPropertyList: values, format: .binary, options: 0)
    }
}
