// Where each start tag and each attribute of an XML file stands.

/// Walks the bytes of an XML document from start tag to start tag.
///
/// libxml2's reader knows no column, and its line is that of the end of a tag; so this walks beside it. In a
/// document that libxml2 accepts the n-th tag here is its n-th element; in any other the walk just ends.
/// Columns count bytes from 1.
struct TagScanner {
    struct Position: Equatable {
        var line: Int
        var column: Int
    }

    struct Tag {
        var position: Position
        /// At most one more than `attributeLimit`.
        var attributes: [(name: String, position: Position)] = []
    }

    enum Item {
        case tag(Tag)
        /// `<!DOCTYPE`, or something like it outside of comments.
        case declaration(Position)
    }

    /// Attributes of one tag: entities in use have about ten, and what lies behind takes time with their square.
    static let attributeLimit = 1_000

    private let bytes: UnsafeBufferPointer<UInt8>
    private var offset: Int
    /// Elements begun and not ended so far.
    private(set) var depth = 0
    private var line = 1
    private var lineStart: Int
    /// Up to where newlines have been counted.
    private var counted: Int

    /// The bytes must outlive the scanner.
    init(_ bytes: UnsafeBufferPointer<UInt8>) {
        self.bytes = bytes
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        offset = bytes.starts(with: mark) ? 3 : 0
        lineStart = offset
        counted = offset
    }

    /// The next start tag or declaration; nil at the end.
    mutating func next() -> Item? {
        while let start = find(UInt8(ascii: "<")) {
            offset = start
            if at("<!--") {
                skip(past: "-->", from: start + 4)
            } else if at("<![CDATA[") {
                skip(past: "]]>", from: start + 9)
            } else if at("<?") {
                skip(past: "?>", from: start + 2)
            } else if at("</") {
                depth -= 1
                skip(past: ">", from: start + 2)
            } else if at("<!") {
                offset += 2
                return .declaration(position(of: start))
            } else {
                return .tag(tag(from: start))
            }
        }
        return nil
    }

    private mutating func tag(from start: Int) -> Tag {
        var tag = Tag(position: position(of: start))
        offset = start + 1
        skipName()
        while true {
            skipSpace()
            guard let byte = byte, byte != UInt8(ascii: ">"), byte != UInt8(ascii: "/") else { break }
            let nameStart = offset
            skipName()
            guard offset > nameStart else { break }
            if tag.attributes.count <= Self.attributeLimit {
                let name = String(decoding: bytes[nameStart..<offset], as: UTF8.self)
                tag.attributes.append((name, position(of: nameStart)))
            }
            skipSpace()
            guard self.byte == UInt8(ascii: "=") else { break }
            offset += 1
            skipSpace()
            guard let quote = self.byte, quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") else {
                break
            }
            offset += 1
            guard let end = find(quote) else { break }
            offset = end + 1
        }
        if byte != UInt8(ascii: "/") { depth += 1 }
        return tag
    }

    private var byte: UInt8? { offset < bytes.count ? bytes[offset] : nil }

    private func find(_ byte: UInt8) -> Int? {
        var index = offset
        while index < bytes.count {
            if bytes[index] == byte { return index }
            index += 1
        }
        return nil
    }

    private func at(_ text: StaticString) -> Bool { matches(text, at: offset) }

    private func matches(_ text: StaticString, at index: Int) -> Bool {
        guard index + text.utf8CodeUnitCount <= bytes.count else { return false }
        return text.withUTF8Buffer { buffer in buffer.indices.allSatisfy { buffer[$0] == bytes[index + $0] } }
    }

    private mutating func skip(past text: StaticString, from start: Int) {
        var index = start
        while index < bytes.count, !matches(text, at: index) { index += 1 }
        offset = min(bytes.count, index + text.utf8CodeUnitCount)
    }

    private mutating func skipSpace() {
        while let byte, byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D { offset += 1 }
    }

    private mutating func skipName() {
        while let byte, byte > 0x20, byte != UInt8(ascii: "="), byte != UInt8(ascii: ">"),
            byte != UInt8(ascii: "/")
        {
            offset += 1
        }
    }

    /// Where the bytes end when elements are left open there; nil when all are closed. Walks the rest of the
    /// document.
    mutating func openEnd() -> Position? {
        while next() != nil {}
        return depth > 0 ? position(of: bytes.count) : nil
    }

    /// The first tag with more attributes than `attributeLimit`; nil when there is none. Walks the rest of the document if that
    /// has so many equals signs somewhere between two tags.
    mutating func crowdedTag() -> Tag? {
        guard isCrowded else { return nil }
        while let item = next() {
            if case .tag(let tag) = item, tag.attributes.count > Self.attributeLimit { return tag }
        }
        return nil
    }

    private var isCrowded: Bool {
        var signs = 0
        for byte in bytes {
            if byte == UInt8(ascii: "<") { signs = 0 }
            if byte == UInt8(ascii: "=") { signs += 1 }
            if signs > Self.attributeLimit { return true }
        }
        return false
    }

    /// Positions are asked for in rising order, so that each byte is looked at once.
    private mutating func position(of index: Int) -> Position {
        while counted < index {
            if bytes[counted] == 0x0A {
                line += 1
                lineStart = counted + 1
            }
            counted += 1
        }
        return Position(line: line, column: index - lineStart + 1)
    }
}
