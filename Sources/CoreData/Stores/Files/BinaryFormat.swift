// The binary store's file: length-prefixed records and a checksum.

import CoreDataValues
import Foundation

/// See `Documentation/StoreFormat.md`. All numbers are little-endian.
enum BinaryFormat: StoreFormat {
    private static let magic = Data("OpenCoreData binary 1\n".utf8)
    private static let checksumSize = 8

    static func encode(_ document: StoredDocument) throws -> Data {
        var out = ByteWriter()
        out.bytes(magic)
        out.metadata(document.metadata)
        out.number(document.next.count)
        for (entity, number) in document.next {
            out.text(entity)
            out.number(number)
        }
        out.number(document.objects.count)
        for object in document.objects { out.object(object) }
        out.number(document.pairs.count)
        for pair in document.pairs { out.pair(pair) }
        out.number(checksum(out.data))
        return out.data
    }

    /// FNV-1a over words of eight bytes, then over the rest byte by byte.
    private static func checksum(_ data: Data) -> UInt64 {
        data.withUnsafeBytes { bytes in
            var sum: UInt64 = 0xcbf2_9ce4_8422_2325
            var place = 0
            while place + 8 <= bytes.count {
                sum =
                    (sum ^ UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self)))
                    &* 0x100_0000_01b3
                place += 8
            }
            while place < bytes.count {
                sum = (sum ^ UInt64(bytes[place])) &* 0x100_0000_01b3
                place += 1
            }
            return sum
        }
    }

    static func decode(_ data: Data, path: String) throws -> StoredDocument {
        guard data.count > magic.count + checksumSize, data.starts(with: magic) else {
            throw damaged(path, "it does not begin as one")
        }
        let content = data.prefix(data.count - checksumSize)
        var end = ByteReader(Data(data.suffix(checksumSize)))
        guard UInt64(bitPattern: try end.number()) == checksum(Data(content)) else {
            throw damaged(path, "its content does not have the checksum that was written with it")
        }
        var reader = ByteReader(Data(content.dropFirst(magic.count)))
        do throws(ByteReader.End) {
            var document = StoredDocument(metadata: try reader.metadata())
            for _ in 0..<(try reader.count()) { document.next.append((try reader.text(), try reader.number())) }
            for _ in 0..<(try reader.count()) { document.objects.append(try reader.object()) }
            for _ in 0..<(try reader.count()) { document.pairs.append(try reader.pair()) }
            return document
        } catch {
            throw damaged(path, "a record ends too early")
        }
    }
}

/// Bytes as they are written.
struct ByteWriter {
    private(set) var data = Data()

    mutating func bytes(_ bytes: Data) { data.append(bytes) }
    mutating func byte(_ byte: UInt8) { data.append(byte) }
    mutating func number(_ number: some FixedWidthInteger) {
        withUnsafeBytes(of: Int64(truncatingIfNeeded: number).littleEndian) { data.append(contentsOf: $0) }
    }
    mutating func block(_ block: Data) {
        number(block.count)
        data.append(block)
    }
    mutating func text(_ text: String) { block(Data(text.utf8)) }

    mutating func metadata(_ metadata: StoreMetadata) {
        text(metadata.uuid)
        text(metadata.type)
        number(metadata.modelVersionIdentifiers.count)
        for name in metadata.modelVersionIdentifiers { text(name) }
        number(metadata.versionHashes.count)
        for (name, hash) in metadata.versionHashes.sorted(by: { $0.key < $1.key }) {
            text(name)
            block(hash)
        }
        block(metadata.userInfo ?? Data())
    }

    mutating func object(_ object: StoredDocument.Object) {
        text(object.entity)
        number(object.number)
        number(object.version)
        number(object.values.count)
        for (name, content) in object.values {
            text(name)
            self.content(content)
        }
    }

    private mutating func content(_ content: StoredDocument.Content) {
        switch content {
        case .reference(let entity, let target):
            tag("r")
            text(entity)
            number(target)
        case .value(let value): self.value(value)
        }
    }

    private mutating func tag(_ letter: Unicode.Scalar) { byte(UInt8(truncatingIfNeeded: letter.value)) }

