// Writes binary property lists with references between objects.

import Foundation

/// Writes one property list. Every thing is written once for each time that it stands in the tree, texts once.
package struct BinaryPropertyListWriter {
    /// A thing with the places of what it holds.
    private enum Entry {
        case bytes([UInt8])
        case array([Int])
        case dictionary(keys: [Int], values: [Int])
    }
    private var entries: [Entry] = []
    private var texts: [String: Int] = [:]

    package static func data(_ root: ArchiveNode) -> Data {
        var writer = BinaryPropertyListWriter()
        let top = writer.add(root)
        return writer.finish(top)
    }

    /// The depth of what is written is bounded by who makes it.
    private mutating func add(_ node: ArchiveNode) -> Int {
        switch node {
        case .bool(let flag): return append([flag ? 9 : 8])
        case .integer(let number): return append(Self.integer(number))
        case .large(let number): return append([0x14] + Array(repeating: 0, count: 8) + Self.big(number, 8))
        case .real(let number): return append([0x23] + Self.big(number.bitPattern, 8))
        case .date(let seconds): return append([0x33] + Self.big(seconds.bitPattern, 8))
        case .data(let data): return append(Self.head(4, data.count) + Array(data))
        case .reference(let place): return append(Self.reference(place))
        case .text(let text): return self.text(text)
        case .array(let nodes):
            let places = nodes.map { add($0) }
            entries.append(.array(places))
        case .dictionary(let nodes):
            // In a fixed order, so that equal values give equal bytes.
            let sorted = nodes.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
            let keys = sorted.map { text($0.key) }
            let values = sorted.map { add($0.value) }
            entries.append(.dictionary(keys: keys, values: values))
        }
        return entries.count - 1
    }

    private mutating func append(_ bytes: [UInt8]) -> Int {
        entries.append(.bytes(bytes))
        return entries.count - 1
    }

    private mutating func text(_ text: String) -> Int {
        // Canonically equal texts have different scalars; only the same bytes are shared.
        if let known = texts[text], case .bytes(let bytes) = entries[known], bytes == Self.bytes(text) { return known }
        texts[text] = entries.count
        return append(Self.bytes(text))
    }

    private static func bytes(_ text: String) -> [UInt8] {
        if text.utf8.allSatisfy({ $0 < 0x80 }) { return head(5, text.utf8.count) + Array(text.utf8) }
        return head(6, text.utf16.count) + text.utf16.flatMap { [UInt8($0 >> 8), UInt8(truncatingIfNeeded: $0)] }
    }

    private static func integer(_ number: Int64) -> [UInt8] {
        guard number >= 0 else { return [0x13] + big(UInt64(bitPattern: number), 8) }
        switch number {
        case ..<0x100: return [0x10] + big(UInt64(number), 1)
        case ..<0x1_0000: return [0x11] + big(UInt64(number), 2)
        case ..<0x1_0000_0000: return [0x12] + big(UInt64(number), 4)
        default: return [0x13] + big(UInt64(number), 8)
        }
    }

    private static func reference(_ place: Int) -> [UInt8] {
        let size = place < 0x100 ? 1 : place < 0x1_0000 ? 2 : 4
        return [0x80 | UInt8(size - 1)] + big(UInt64(place), size)
    }

    private static func head(_ kind: UInt8, _ length: Int) -> [UInt8] {
        length < 15 ? [kind << 4 | UInt8(length)] : [kind << 4 | 15] + integer(Int64(length))
    }

    private static func big(_ number: UInt64, _ size: Int) -> [UInt8] {
        (0..<size).map { UInt8(truncatingIfNeeded: number >> UInt64(8 * (size - 1 - $0))) }
    }

    private func finish(_ top: Int) -> Data {
        let referenceSize = entries.count < 0x100 ? 1 : entries.count < 0x1_0000 ? 2 : 4
        var data = Data("bplist00".utf8)
        var offsets: [Int] = []
        func list(_ places: [Int]) -> [UInt8] { places.flatMap { Self.big(UInt64($0), referenceSize) } }
        for entry in entries {
            offsets.append(data.count)
            switch entry {
            case .bytes(let bytes): data += bytes
            case .array(let places): data += Self.head(10, places.count) + list(places)
            case .dictionary(let keys, let values): data += Self.head(13, keys.count) + list(keys) + list(values)
            }
        }
        let table = data.count
        let offsetSize = table < 0x100 ? 1 : table < 0x1_0000 ? 2 : table < 0x1_0000_0000 ? 4 : 8
        for offset in offsets { data += Self.big(UInt64(offset), offsetSize) }
        data += [0, 0, 0, 0, 0, 0, UInt8(offsetSize), UInt8(referenceSize)]
        data += Self.big(UInt64(entries.count), 8) + Self.big(UInt64(top), 8) + Self.big(UInt64(table), 8)
        return data
    }
}
