// The tags and texts of a property list in XML.

import Foundation

/// Finds one tag after the other, and the text in elements that hold nothing else.
struct XMLPropertyListScanner {
    struct Tag {
        enum Kind { case start, end, empty }
        let name: String
        let kind: Kind
    }
    private let bytes: [UInt8]
    private var place = 0

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        _ = consume("\u{feff}")
    }

    func damaged(_ what: String) -> ArchiveError { ArchiveError("It is damaged: \(what) at byte \(place).") }

    /// The next tag; nil at the end. Between tags stand space, comments and declarations.
    mutating func next() throws(ArchiveError) -> Tag? {
        while true {
            while place < bytes.count, Self.isSpace(bytes[place]) { place += 1 }
            guard place < bytes.count else { return nil }
            if consume("<?") {
                try skip(past: "?>")
            } else if consume("<!--") {
                try skip(past: "-->")
            } else if consume("<!DOCTYPE") {
                try skipDocumentType()
            } else {
                return try tag()
            }
        }
    }

    private mutating func tag() throws(ArchiveError) -> Tag {
        guard consume("<") else {
            throw place == 0 ? ArchiveError("It is no property list.") : damaged("text stands between elements")
        }
        let isEnd = consume("/")
        let start = place
        while place < bytes.count, (0x61...0x7a).contains(bytes[place]) { place += 1 }
        let name = String(decoding: bytes[start..<place], as: UTF8.self)
        guard !name.isEmpty else { throw damaged("a name is missing") }
        // Attributes mean nothing.
        while place < bytes.count {
            if consume(">") { return Tag(name: name, kind: isEnd ? .end : .start) }
            if !isEnd, consume("/>") { return Tag(name: name, kind: .empty) }
            try skipQuoted()
        }
        throw damaged("a tag does not end")
    }

    /// A byte, or all between quotes.
    private mutating func skipQuoted() throws(ArchiveError) {
        let first = bytes[place]
        guard first != UInt8(ascii: "<") else { throw damaged("a tag does not end") }
        place += 1
        guard first == UInt8(ascii: "\"") || first == UInt8(ascii: "'") else { return }
        while place < bytes.count, bytes[place] != first { place += 1 }
        guard place < bytes.count else { throw damaged("a quotation does not end") }
        place += 1
    }

    private mutating func skipDocumentType() throws(ArchiveError) {
        while place < bytes.count {
            if consume(">") { return }
            guard bytes[place] != UInt8(ascii: "[") else {
                throw ArchiveError(
                    "It declares a document type of its own, which may hold entities. Remove the declaration.")
            }
            try skipQuoted()
        }
        throw damaged("a declaration does not end")
    }

    /// The text up to the end of the element that was begun.
    mutating func content(of name: String) throws(ArchiveError) -> String {
        var text: [UInt8] = []
        while place < bytes.count {
            if consume("<!--") {
                try skip(past: "-->")
            } else if consume("<![CDATA[") {
                let start = place
                try skip(past: "]]>")
                text += bytes[start..<place - 3]
            } else if bytes[place] == UInt8(ascii: "<") {
                guard let end = try next(), end.kind == .end, end.name == name else {
                    throw damaged("an element \(name) does not end")
                }
                guard let text = String(validating: text, as: UTF8.self) else { throw damaged("a text is no UTF-8") }
                return text
            } else if bytes[place] == UInt8(ascii: "&") {
                text += try entity()
            } else {
                text.append(bytes[place])
                place += 1
            }
        }
        throw damaged("an element \(name) does not end")
    }

    private static let entities: [(StaticString, String)] = [
        ("&amp;", "&"), ("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&apos;", "'"),
    ]

    private mutating func entity() throws(ArchiveError) -> [UInt8] {
        for (name, byte) in Self.entities where consume(name) {
            return Array(byte.utf8)
        }
        guard consume("&#"), let end = bytes[place...].prefix(9).firstIndex(of: UInt8(ascii: ";")) else {
            throw damaged("an entity is unknown")
        }
        let digits = String(decoding: bytes[place..<end], as: UTF8.self)
        let number = digits.hasPrefix("x") ? UInt32(digits.dropFirst(), radix: 16) : UInt32(digits)
        guard let scalar = number.flatMap({ Unicode.Scalar($0) }) else { throw damaged("an entity is unknown") }
        place = end + 1
        return Array(String(Character(scalar)).utf8)
    }

    static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x0a || byte == 0x0d || byte == 0x09 }

    private mutating func consume(_ text: StaticString) -> Bool {
        let count = text.utf8CodeUnitCount
        guard count <= bytes.count - place else { return false }
        for index in 0..<count where bytes[place + index] != text.utf8Start[index] { return false }
        place += count
        return true
    }

    private mutating func skip(past end: StaticString) throws(ArchiveError) {
        while place < bytes.count {
            if consume(end) { return }
            place += 1
        }
        throw damaged("a comment or declaration does not end")
    }
}