    private mutating func value(_ value: Value) {
        switch value {
        case .null, .key: tag("0")
        case .bool(let flag): tag(flag ? "T" : "F")
        case .int(let number):
            tag("i")
            self.number(number)
        case .double(let real):
            tag("d")
            number(Int64(bitPattern: real.bitPattern))
        case .date(let seconds):
            tag("t")
            number(Int64(bitPattern: seconds.bitPattern))
        case .decimal(let decimal):
            tag("n")
            text(decimal.description)
        case .text(let text):
            tag("s")
            self.text(text)
        case .uri(let text):
            tag("u")
            self.text(text)
        case .data(let data):
            tag("b")
            block(data)
        case .uuid(let uuid):
            tag("g")
            text(uuid.uuidString)
        }
    }

    mutating func pair(_ pair: StoredDocument.Pair) {
        text(pair.kind.rawValue)
        text(pair.entity)
        text(pair.relationship)
        number(pair.owner)
        number(pair.member)
        number(pair.place)
    }
}

/// Bytes as they are read. Every read may end too early.
struct ByteReader {
    struct End: Error {}
    private let data: Data
    private var place = 0

    init(_ data: Data) { self.data = data }

    private mutating func consume(_ count: Int) throws(End) -> Data {
        guard count >= 0, count <= data.count - place else { throw End() }
        defer { place += count }
        return data[(data.startIndex + place)..<(data.startIndex + place + count)]
    }

    mutating func number() throws(End) -> Int64 {
        Int64(littleEndian: try consume(8).withUnsafeBytes { $0.loadUnaligned(as: Int64.self) })
    }

    /// A number of records; each takes at least a byte.
    mutating func count() throws(End) -> Int {
        guard let count = Int(exactly: try number()), count >= 0, count <= data.count - place else { throw End() }
        return count
    }

    mutating func block() throws(End) -> Data { Data(try consume(try count())) }
    mutating func text() throws(End) -> String { String(decoding: try consume(try count()), as: UTF8.self) }

    mutating func metadata() throws(End) -> StoreMetadata {
        let (uuid, type) = (try text(), try text())
        var names: [String] = []
        for _ in 0..<(try count()) { names.append(try text()) }
        var hashes: [String: Data] = [:]
        for _ in 0..<(try count()) {
            let name = try text()
            hashes[name] = try block()
        }
        let info = try block()
        return StoreMetadata(
            uuid: uuid, type: type, modelVersionIdentifiers: names, versionHashes: hashes,
            userInfo: info.isEmpty ? nil : info)
    }

    mutating func object() throws(End) -> StoredDocument.Object {
        var object = StoredDocument.Object(
            entity: try text(), number: try number(), version: Int32(truncatingIfNeeded: try number()))
        for _ in 0..<(try count()) { object.values.append((try text(), try content())) }
        return object
    }

    private mutating func content() throws(End) -> StoredDocument.Content {
        switch Unicode.Scalar(try consume(1).first ?? 0) {
        case "r": return .reference(entity: try text(), number: try number())
        case "0": return .value(.null)
        case "T": return .value(.bool(true))
        case "F": return .value(.bool(false))
        case "i": return .value(.int(try number()))
        case "d": return .value(.double(try real()))
        case "t": return .value(.date(try real()))
        case "n": return .value(.decimal(try parsed { Decimal(string: $0, locale: Locale(identifier: "en_US_POSIX")) }))
        case "s": return .value(.text(try text()))
        case "u": return .value(.uri(try text()))
        case "b": return .value(.data(try block()))
        case "g": return .value(.uuid(try parsed { UUID(uuidString: $0) }))
        default: throw End()
        }
    }

    private mutating func real() throws(End) -> Double { Double(bitPattern: UInt64(bitPattern: try number())) }

    private mutating func parsed<T>(_ parse: (String) -> T?) throws(End) -> T {
        guard let value = parse(try text()) else { throw End() }
        return value
    }

    mutating func pair() throws(End) -> StoredDocument.Pair {
        guard let kind = StoredDocument.Pair.Kind(rawValue: try text()) else { throw End() }
        return StoredDocument.Pair(
            kind: kind, entity: try text(), relationship: try text(), owner: try number(), member: try number(),
            place: Int(truncatingIfNeeded: try number()))
    }
}
