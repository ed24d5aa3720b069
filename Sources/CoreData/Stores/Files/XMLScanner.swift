// Reads the tags of an XML store, one after the other.

import CoreDataValues
import Foundation

/// Understands what `XMLFormat` writes: tags with quoted attributes, comments and space between them, the five named entities
/// and numbered ones. Anything else, a document type above all, is refused with its place.
struct XMLScanner {
    struct Tag {
        enum Kind { case start, end, empty }
        var kind: Kind
        var name: String
        var attributes: [String: String] = [:]
        /// The byte of its `<`.
        var place: Int
        subscript(_ key: String) -> String? { attributes[key] }
        func number(_ key: String) -> Int64? { attributes[key].flatMap { Int64($0) } }
        func data(_ key: String) -> Data? { attributes[key].flatMap { Data(base64Encoded: $0) } }
    }

    private let bytes: [UInt8]
    private var place = 0

    init(_ data: Data) { bytes = Array(data) }

    private func damaged(_ path: String, _ what: String) -> StoreError {
        XMLFormat.damaged(path, "\(what) at byte \(place)")
    }

    /// The next tag; nil at the end.
    mutating func next(_ path: String) throws -> Tag? {
        while true {
            skipSpace()
            guard place < bytes.count else { return nil }
            if starts("<?") {
                try skip(past: "?>", path)
            } else if starts("<!--") {
                try skip(past: "-->", path)
            } else {
                return try tag(path)
            }
        }
    }

    /// The text up to the next tag.
    mutating func text(_ path: String) throws -> String {
        var content: [UInt8] = []
        while place < bytes.count, bytes[place] != UInt8(ascii: "<") {
            if bytes[place] == UInt8(ascii: "&") {
                content += try entity(path)
            } else {
                content.append(bytes[place])
                place += 1
            }
        }
        return String(decoding: content, as: UTF8.self)
    }

    /// Goes past a document type that declares nothing, if one comes next, and what stands before it.
    mutating func skipDocumentType(_ path: String) throws {
        while true {
            skipSpace()
            if starts("<?") {
                try skip(past: "?>", path)
            } else if starts("<!--") {
                try skip(past: "-->", path)
            } else if starts("<!DOCTYPE") {
                let start = place
                try skip(past: ">", path)
                if bytes[start..<place].contains(UInt8(ascii: "[")) {
                    throw damaged(path, "a document type declares something")
                }
            } else {
                return
            }
        }
    }

    private mutating func tag(_ path: String) throws -> Tag {
        let start = place
        guard consume("<") else { throw damaged(path, "text stands between elements") }
        let isEnd = consume("/")
        var tag = Tag(kind: isEnd ? .end : .start, name: try name(path), place: start)
        while true {
            skipSpace()
            if consume("/>") {
                tag.kind = .empty
                return tag
            }
            if consume(">") { return tag }
            let key = try name(path)
            guard consume("=\"") else { throw damaged(path, "an attribute has no value") }
            tag.attributes[key] = try value(path)
        }
    }

    private mutating func name(_ path: String) throws -> String {
        let start = place
        while place < bytes.count, isNamePart(bytes[place]) { place += 1 }
        guard place > start else { throw damaged(path, "a name is missing") }
        return String(decoding: bytes[start..<place], as: UTF8.self)
    }

    private func isNamePart(_ byte: UInt8) -> Bool {
        switch Unicode.Scalar(byte) {
        case "a"..."z", "A"..."Z", "0"..."9", "-", "_": true
        default: false
        }
    }

    private mutating func value(_ path: String) throws -> String {
        var content: [UInt8] = []
        while place < bytes.count {
            switch Unicode.Scalar(bytes[place]) {
            case "\"":
                place += 1
                return String(decoding: content, as: UTF8.self)
            case "&": content += try entity(path)
            case "<": throw damaged(path, "a value holds <")
            default:
                content.append(bytes[place])
                place += 1
            }
        }
        throw damaged(path, "a value does not end")
    }

    private mutating func entity(_ path: String) throws -> [UInt8] {
        for (name, byte) in [("&amp;", "&"), ("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&apos;", "'")]
        where consume(name) { return Array(byte.utf8) }
        guard consume("&#"), let end = bytes[place...].prefix(9).firstIndex(of: UInt8(ascii: ";")) else {
            throw damaged(path, "an entity is unknown")
        }
        let digits = String(decoding: bytes[place..<end], as: UTF8.self)
        let number = digits.hasPrefix("x") ? UInt32(digits.dropFirst(), radix: 16) : UInt32(digits)
        guard let scalar = number.flatMap({ Unicode.Scalar($0) }) else { throw damaged(path, "an entity is unknown") }
        place = end + 1
        return Array(String(Character(scalar)).utf8)
    }

    private func starts(_ text: String) -> Bool { bytes[place...].starts(with: text.utf8) }

    private mutating func consume(_ text: String) -> Bool {
        guard starts(text) else { return false }
        place += text.utf8.count
        return true
    }

    mutating func skip(past end: String, _ path: String) throws {
        while place < bytes.count {
            if consume(end) { return }
            place += 1
        }
        throw damaged(path, "a comment or declaration does not end")
    }

    private mutating func skipSpace() {
        while place < bytes.count, [0x20, 0x0a, 0x0d, 0x09].contains(bytes[place]) { place += 1 }
    }
}
