// The row of Z_METADATA and its property list.

import CoreDataSQL
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
    /// The length of the list in the file; one that is too long is not read.
    let length: Int

    /// nil when the database has no metadata row.
    static func row(_ connection: Connection) throws -> MetadataRecord? {
        let sql = MetadataStatements(SQLiteDialect()).read(limit: ArchiveLimits.metadataBytes)
        let statement = try Statement(sql, on: connection)
        defer { statement.finish() }
        guard try statement.step() else { return nil }
        return MetadataRecord(uuid: statement.text(0) ?? "", plist: statement.data(1), length: Int(statement.int(2)))
    }

    /// nil when the database has no metadata row.
    static func read(_ connection: Connection) throws -> StoreMetadata? {
        try row(connection)?.metadata(connection.path)
    }

    func metadata(_ path: String) throws -> StoreMetadata {
        let values = try values(path)
        let rest = values.filter { !Self.own.contains($0.key) }
        let userInfo = rest.isEmpty ? nil : try Self.encode(rest)
        return StoreMetadata(
            uuid: uuid, type: values["NSStoreType"] as? String ?? "SQLite",
            modelVersionIdentifiers: values["NSStoreModelVersionIdentifiers"] as? [String] ?? [],
            versionHashes: values["NSStoreModelVersionHashes"] as? [String: Data] ?? [:], userInfo: userInfo)
    }

    func values(_ path: String) throws -> [String: Any] {
        do throws(ArchiveError) {
            if let plist { return try PropertyList.dictionary(plist, .metadata(bytes: plist.count)) }
            if length == 0 { throw ArchiveError("There is no property list.") }
            throw ArchiveError("The property list has \(length) bytes, more than the \(ArchiveLimits.metadataBytes) that are read.")
        } catch {
            throw StoreError(
                134080, "The metadata of the store at \(path) cannot be read. \(error.sentence) Restore it from a copy.", path: path)
        }
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
        let statement = try Statement(MetadataStatements(SQLiteDialect()).write, on: connection)
        defer { statement.finish() }
        try statement.bind(1, .text(metadata.uuid))
        try statement.bind(2, .data(plist(values)))
        _ = try statement.step()
    }

    static func application(_ userInfo: Data?) throws -> [String: Any] {
        guard let userInfo else { return [:] }
        do throws(ArchiveError) {
            return try PropertyList.dictionary(userInfo, .metadata(bytes: userInfo.count)).filter { !own.contains($0.key) }
        } catch {
            throw StoreError(134060, "A store's own metadata must be a property list of a dictionary. \(error.sentence)")
        }
    }

    private static func encode(_ values: [String: Any]) throws -> Data {
        try PropertyListSerialization.data(fromPropertyList: values, format: .binary, options: 0)
    }

    /// The whole property list of a record.
    ///
    /// - Throws: 134060 for more than would be read again.
    static func plist(_ values: [String: Any]) throws -> Data {
        let plist = try encode(values)
        guard plist.count > ArchiveLimits.metadataBytes else { return plist }
        throw StoreError(
            134060,
            "The metadata take \(plist.count) bytes; a store keeps \(ArchiveLimits.metadataBytes) at most. Keep large values in objects.")
    }
}
