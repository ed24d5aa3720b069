// Bytes as they are read.

import CoreDataValues
import Foundation

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
