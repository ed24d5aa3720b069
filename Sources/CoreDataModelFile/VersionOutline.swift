// What the bytes of a model file show without being read as XML.

import Foundation

/// The entities of a model file by name, each with a figure over its bytes.
///
/// Where figures are equal, names and bytes are, and so is the version hash below equal parents. Nothing else is concluded: what
/// looks odd here only makes more versions be read.
struct VersionOutline {
    struct Block: Hashable {
        let name: String
        let figure: Int
    }

    private(set) var blocks: [String: Block] = [:]

    /// nil for a file in which no entities are seen, or names that are not spelled out.
    init?(_ contents: [UInt8]) {
        var found: [(name: String, figure: Int)] = []
        var common = Hasher()
        var isClear = true
        contents.withUnsafeBytes { bytes in
            Self.walk(bytes) { isEntity, block in
                if !isEntity { return common.combine(bytes: block) }
                guard let name = Self.name(block) else { return isClear = false }
                var hasher = Hasher()
                hasher.combine(bytes: block)
                found.append((name, hasher.finalize()))
            }
        }
        if !isClear || found.isEmpty { return nil }
        // Elements of composites are declared beside the entities, and part of their hashes.
        let figure = common.finalize()
        for (name, own) in found { blocks[name] = Block(name: name, figure: own ^ figure) }
    }

    /// Visits each entity and composite, from its start tag to its end tag or to the next one.
    private static func walk(
        _ bytes: UnsafeRawBufferPointer, _ visit: (_ isEntity: Bool, UnsafeRawBufferPointer) -> Void
    ) {
        var open: (start: Int, isEntity: Bool)?
        var offset = 0
        func close(_ end: Int) {
            if let open { visit(open.isEntity, UnsafeRawBufferPointer(rebasing: bytes[open.start..<end])) }
            open = nil
        }
        while let base = bytes.baseAddress, let found = memchr(base + offset, 0x3c, bytes.count - offset) {
            let place = UnsafeRawPointer(found) - base
            let isEntity = starts("<entity", bytes, place)
            if isEntity || starts("<composite", bytes, place) {
                close(place)
                open = (place, isEntity)
            } else if starts("</entity", bytes, place) || starts("</composite", bytes, place) {
                close(place)
            }
            offset = place + 1
        }
        close(bytes.count)
    }

    /// Whether a tag of this name begins here.
    private static func starts(_ tag: StaticString, _ bytes: UnsafeRawBufferPointer, _ place: Int) -> Bool {
        let count = tag.utf8CodeUnitCount
        guard let base = bytes.baseAddress, place + count < bytes.count, memcmp(base + place, tag.utf8Start, count) == 0
        else { return false }
        return bytes[place + count] <= 0x20 || bytes[place + count] == 0x3e
    }

    /// The value of the attribute `name` in the start tag. By bytes: texts would make this most of what a look costs.
    private static func name(_ block: UnsafeRawBufferPointer) -> String? {
        let word = Array(" name=\"".utf8)
        var matched = 0
        for (place, byte) in block.enumerated() {
            if byte == 0x3e { return nil }
            let byte = max(byte, word[0])  // any white space
            matched = byte == word[matched] ? matched + 1 : byte == word[0] ? 1 : 0
            guard matched == word.count else { continue }
            let value = block[(place + 1)...].prefix { $0 != 0x22 && $0 != 0x26 && $0 != 0x3e }
            guard value.endIndex < block.endIndex, block[value.endIndex] == 0x22 else { return nil }
            return String(bytes: value, encoding: .utf8)
        }
        return nil
    }
}
