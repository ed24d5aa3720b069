// The XML store's file.

import CoreDataValues
import Foundation

/// See `Documentation/StoreFormat.md`. The format is this library's own, not that of Core Data's XML stores.
enum XMLFormat: StoreFormat {
    private static let name = "OpenCoreData XML 1"

    static func encode(_ document: StoredDocument) throws -> Data {
        var out = XMLWriter()
        let metadata = document.metadata
        out.open("store", [("format", name), ("uuid", metadata.uuid), ("type", metadata.type)])
        for name in metadata.modelVersionIdentifiers { out.leaf("version", [("name", name)]) }
        for (name, hash) in metadata.versionHashes.sorted(by: { $0.key < $1.key }) {
            out.leaf("hash", [("entity", name), ("value", hash.base64EncodedString())])
        }
        if let info = metadata.userInfo { out.leaf("metadata", [("value", info.base64EncodedString())]) }
        for (entity, number) in document.next { out.leaf("next", [("entity", entity), ("id", "\(number)")]) }
        for object in document.objects {
            out.open(
                "object", [("entity", object.entity), ("id", "\(object.number)"), ("version", "\(object.version)")])
            for (name, content) in object.values { out.value(name, content) }
            out.close("object")
        }
        for pair in document.pairs {
            out.leaf(
                pair.kind.rawValue,
                [
                    ("entity", pair.entity), ("relationship", pair.relationship), ("owner", "\(pair.owner)"),
                    ("member", "\(pair.member)"), ("position", "\(pair.place)"),
                ])
        }
        out.close("store")
        return Data(out.text.utf8)
    }

    static func decode(_ data: Data, path: String) throws -> StoredDocument {
        var scanner = XMLScanner(data)
        guard let root = try scanner.next(path), root.name == "store", root["format"] == name,
            let uuid = root["uuid"], let type = root["type"]
        else { throw damaged(path, "it does not begin as one") }
        var document = StoredDocument(
            metadata: StoreMetadata(uuid: uuid, type: type, modelVersionIdentifiers: [], versionHashes: [:]))
        while let tag = try scanner.next(path) {
            if tag.kind == .end, tag.name == "store" { return document }
            guard try read(tag, &scanner, &document, path) else {
                throw damaged(path, "the element \(tag.name) at byte \(tag.place) is unknown or lacks a part")
            }
        }
        throw damaged(path, "it ends too early")
    }

    /// Reads one element inside the root; answers whether it could.
    private static func read(
        _ tag: XMLScanner.Tag, _ scanner: inout XMLScanner, _ document: inout StoredDocument, _ path: String
    ) throws -> Bool {
        switch tag.name {
        case "version":
            guard let name = tag["name"] else { return false }
            document.metadata.modelVersionIdentifiers.append(name)
        case "hash":
            guard let entity = tag["entity"], let hash = tag.data("value") else { return false }
            document.metadata.versionHashes[entity] = hash
        case "metadata":
            guard let info = tag.data("value") else { return false }
            document.metadata.userInfo = info
        case "next":
            guard let entity = tag["entity"], let number = tag.number("id") else { return false }
            document.next.append((entity, number))
        case "object":
            guard let object = try object(tag, &scanner, path) else { return false }
            document.objects.append(object)
        default:
            guard let pair = pair(tag) else { return false }
            document.pairs.append(pair)
        }
        return true
    }

    private static func object(
        _ tag: XMLScanner.Tag, _ scanner: inout XMLScanner, _ path: String
    ) throws -> StoredDocument.Object? {
        guard let entity = tag["entity"], let number = tag.number("id"),
            let version = tag.number("version").flatMap({ Int32(exactly: $0) })
        else { return nil }
        var object = StoredDocument.Object(entity: entity, number: number, version: version)
        guard tag.kind == .start else { return object }
        while let part = try scanner.next(path) {
            if part.kind == .end { return part.name == "object" ? object : nil }
            guard part.kind == .empty, let name = part["name"], let content = content(part) else { return nil }
            object.values.append((name, content))
        }
        return nil
    }

