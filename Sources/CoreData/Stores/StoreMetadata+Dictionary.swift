// A store's metadata between the dictionary that programs see and the value that stores keep.

import CoreDataValues
import Foundation

extension StoreMetadata {
    private static let own: Set<String> = [
        NSStoreTypeKey, NSStoreUUIDKey, NSStoreModelVersionHashesKey, NSStoreModelVersionIdentifiersKey,
    ]

    static func dictionary(_ metadata: StoreMetadata) -> [String: Any] {
        var all: [String: Any] = [:]
        if let data = metadata.userInfo,
            let own = try? PropertyList.dictionary(data, .metadata(bytes: data.count))
        {
            all = own
        }
        all[NSStoreTypeKey] = metadata.type
        all[NSStoreUUIDKey] = metadata.uuid
        all[NSStoreModelVersionHashesKey] = metadata.versionHashes
        all[NSStoreModelVersionIdentifiersKey] = metadata.modelVersionIdentifiers
        return all
    }

    /// The metadata that a dictionary stands for; what it leaves out is as in `former`.
    ///
    /// - Parameter isForeign: whether a program's own store names itself, which it may by any text.
    /// - Throws: 134060 for values that no property list holds and for a UUID that is none.
    init(_ dictionary: [String: Any], over former: StoreMetadata, isForeign: Bool = false) throws {
        self = former
        let rest = dictionary.filter { !StoreMetadata.own.contains($0.key) }
        userInfo = nil
        if !rest.isEmpty {
            guard PropertyListSerialization.propertyList(rest, isValidFor: .binary) else {
                throw CocoaError.coreData(
                    134060, "The metadata \(rest.keys.sorted().joined(separator: ", ")) is no property list.")
            }
            let data = try PropertyListSerialization.data(fromPropertyList: rest, format: .binary, options: 0)
            try Self.requireReadable(data, code: 134060, "The metadata \(rest.keys.sorted().joined(separator: ", "))")
            userInfo = data
        }
        if let given = dictionary[NSStoreUUIDKey] {
            guard let text = given as? String, let uuid = UUID(uuidString: text)?.uuidString ?? (isForeign ? text : nil)
            else {
                throw CocoaError.coreData(134060, "\(NSStoreUUIDKey) takes the text of a UUID.")
            }
            self.uuid = uuid
        }
        if let hashes = dictionary[NSStoreModelVersionHashesKey] as? [String: Data] { versionHashes = hashes }
        if let names = dictionary[NSStoreModelVersionIdentifiersKey] as? [String] { modelVersionIdentifiers = names }
    }

    /// - Throws: the error of a code for an application's own metadata that are damaged, or more than are read.
    static func requireReadable(_ userInfo: Data?, code: Int, _ title: String) throws {
        guard let userInfo else { return }
        do throws(ArchiveError) {
            _ = try PropertyList.dictionary(userInfo, .metadata(bytes: userInfo.count))
        } catch { throw StoreError(code, "\(title) cannot be read. \(error.sentence)") }
    }

    /// What a new store of a configuration records.
    init(newStoreOf schema: Schema, configuration: String?, type: String) {
        self.init(
            uuid: UUID().uuidString, type: type, modelVersionIdentifiers: schema.versionIdentifiers,
            versionHashes: StoreMetadata.hashes(schema, configuration))
    }

    static func hashes(_ schema: Schema, _ configuration: String?) -> [String: Data] {
        let entities = schema.entities(inConfiguration: configuration) ?? []
        return Dictionary(entities.map { ($0.name, $0.versionHash) }, uniquingKeysWith: { first, _ in first })
    }
}
