// Data that was compressed with DEFLATE (RFC 1951), without a header.

import Foundation

/// Inflates what Core Data keeps of a model beside the rows, and writes data so that others can inflate it.
package enum Deflate {
    /// - Parameter limit: the most bytes that the data may become.
    /// - Throws: for data that is damaged or becomes more.
    package static func inflated(_ data: Data, limit: Int) throws(ArchiveError) -> Data {
        var reader = Inflater(data, limit)
        return Data(try reader.run())
    }

    /// The data in blocks that are stored as they are: as long as the data, and read by every inflater.
    package static func stored(_ data: Data) -> Data {
        let bytes = Array(data)
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count + 5 * (bytes.count / 0xffff + 1))
        var start = 0
        repeat {
            let end = min(start + 0xffff, bytes.count)
            let count = UInt16(end - start)
            result.append(end == bytes.count ? 1 : 0)
            for word in [count, ~count] { result += [UInt8(truncatingIfNeeded: word), UInt8(word >> 8)] }
            result += bytes[start..<end]
            start = end
        } while start < bytes.count
        return Data(result)
    }
}

/// Reads one stream bit by bit. A value used once.
private struct Inflater {
    private let input: [UInt8]
    private let limit: Int
    private var place = 0
    private var bits: UInt32 = 0
    private var bitCount: UInt32 = 0
    private var output: [UInt8] = []

    init(_ data: Data, _ limit: Int) {
        input = Array(data)
        self.limit = limit
    }

    private static let damaged = ArchiveError("The compressed data is damaged.")

    mutating func run() throws(ArchiveError) -> [UInt8] {
        var isLast = false
        while !isLast {
            isLast = try readBits(1) == 1
            switch try readBits(2) {
            case 0: try copyStored()
            case 1: try decode(Self.fixedLengths, Self.fixedDistances)
            case 2:
                let (lengths, distances) = try tables()
                try decode(lengths, distances)
            default: throw Self.damaged
            }
        }
        return output
    }

    private mutating func readBits(_ count: UInt32) throws(ArchiveError) -> Int {
        while bitCount < count {
            guard place < input.count else { throw Self.damaged }
            bits |= UInt32(input[place]) << bitCount
            place += 1
            bitCount += 8
        }
        defer {
            bits = count == 32 ? 0 : bits >> count
            bitCount -= count
        }
        return Int(bits & ((1 << count) - 1))
    }

    private func room(for count: Int) throws(ArchiveError) {
        guard output.count + count <= limit else {
            throw ArchiveError("The compressed data becomes more than \(limit) bytes.")
        }
    }

    private mutating func copyStored() throws(ArchiveError) {
        (bits, bitCount) = (0, 0)
        guard place + 4 <= input.count else { throw Self.damaged }
        let count = Int(input[place]) | Int(input[place + 1]) << 8
        place += 4
        guard place + count <= input.count else { throw Self.damaged }
        try room(for: count)
        output += input[place..<place + count]
        place += count
    }

    // MARK: Codes

    /// Codes by their lengths: how many of each length there are, and the symbols in the order of their codes.
    private struct Codes {
        var counts = [Int](repeating: 0, count: 16)
        var symbols: [Int] = []

        init(_ lengths: [Int]) {
            for length in lengths { counts[length] += 1 }
            counts[0] = 0
            symbols = lengths.indices.filter { lengths[$0] > 0 }.sorted { (lengths[$0], $0) < (lengths[$1], $1) }
        }
    }

    private static let fixedLengths = Codes((0..<288).map { $0 < 144 ? 8 : $0 < 256 ? 9 : $0 < 280 ? 7 : 8 })
    private static let fixedDistances = Codes([Int](repeating: 5, count: 30))
    private static let order = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15]
    private static let lengthBases = [
        3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227,
        258,
    ]
    private static let lengthBits: [UInt32] = [
        0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0,
    ]
    private static let distanceBases = [
        1, 2, 3, 4, 5, 7, 9, 13, 17, 25, 33, 49, 65, 97, 129, 193, 257, 385, 513, 769, 1025, 1537, 2049, 3073, 4097,
        6145, 8193, 12289, 16385,
        24577,
    ]

    private mutating func symbol(_ codes: Codes) throws(ArchiveError) -> Int {
        var (code, first, index) = (0, 0, 0)
        for length in 1...15 {
            code |= try readBits(1)
            let count = codes.counts[length]
            if code - count < first {
                let place = index + code - first
                guard codes.symbols.indices.contains(place) else { throw Self.damaged }
                return codes.symbols[place]
            }
            index += count
            first = (first + count) << 1
            code <<= 1
        }
        throw Self.damaged
    }

    private mutating func tables() throws(ArchiveError) -> (Codes, Codes) {
        let lengthCount = try readBits(5) + 257
        let distanceCount = try readBits(5) + 1
        let codeCount = try readBits(4) + 4
        var codeLengths = [Int](repeating: 0, count: 19)
        for index in 0..<codeCount { codeLengths[Self.order[index]] = try readBits(3) }
        let codes = Codes(codeLengths)
        var lengths: [Int] = []
        while lengths.count < lengthCount + distanceCount {
            let symbol = try symbol(codes)
            switch symbol {
            case 16:
                guard let last = lengths.last else { throw Self.damaged }
                lengths += [Int](repeating: last, count: try readBits(2) + 3)
            case 17: lengths += [Int](repeating: 0, count: try readBits(3) + 3)
            case 18: lengths += [Int](repeating: 0, count: try readBits(7) + 11)
            default: lengths.append(symbol)
            }
        }
        guard lengths.count == lengthCount + distanceCount else { throw Self.damaged }
        return (Codes(Array(lengths[..<lengthCount])), Codes(Array(lengths[lengthCount...])))
    }

    private mutating func decode(_ lengths: Codes, _ distances: Codes) throws(ArchiveError) {
        while true {
            let symbol = try symbol(lengths)
            if symbol < 256 {
                try room(for: 1)
                output.append(UInt8(symbol))
                continue
            }
            if symbol == 256 { return }
            guard symbol - 257 < Self.lengthBases.count else { throw Self.damaged }
            let length = Self.lengthBases[symbol - 257] + (try readBits(Self.lengthBits[symbol - 257]))
            let far = try self.symbol(distances)
            guard far < Self.distanceBases.count else { throw Self.damaged }
            let distance = Self.distanceBases[far] + (try readBits(far < 4 ? 0 : UInt32(far / 2 - 1)))
            guard distance <= output.count else { throw Self.damaged }
            try room(for: length)
            for _ in 0..<length { output.append(output[output.count - distance]) }
        }
    }
}
