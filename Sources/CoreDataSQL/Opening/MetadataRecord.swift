// The row of Z_METADATA and its property list.

import CoreDataValues
import Foundation

/// Reads and writes a store's metadata. Keys this version does not know are kept as the application's own.
package struct MetadataRecord {
    static var frameworkVersion: Int64 { 1344 }
    static let own: Set<String> = [
        "NSStoreType", "NSPersistenceFrameworkVersion", "NSStoreModelVersionHashes",
        "NSStoreModelVersionHashesVersion",
        "NSStoreModelVersionIdentifiers", "_NSAutoVacuumLevel", "NSStoreModelVersionHashesDigest",
        "NSStoreModelVersionChecksumKey",
    ]

    package let uuid: String
    package let plist: Data?
    /// The length of the list in the file; one that is too long is not read.
    let length: Int

    package init(uuid: String, plist: Data?, length: Int) {
        (self.uuid, self.plist, self.length) = (uuid, plist, length)
    }

    /// nil when the database has no metadata row.
    package static func row(_ session: any SQLReading) throws -> MetadataRecord? {
        let sql = MetadataStatements(session.dialect).read(limit: ArchiveLimits.metadataBytes)
        guard let row = try session.tuples(sql, []).first, row.count == 3 else { return nil }
        var (plist, length): (Data?, Int) = (nil, 0)
        if case .data(let bytes) = row[1] { plist = bytes } else { plist = row[1].word.map { Data($0.utf8) } }
        if case .int(let bytes) = row[2] { length = Int(bytes) }
        return MetadataRecord(uuid: row[0].word ?? "", plist: plist, length: length)
    }

    /// nil when the database has no metadata row.
    package static func read(_ session: any SQLReading) throws -> StoreMetadata? { try row(session)?.metadata(session) }

    package func metadata(_ session: any SQLReading) throws -> StoreMetadata {
        let values = try values(session.path)
        let rest = values.filter { !Self.own.contains($0.key) }
        return StoreMetadata(
            uuid: uuid, type: values["NSStoreType"]?.text ?? session.dialect.metadata["NSStoreType"] ?? "",
            modelVersionIdentifiers: values["NSStoreModelVersionIdentifiers"]?.value as? [String] ?? [],
            versionHashes: values["NSStoreModelVersionHashes"]?.value as? [String: Data] ?? [:],
            userInfo: rest.isEmpty ? nil : Self.encode(rest.mapValues(\.written)))
    }

    private func values(_ path: String) throws -> [String: PropertyListItem] {
        do throws(ArchiveError) {
            if let plist { return try PropertyList.items(plist, .metadata(bytes: plist.count)) }
            if length == 0 { throw ArchiveError("There is no property list.") }
            throw ArchiveError(
                "The property list has \(length) bytes, more than the \(ArchiveLimits.metadataBytes) that are read.")
        } catch {
            throw StoreError(
                134080,
                "The metadata of the store at \(path) cannot be read. \(error.sentence) Restore it from a copy.",
                path: path)
        }
    }

    /// Writes the row, with the two figures over the whole model. Answers its property list.
    @discardableResult
    package static func write(_ metadata: StoreMetadata, schema: Schema, to session: any SQLSession) throws -> Data {
        var values = try application(metadata.userInfo)
        values["NSPersistenceFrameworkVersion"] = .integer(frameworkVersion)
        values["NSStoreModelVersionHashesVersion"] = .integer(3)
        set(metadata, in: &values)
        for (key, value) in session.dialect.metadata { values[key] = .text(value) }
        for (key, value) in ModelFigures.values(of: schema, recorded: metadata.versionHashes) {
            values[key] = .text(value)
        }
        let plist = try plist(values)
        try session.run(MetadataStatements(session.dialect).write, [.text(metadata.uuid), .data(plist)])
        return plist
    }

    /// Writes what an application may change and leaves the rest of the record as it is.
    package static func rewrite(_ metadata: StoreMetadata, to session: any SQLSession) throws {
        let former = try row(session)?.values(session.path) ?? [:]
        var values = former.filter { own.contains($0.key) }.mapValues(\.written)
        values.merge(try application(metadata.userInfo)) { own, _ in own }
        set(metadata, in: &values)
        try session.run(MetadataStatements(session.dialect).change, [.text(metadata.uuid), .data(plist(values))])
    }

    private static func set(_ metadata: StoreMetadata, in values: inout [String: ArchiveNode]) {
        values["NSStoreModelVersionHashes"] = .dictionary(metadata.versionHashes.mapValues { .data($0) })
        values["NSStoreModelVersionIdentifiers"] = .array(metadata.modelVersionIdentifiers.map { .text($0) })
    }

    static func application(_ userInfo: Data?) throws -> [String: ArchiveNode] {
        guard let userInfo else { return [:] }
        do throws(ArchiveError) {
            return try PropertyList.items(userInfo, .metadata(bytes: userInfo.count)).filter {
                !own.contains($0.key)
            }.mapValues(\.written)
        } catch {
            throw StoreError(
                134060, "A store's own metadata must be a property list of a dictionary. \(error.sentence)")
        }
    }

    static func encode(_ values: [String: ArchiveNode]) -> Data { BinaryPropertyListWriter.data(.dictionary(values)) }

    /// The whole property list of a record.
    ///
    /// - Throws: 134060 for more than would be read again.
    static func plist(_ values: [String: ArchiveNode]) throws -> Data {
        let plist = encode(values)
        guard plist.count > ArchiveLimits.metadataBytes else { return plist }
        throw StoreError(
            134060,
            "The metadata take \(plist.count) bytes; a store keeps \(ArchiveLimits.metadataBytes) at most. Keep large values in objects."
        )
    }
}

extension SQLReader {
    /// - Throws: 134080 where somebody has removed them.
    package func metadata() throws -> StoreMetadata {
        var (metadata, path): (StoreMetadata?, String) = (nil, "")
        try source.read(.latest) { (metadata, path) = (try MetadataRecord.read($0), $0.path) }
        guard let metadata else { throw StoreError(134080, "The store at \(path) has lost its metadata.", path: path) }
        return metadata
    }
}
