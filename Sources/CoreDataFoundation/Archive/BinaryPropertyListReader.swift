// Binary property lists, as far as keyed archives use them. Foundation's reader does not give the references away.

import Foundation

/// Reads one property list. No data can make it trap or loop: every offset is checked, and things that hold themselves end at
/// the depth allowed.
struct BinaryPropertyListReader {
    private let bytes: [UInt8]
    private let offsetSize: Int
    private let referenceSize: Int
    private let count: Int
    private let top: Int
    private let table: Int
    private var known: [Int: ArchiveNode] = [:]
    /// How much may still be read: things that many others share are counted for each of them.
    private var budget = 4_000_000

    init(_ data: Data) throws(ArchiveError) {
        bytes = Array(data)
        guard bytes.count >= 40, bytes.starts(with: Array("bplist0".utf8)) else {
            throw ArchiveError("The data is no keyed archive.")
        }
        let trailer = bytes.count - 32
        offsetSize = Int(bytes[trailer + 6])
        referenceSize = Int(bytes[trailer + 7])
        guard (1...8).contains(offsetSize), (1...8).contains(referenceSize),
            let count = BinaryPropertyListReader.number(bytes, trailer + 8, 8),
            let top = BinaryPropertyListReader.number(bytes, trailer + 16, 8),
            let table = BinaryPropertyListReader.number(bytes, trailer + 24, 8),
            count <= bytes.count, top < count, table <= trailer, count * offsetSize <= trailer - table
        else { throw ArchiveError("The data is no keyed archive: its trailer is damaged.") }
        self.count = count
        self.top = top
        self.table = table
    }

    mutating func root() throws(ArchiveError) -> ArchiveNode { try node(top, depth: 0) }

    private static func number(_ bytes: [UInt8], _ start: Int, _ size: Int) -> Int? {
        guard start >= 0, size <= bytes.count, start <= bytes.count - size else { return nil }
        var result: UInt64 = 0
        for byte in bytes[start..<start + size] { result = result << 8 | UInt64(byte) }
        return Int(exactly: result)
    }

    private var damaged: ArchiveError { ArchiveError("The archive is damaged.") }

    private func read(_ start: Int, _ size: Int) throws(ArchiveError) -> Int {
        guard let number = Self.number(bytes, start, size) else { throw damaged }
        return number
    }

    private func slice(_ start: Int, _ length: Int) throws(ArchiveError) -> ArraySlice<UInt8> {
        guard length >= 0, start <= bytes.count, length <= bytes.count - start else { throw damaged }
        return bytes[start..<start + length]
    }

    private mutating func node(_ index: Int, depth: Int) throws(ArchiveError) -> ArchiveNode {
        guard index < count, depth <= 16 else { throw damaged }
        if let node = known[index] { return node }
        let start = try read(table + index * offsetSize, offsetSize)
        guard start < bytes.count else { throw damaged }
        let node = try node(at: start, depth: depth)
        known[index] = node
        return node
    }

    private mutating func node(at start: Int, depth: Int) throws(ArchiveError) -> ArchiveNode {
        let marker = bytes[start]
        let low = Int(marker & 15)
        switch marker >> 4 {
        case 0: return try simple(low)
        case 1: return try integer(start + 1, 1 << low)
        case 2: return .real(try real(start + 1, 1 << low))
        case 3: return .date(try real(start + 1, 8))
        case 8: return .reference(try read(start + 1, low + 1))
        default: break
        }
        let (length, body) = try length(start, low)
        switch marker >> 4 {
        case 4: return .data(Data(try slice(body, length)))
        case 5: return .text(String(decoding: try slice(body, length), as: UTF8.self))
        case 6: return .text(try wide(body, length))
        case 10, 12: return .array(try nodes(body, length, depth: depth))
        case 13:
            let keys = try nodes(body, length, depth: depth)
            let values = try nodes(body + length * referenceSize, length, depth: depth)
            var entries: [String: ArchiveNode] = [:]
            for (key, value) in zip(keys, values) {
                guard case .text(let name) = key else { throw damaged }
                entries[name] = value
            }
            return .dictionary(entries)
        default: throw damaged
        }
    }

    private func simple(_ low: Int) throws(ArchiveError) -> ArchiveNode {
        switch low {
        case 0: return .null
        case 8: return .bool(false)
        case 9: return .bool(true)
        default: throw damaged
        }
    }

    private func integer(_ start: Int, _ size: Int) throws(ArchiveError) -> ArchiveNode {
        guard size <= 16 else { throw damaged }
        let digits = try slice(start, size)
        guard digits.dropLast(8).allSatisfy({ $0 == 0 }) else { throw damaged }
        let bits = digits.suffix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        // Eight bytes are signed, sixteen hold what is beyond.
        if size == 16, bits > UInt64(Int64.max) { return .large(bits) }
        return .integer(Int64(bitPattern: bits))
    }

    private func real(_ start: Int, _ size: Int) throws(ArchiveError) -> Double {
        let bits = try slice(start, size).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        switch size {
        case 4: return Double(Float(bitPattern: UInt32(truncatingIfNeeded: bits)))
        case 8: return Double(bitPattern: bits)
        default: throw damaged
        }
    }

    private func length(_ start: Int, _ low: Int) throws(ArchiveError) -> (length: Int, body: Int) {
        guard low == 15 else { return (low, start + 1) }
        let marker = try read(start + 1, 1)
        guard marker >> 4 == 1, marker & 15 <= 3 else { throw damaged }
        let size = 1 << (marker & 15)
        let length = try read(start + 2, size)
        guard length <= bytes.count else { throw damaged }
        return (length, start + 2 + size)
    }

    private func wide(_ start: Int, _ length: Int) throws(ArchiveError) -> String {
        let units = Array(try slice(start, 2 * length))
        return String(
            decoding: stride(from: 0, to: units.count, by: 2).map { UInt16(units[$0]) << 8 | UInt16(units[$0 + 1]) },
            as: UTF16.self)
    }

    private mutating func nodes(_ start: Int, _ length: Int, depth: Int) throws(ArchiveError) -> [ArchiveNode] {
        _ = try slice(start, length * referenceSize)
        budget -= length
        guard budget > 0 else { throw ArchiveError("The archive holds too many things.") }
        var nodes: [ArchiveNode] = []
        nodes.reserveCapacity(length)
        for place in 0..<length {
            nodes.append(try node(try read(start + place * referenceSize, referenceSize), depth: depth + 1))
        }
        return nodes
    }
}
