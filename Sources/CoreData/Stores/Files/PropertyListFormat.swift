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
            "next": Dictionary(document.next.map { ($0.entity, NSNumber(value: $0.number)) }, uniquingKeysWith: { a, _ in a }),
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
        guard let root = try? PropertyListSerialization.propertyList(from: data, format: nil) as? [String: Any],
            root["format"] as? String == name
        else { throw damaged(path, "it does not begin as one") }
        guard let uuid = root[NSStoreUUIDKey] as? String, let type = root[NSStoreTypeKey] as? String,
            let hashes = root[NSStoreModelVersionHashesKey] as? [String: Data],
            let next = root["next"] as? [String: NSNumber], let objects = root["objects"] as? [[String: Any]],
            let pairs = root["pairs"] as? [[String: Any]]
        else { throw damaged(path, "a part is missing") }
        var document = StoredDocument(
            metadata: StoreMetadata(
                uuid: uuid, type: type,
                modelVersionIdentifiers: root[NSStoreModelVersionIdentifiersKey] as? [String] ?? [],
                versionHashes: hashes, userInfo: root["metadata"] as? Data))
        document.next = next.map { ($0.key, $0.value.int64Value) }
        document.objects = try objects.map { try object($0, path) }
        document.pairs = try pairs.map { try pair($0, path) }
        return document
    }

    private static func object(_ parts: [String: Any], _ path: String) throws -> StoredDocument.Object {
        guard let entity = parts["entity"] as? String, let number = parts["id"] as? NSNumber,
            let version = parts["version"] as? NSNumber, let values = parts["values"] as? [String: [Any]]
        else { throw damaged(path, "an object lacks a part") }
        var object = StoredDocument.Object(
            entity: entity, number: number.int64Value, version: version.int32Value)
        for (name, parts) in values {
            guard let content = content(parts) else { throw damaged(path, "\(entity).\(name) cannot be read") }
            object.values.append((name, content))
        }
        return object
    }

    private static func content(_ parts: [Any]) -> StoredDocument.Content? {
        guard let kind = parts.first as? String else { return nil }
        if kind == "0" { return .value(.null) }
        guard parts.count > 1 else { return nil }
        let content = parts[1]
        let text = content as? String
        let number = content as? NSNumber
        switch kind {
        case "r":
            guard let text, parts.count > 2, let target = parts[2] as? NSNumber else { return nil }
            return .reference(entity: text, number: target.int64Value)
        case "f": return number.map { .value(.bool($0.intValue != 0)) }
        case "i": return number.map { .value(.int($0.int64Value)) }
        case "d": return real(content).map { .value(.double($0)) }
        case "t": return real(content).map { .value(.date($0)) }
        case "n":
            return text.flatMap { Decimal(string: $0, locale: Locale(identifier: "en_US_POSIX")) }.map { .value(.decimal($0)) }
        case "s": return text.map { .value(.text($0)) }
        case "u": return text.map { .value(.uri($0)) }
        case "b": return (content as? Data).map { .value(.data($0)) }
        case "g": return text.flatMap { UUID(uuidString: $0) }.map { .value(.uuid($0)) }
        default: return nil
        }
    }

    private static func real(_ content: Any) -> Double? {
        (content as? NSNumber)?.doubleValue ?? (content as? String).flatMap { Double($0) }
    }

    private static func pair(_ parts: [String: Any], _ path: String) throws -> StoredDocument.Pair {
        guard let kind = (parts["kind"] as? String).flatMap({ StoredDocument.Pair.Kind(rawValue: $0) }),
            let entity = parts["entity"] as? String, let relationship = parts["relationship"] as? String,
            let owner = parts["owner"] as? NSNumber, let member = parts["member"] as? NSNumber,
            let place = parts["place"] as? NSNumber
        else { throw damaged(path, "a relationship lacks a part") }
        return StoredDocument.Pair(
            kind: kind, entity: entity, relationship: relationship, owner: owner.int64Value,
            member: member.int64Value, place: place.intValue)
    }
}