    private static func content(_ tag: XMLScanner.Tag) -> StoredDocument.Content? {
        if tag.name == "reference" {
            guard let entity = tag["entity"], let number = tag.number("id") else { return nil }
            return .reference(entity: entity, number: number)
        }
        let bytes = tag.data("base64")
        guard let text = tag["value"] ?? bytes.map({ String(decoding: $0, as: UTF8.self) }) else { return nil }
        switch tag.name {
        case "boolean": return .value(.bool(text == "true"))
        case "integer": return Int64(text).map { .value(.int($0)) }
        case "real": return Double(text).map { .value(.double($0)) }
        case "date": return Double(text).map { .value(.date($0)) }
        case "decimal":
            return Decimal(string: text, locale: Locale(identifier: "en_US_POSIX")).map { .value(.decimal($0)) }
        case "string": return .value(.text(text))
        case "uri": return .value(.uri(text))
        case "data": return bytes.map { .value(.data($0)) }
        case "uuid": return UUID(uuidString: text).map { .value(.uuid($0)) }
        default: return nil
        }
    }

    private static func pair(_ tag: XMLScanner.Tag) -> StoredDocument.Pair? {
        guard let kind = StoredDocument.Pair.Kind(rawValue: tag.name), let entity = tag["entity"],
            let relationship = tag["relationship"], let owner = tag.number("owner"),
            let member = tag.number("member"), let place = tag.number("position").flatMap({ Int(exactly: $0) })
        else { return nil }
        return StoredDocument.Pair(
            kind: kind, entity: entity, relationship: relationship, owner: owner, member: member, place: place)
    }
}

/// Text as it is written, an element a line.
private struct XMLWriter {
    private(set) var text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
    private var depth = 0

    mutating func open(_ name: String, _ attributes: [(String, String)]) {
        tag(name, attributes, end: ">")
        depth += 1
    }

    mutating func close(_ name: String) {
        depth -= 1
        text += String(repeating: "  ", count: depth) + "</\(name)>\n"
    }

    mutating func leaf(_ name: String, _ attributes: [(String, String)]) { tag(name, attributes, end: "/>") }

    private mutating func tag(_ name: String, _ attributes: [(String, String)], end: String) {
        text += String(repeating: "  ", count: depth) + "<" + name
        for (key, value) in attributes {
            text += " \(key)=\""
            text += XMLWriter.escaped(value) ?? ""
            text += "\""
        }
        text += end + "\n"
    }

    mutating func value(_ name: String, _ content: StoredDocument.Content) {
        switch content {
        case .reference(let entity, let number):
            leaf("reference", [("name", name), ("entity", entity), ("id", "\(number)")])
        case .value(let value): self.value(name, value)
        }
    }

    private mutating func value(_ name: String, _ value: Value) {
        switch value {
        case .null, .key: break
        case .bool(let flag): leaf("boolean", [("name", name), ("value", flag ? "true" : "false")])
        case .int(let number): leaf("integer", [("name", name), ("value", "\(number)")])
        case .double(let real): leaf("real", [("name", name), ("value", "\(real)")])
        case .date(let seconds): leaf("date", [("name", name), ("value", "\(seconds)")])
        case .decimal(let decimal): leaf("decimal", [("name", name), ("value", decimal.description)])
        case .text(let text): plain("string", name, text)
        case .uri(let text): plain("uri", name, text)
        case .data(let data): leaf("data", [("name", name), ("base64", data.base64EncodedString())])
        case .uuid(let uuid): leaf("uuid", [("name", name), ("value", uuid.uuidString)])
        }
    }

    /// A text with characters that XML has no way to write goes as bytes.
    private mutating func plain(_ kind: String, _ name: String, _ text: String) {
        if XMLWriter.escaped(text) != nil {
            leaf(kind, [("name", name), ("value", text)])
        } else {
            leaf(kind, [("name", name), ("base64", Data(text.utf8).base64EncodedString())])
        }
    }

    /// nil for a text with control characters or the two code points that are none.
    static func escaped(_ text: String) -> String? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count)
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": bytes += "&amp;".utf8
            case "<": bytes += "&lt;".utf8
            case ">": bytes += "&gt;".utf8
            case "\"": bytes += "&quot;".utf8
            case "\n": bytes += "&#10;".utf8
            case "\r": bytes += "&#13;".utf8
            case "\t": bytes += "&#9;".utf8
            case "\u{0}"..."\u{1f}", "\u{fffe}", "\u{ffff}": return nil
            default: bytes += UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
