// Binary property lists, those with references between objects included, which Foundation's reader does not give away.

import Foundation

/// Reads the table of objects from front to back, each object once, whether the list holds it or not. Sets and nulls, which no writer
/// puts into a list, are taken for damage.
struct BinaryPropertyListReader {
    private let bytes: [UInt8]
    private let offsetSize: Int
    private let referenceSize: Int
    private let count: Int
    private let table: Int
    let top: Int
    private(set) var nodes: [PropertyList.Node] = []
    private(set) var parts: [Int32] = []
    /// How many bytes may still be read: no byte belongs to two objects.
    private var rest: Int

    init(_ bytes: [UInt8], _ limits: ArchiveLimits) throws(ArchiveError) {
        self.bytes = bytes
        rest = bytes.count
        let trailer = bytes.count - 32
        guard trailer >= 8 else { throw ArchiveError("It is cut short.") }
        offsetSize = Int(bytes[trailer + 6])
        referenceSize = Int(bytes[trailer + 7])
        guard (1...8).contains(offsetSize), (1...8).contains(referenceSize),
            let count = Self.number(bytes, trailer + 8, 8),
            let top = Self.number(bytes, trailer + 16, 8),
            let table = Self.number(bytes, trailer + 24, 8),
            count <= bytes.count, count <= Int(Int32.max), top < count, table <= trailer,
            count * offsetSize <= trailer - table
        else { throw ArchiveError("Its trailer is damaged.") }
        try limits.check(nodes: count)
        self.count = count
        self.top = top
        self.table = table
    }

    mutating func read() throws(ArchiveError) {
        nodes.reserveCapacity(count)
        for index in 0..<count {
            let start = try number(table + index * offsetSize, offsetSize)
            guard start < bytes.count else { throw damaged }
            nodes.append(try node(at: start))
        }
        try requireKeys()
    }

    /// Keys are texts, and may come later than what they are keys of.
    private func requireKeys() throws(ArchiveError) {
        for node in nodes {
            guard case .dictionary(let first, let count) = node else { continue }
            for key in parts[first..<first + count] {
                guard case .text = nodes[Int(key)] else { throw ArchiveError("A key of a dictionary is no text.") }
            }
        }
    }

    private var damaged: ArchiveError { ArchiveError("It is damaged.") }

    // MARK: Bytes

    private static func number(_ bytes: [UInt8], _ start: Int, _ size: Int) -> Int? {
        guard start >= 0, size <= bytes.count, start <= bytes.count - size else { return nil }
        var result: UInt64 = 0
        for place in start..<start + size { result = result << 8 | UInt64(bytes[place]) }
        return Int(exactly: result)
    }

    private func number(_ start: Int, _ size: Int) throws(ArchiveError) -> Int {
        guard let number = Self.number(bytes, start, size) else { throw damaged }
        return number
    }

    /// The bytes of one object, taken from those that are left.
    private mutating func slice(_ start: Int, _ length: Int) throws(ArchiveError) -> ArraySlice<UInt8> {
        guard length >= 0, start <= bytes.count, length <= bytes.count - start else { throw damaged }
        rest -= length
        guard rest >= 0 else { throw ArchiveError("It is damaged: its objects overlap.") }
        return bytes[start..<start + length]
    }

    // MARK: Objects

    private mutating func node(at start: Int) throws(ArchiveError) -> PropertyList.Node {
        let marker = bytes[start]
        let low = Int(marker & 15)
        switch marker >> 4 {
        case 0: return try simple(low)
        case 1: return try integer(start + 1, 1 << low)
        case 2: return .real(try real(start + 1, 1 << low))
        case 3: return .date(try real(start + 1, 8))
        case 8: return .reference(try number(start + 1, low + 1))
        default: break
        }
        let (length, body) = try length(start, low)
        switch marker >> 4 {
        case 4: return .data(Data(try slice(body, length)))
        case 5: return .text(String(decoding: try slice(body, length), as: UTF8.self))
        case 6: return .text(try wide(body, length))
        case 10: return .array(first: try references(body, length), count: length)
        case 13: return .dictionary(first: try references(body, 2 * length), count: length)
        default: throw damaged
        }
    }

    private func simple(_ low: Int) throws(ArchiveError) -> PropertyList.Node {
        switch low {
        case 8: return .bool(false)
        case 9: return .bool(true)
        default: throw damaged
        }
    }

    private mutating func integer(_ start: Int, _ size: Int) throws(ArchiveError) -> PropertyList.Node {
        guard size <= 16 else { throw damaged }
        let digits = try slice(start, size)
        guard digits.dropLast(8).allSatisfy({ $0 == 0 }) else { throw damaged }
        let bits = digits.suffix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        // Eight bytes are signed, sixteen hold what is beyond.
        if size == 16, bits > UInt64(Int64.max) { return .large(bits) }
        return .integer(Int64(bitPattern: bits))
    }

    private mutating func real(_ start: Int, _ size: Int) throws(ArchiveError) -> Double {
        guard size == 4 || size == 8 else { throw damaged }
        let bits = try slice(start, size).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return size == 4 ? Double(Float(bitPattern: UInt32(truncatingIfNeeded: bits))) : Double(bitPattern: bits)
    }

    private func length(_ start: Int, _ low: Int) throws(ArchiveError) -> (length: Int, body: Int) {
        guard low == 15 else { return (low, start + 1) }
        let marker = try number(start + 1, 1)
        guard marker >> 4 == 1, marker & 15 <= 3 else { throw damaged }
        let size = 1 << (marker & 15)
        let length = try number(start + 2, size)
        guard length <= bytes.count else { throw damaged }
        return (length, start + 2 + size)
    }

    private mutating func wide(_ start: Int, _ length: Int) throws(ArchiveError) -> String {
        let units = Array(try slice(start, 2 * length))
        let codes = stride(from: 0, to: units.count, by: 2).map { place -> UInt16 in
            UInt16(units[place]) << 8 | UInt16(units[place + 1])
        }
        return String(decoding: codes, as: UTF16.self)
    }

    /// Lists the parts of a container; answers where they begin.
    private mutating func references(_ start: Int, _ length: Int) throws(ArchiveError) -> Int {
        _ = try slice(start, length * referenceSize)
        let first = parts.count
        for place in 0..<length {
            let part = try number(start + place * referenceSize, referenceSize)
            guard part < count else { throw damaged }
            parts.append(Int32(part))
        }
        return first
    }
}
