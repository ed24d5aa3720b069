// The property-list store's file.

import CoreDataValues
import Foundation

/// A binary property list; see `Documentation/StoreFormat.md`. A property list in XML is read as well.
enum PropertyListFormat: StoreFormat {
    private static let name = "OpenCoreData property list 1"

    static func encode(_ document: StoredDocument) throws -> Data {
        let metadata = document.metadata
        var root: [String: Any] = [
            "format": name, NSStoreUUIDKey: metadata.uuid, NSStoreTypeKey: metadata.type,
            NSStoreModelVersionHashesKey: metadata.versionHashes,
            NSStoreModelVersionIdentifiersKey: metadata.modelVersionIdentifiers,
            "next": Dictionary(
                document.next.map { ($0.entity, NSNumber(value: $0.number)) }, uniquingKeysWith: { a, _ in a }),
            "objects": document.objects.map(object), "pairs": document.pairs.map(pair),
        ]
        root["metadata"] = metadata.userInfo
        return try PropertyListSerialization.data(fromPropertyList: root, format: .binary, options: 0)
    }

    private static func object(_ object: StoredDocument.Object) -> [String: Any] {
        [
            "entity": object.entity, "id": NSNumber(value: object.number), "version": NSNumber(value: object.version),
            "values": Dictionary(object.values.map { ($0.name, content($0.content)) }, uniquingKeysWith: { a, _ in a }),
        ]
    }

    /// One letter for the kind, then the value: property lists do not tell a date from a number, or 1 from 1.0.
    private static func content(_ content: StoredDocument.Content) -> [Any] {
        switch content {
        case .reference(let entity, let number): return ["r", entity, NSNumber(value: number)]
        case .value(let value):
            switch value {
            case .null, .key: return ["0"]
            case .bool(let flag): return ["f", NSNumber(value: flag ? 1 : 0)]
            case .int(let number): return ["i", NSNumber(value: number)]
            case .double(let real): return ["d", self.real(real)]
            case .date(let seconds): return ["t", self.real(seconds)]
            case .decimal(let decimal): return ["n", decimal.description]
            case .text(let text): return ["s", text]
            case .uri(let text): return ["u", text]
            case .data(let data): return ["b", data]
            case .uuid(let uuid): return ["g", uuid.uuidString]
            }
        }
    }

    /// Equal numbers are written once, so minus zero would come back as zero.
    private static func real(_ real: Double) -> Any {
        real == 0 && real.sign == .minus ? "-0" : NSNumber(value: real)
    }

    private static func pair(_ pair: StoredDocument.Pair) -> [String: Any] {
        [
            "kind": pair.kind.rawValue, "entity": pair.entity, "relationship": pair.relationship,
            "owner": NSNumber(value: pair.owner), "member": NSNumber(value: pair.member),
            "place": NSNumber(value: pair.place),
        ]
    }

    static func decode(_ data: Data, path: String) throws -> StoredDocument {
        let root: PropertyListItem
        do throws(ArchiveError) {
            root = try PropertyList(data, .document(bytes: data.count)).top
        } catch {
            throw StoreError(
                134080,
                "The file at \(path) cannot be read as a property list. \(error.sentence) Restore it from a copy.",
                path: path)
        }
        guard root["format"]?.text == name else { throw damaged(path, "it does not begin as one") }
        guard let uuid = root[NSStoreUUIDKey]?.text, let type = root[NSStoreTypeKey]?.text,
            let hashes = entries(root[NSStoreModelVersionHashesKey], \.data),
            let next = entries(root["next"], \.integer), let objects = root["objects"]?.array,
            let pairs = root["pairs"]?.array
        else { throw damaged(path, "a part is missing") }
        var document = StoredDocument(
            metadata: StoreMetadata(
                uuid: uuid, type: type,
                modelVersionIdentifiers: root[NSStoreModelVersionIdentifiersKey]?.array?.compactMap(\.text) ?? [],
                versionHashes: Dictionary(hashes, uniquingKeysWith: { _, last in last }),
                userInfo: root["metadata"]?.data))
        document.next = next
        document.objects = try objects.map { try object($0, path) }
        document.pairs = try pairs.map { try pair($0, path) }
        return document
    }

    /// The entries of a dictionary whose values are all of one kind; nil for anything else.
    private static func entries<T>(
        _ item: PropertyListItem?, _ value: (PropertyListItem) -> T?
    ) -> [(String, T)]? {
        guard let (keys, values) = item?.entries else { return nil }
        var entries: [(String, T)] = []
        for (key, item) in zip(keys, values) {
            guard let name = key.text, let value = value(item) else { return nil }
            entries.append((name, value))
        }
        return entries
    }

    private static func object(_ item: PropertyListItem, _ path: String) throws -> StoredDocument.Object {
        guard let entity = item["entity"]?.text, let number = item["id"]?.integer,
            let version = item["version"]?.integer, let version = Int32(exactly: version),
            let (names, values) = item["values"]?.entries
        else { throw damaged(path, "an object lacks a part") }
        var object = StoredDocument.Object(entity: entity, number: number, version: version)
        for (key, parts) in zip(names, values) {
            guard let name = key.text, let content = content(parts) else {
                throw damaged(path, "\(entity).\(key.text ?? "") cannot be read")
            }
            object.values.append((name, content))
        }
        return object
    }

    private static func content(_ item: PropertyListItem) -> StoredDocument.Content? {
        guard let parts = item.array, let kind = parts.first?.text else { return nil }
        if kind == "0" { return .value(.null) }
        guard parts.count > 1 else { return nil }
        let content = parts[parts.startIndex + 1]
        let text = content.text
        switch kind {
        case "r":
            guard let text, parts.count > 2, let target = parts[parts.startIndex + 2].integer else { return nil }
            return .reference(entity: text, number: target)
        case "f": return content.integer.map { .value(.bool($0 != 0)) }
        case "i": return content.integer.map { .value(.int($0)) }
        case "d": return real(content).map { .value(.double($0)) }
        case "t": return real(content).map { .value(.date($0)) }
        case "n":
            return text.flatMap { Decimal(string: $0, locale: Locale(identifier: "en_US_POSIX")) }.map {
                .value(.decimal($0))
            }
        case "s": return text.map { .value(.text($0)) }
        case "u": return text.map { .value(.uri($0)) }
        case "b": return content.data.map { .value(.data($0)) }
        case "g": return text.flatMap { UUID(uuidString: $0) }.map { .value(.uuid($0)) }
        default: return nil
        }
    }

    private static func real(_ item: PropertyListItem) -> Double? { item.real ?? item.text.flatMap { Double($0) } }

    private static func pair(_ item: PropertyListItem, _ path: String) throws -> StoredDocument.Pair {
        guard let kind = item["kind"]?.text.flatMap({ StoredDocument.Pair.Kind(rawValue: $0) }),
            let entity = item["entity"]?.text, let relationship = item["relationship"]?.text,
            let owner = item["owner"]?.integer, let member = item["member"]?.integer,
            let place = item["place"]?.integer
        else { throw damaged(path, "a relationship lacks a part") }
        return StoredDocument.Pair(
            kind: kind, entity: entity, relationship: relationship, owner: owner, member: member, place: Int(place))
    }
}
