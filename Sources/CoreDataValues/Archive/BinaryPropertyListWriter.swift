// Writes binary property lists with references between objects.

import Foundation

/// Writes one property list. Every thing is written once for each time that it stands in the tree; equal texts and data once.
package struct BinaryPropertyListWriter {
    private enum Kind: UInt8 { case plain = 0, array = 10, dictionary = 13 }
    /// A thing: its bytes, or the places of what it holds, a dictionary's values behind its keys.
    private struct Entry {
        let kind: Kind
        let range: Range<Int>
    }
    private var entries: [Entry] = []
    private var bytes: [UInt8] = []
    private var places: [Int] = []
    private var texts: [String: (place: Int, text: String)] = [:]
    private var datas: [Data: Int] = [:]

    package static func data(_ root: ArchiveNode) -> Data {
        var writer = BinaryPropertyListWriter()
        let top = writer.add(root)
        return writer.finish(top)
    }

    /// The depth of what is written is bounded by who makes it.
    private mutating func add(_ node: ArchiveNode) -> Int {
        let start = bytes.count
        switch node {
        case .bool(let flag): bytes.append(flag ? 9 : 8)
        case .integer(let number): bytes.write(integer: number)
        case .large(let number):
            bytes.append(0x14)
            bytes.write(0, 8)
            bytes.write(number, 8)
        case .real(let number):
            bytes.append(0x23)
            bytes.write(number.bitPattern, 8)
        case .date(let seconds):
            bytes.append(0x33)
            bytes.write(seconds.bitPattern, 8)
        case .data(let data):
            if let known = datas[data] { return known }
            datas[data] = entries.count
            bytes.write(head: 4, data.count)
            bytes += data
        case .reference(let place):
            let size = place < 0x100 ? 1 : place < 0x1_0000 ? 2 : 4
            bytes.append(0x80 | UInt8(size - 1))
            bytes.write(UInt64(place), size)
        case .text(let text): return self.text(text)
        case .array(let nodes): return hold(.array, nodes.map { add($0) })
        case .dictionary(let nodes):
            // In a fixed order, so that equal values give equal bytes.
            let sorted = nodes.sorted { $0.key < $1.key }
            var held: [Int] = []
            held.reserveCapacity(2 * sorted.count)
            for (key, _) in sorted { held.append(text(key)) }
            for (_, value) in sorted { held.append(add(value)) }
            return hold(.dictionary, held)
        }
        return enter(start)
    }

    private mutating func enter(_ start: Int) -> Int {
        entries.append(Entry(kind: .plain, range: start..<bytes.count))
        return entries.count - 1
    }

    private mutating func hold(_ kind: Kind, _ held: [Int]) -> Int {
        entries.append(Entry(kind: kind, range: places.count..<places.count + held.count))
        places += held
        return entries.count - 1
    }

    private mutating func text(_ text: String) -> Int {
        // Canonically equal texts have different scalars; only the same bytes are shared.
        let known = Self.copy(&texts[text, default: (entries.count, text)])
        if known.place < entries.count, known.text.hasSameBytes(text) { return known.place }
        if known.place < entries.count { texts[text] = (entries.count, text) }
        let start = bytes.count
        var text = text
        let isPlain = text.withUTF8 { utf8 in
            guard utf8.allSatisfy({ $0 < 0x80 }) else { return false }
            bytes.write(head: 5, utf8.count)
            bytes.append(contentsOf: utf8)
            return true
        }
        if !isPlain {
            bytes.write(head: 6, text.utf16.count)
            for unit in text.utf16 { bytes.write(UInt64(unit), 2) }
        }
        return enter(start)
    }

    /// Enters what is not there by one search.
    private static func copy<Value>(_ entry: inout Value) -> Value { entry }

    private func finish(_ top: Int) -> Data {
        let referenceSize = entries.count < 0x100 ? 1 : entries.count < 0x1_0000 ? 2 : 4
        var result = Array("bplist00".utf8)
        result.reserveCapacity(bytes.count + places.count * referenceSize + entries.count * 16 + 64)
        var offsets: [Int] = []
        offsets.reserveCapacity(entries.count)
        for entry in entries {
            offsets.append(result.count)
            if entry.kind == .plain {
                bytes.withUnsafeBufferPointer { result.append(contentsOf: $0[entry.range]) }
            } else {
                let count = entry.kind == .dictionary ? entry.range.count / 2 : entry.range.count
                result.write(head: entry.kind.rawValue, count)
                for place in places[entry.range] { result.write(UInt64(place), referenceSize) }
            }
        }
        let table = result.count
        let offsetSize = table < 0x100 ? 1 : table < 0x1_0000 ? 2 : table < 0x1_0000_0000 ? 4 : 8
        for offset in offsets { result.write(UInt64(offset), offsetSize) }
        result += [0, 0, 0, 0, 0, 0, UInt8(offsetSize), UInt8(referenceSize)]
        for number in [entries.count, top, table] { result.write(UInt64(number), 8) }
        return Data(result)
    }
}

extension [UInt8] {
    /// The lowest bytes of a number, the highest of them first.
    fileprivate mutating func write(_ number: UInt64, _ size: Int) {
        var shift = UInt64(8 * size)
        while shift > 0 {
            shift -= 8
            append(UInt8(truncatingIfNeeded: number >> shift))
        }
    }

    fileprivate mutating func write(integer number: Int64) {
        let bits = UInt64(bitPattern: number)
        let power: UInt8 = bits < 0x100 ? 0 : bits < 0x1_0000 ? 1 : bits < 0x1_0000_0000 ? 2 : 3
        append(0x10 | power)
        write(bits, 1 << power)
    }

    /// What a thing of a kind begins with.
    fileprivate mutating func write(head kind: UInt8, _ length: Int) {
        append(kind << 4 | UInt8(Swift.min(length, 15)))
        if length >= 15 { write(integer: Int64(length)) }
    }
}
