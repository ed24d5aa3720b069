// Lists of values that JSON has no form for: reals as they are stored, blobs, texts with a NUL.

import CoreDataValues
import Foundation

/// A value as an element of a JSON list: a letter for its kind, then a number, the bits of a real, or bytes in hexadecimal digits.
enum ListedValue {
    private static let digits = Array("0123456789abcdef".utf8)

    static func json(_ values: [Value]) -> String {
        var bytes: [UInt8] = [UInt8(ascii: "[")]
        for value in values {
            if bytes.count > 1 { bytes.append(UInt8(ascii: ",")) }
            bytes.append(UInt8(ascii: "\""))
            append(value, to: &bytes)
            bytes.append(UInt8(ascii: "\""))
        }
        bytes.append(UInt8(ascii: "]"))
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func append(_ value: Value, to bytes: inout [UInt8]) {
        switch value {
        case .null: bytes.append(UInt8(ascii: "n"))
        case .bool(let flag): bytes += (flag ? "i1" : "i0").utf8
        case .int(let number): bytes += "i\(number)".utf8
        case .key(let key): bytes += "i\(key.number)".utf8
        case .double(let number), .date(let number): bytes += "r\(number.bitPattern)".utf8
        case .decimal(let number): bytes += "r\((Double(number.description) ?? .nan).bitPattern)".utf8
        case .text(let text), .uri(let text): append("t", text.utf8, to: &bytes)
        case .data(let data): append("b", data, to: &bytes)
        case .uuid(let uuid): withUnsafeBytes(of: uuid.uuid) { append("b", $0, to: &bytes) }
        }
    }

    private static func append(_ kind: String, _ content: some Sequence<UInt8>, to bytes: inout [UInt8]) {
        bytes += kind.utf8
        for byte in content {
            bytes.append(digits[Int(byte >> 4)])
            bytes.append(digits[Int(byte & 15)])
        }
    }

    /// Null for what is no element of such a list.
    static func value(_ bytes: UnsafeBufferPointer<UInt8>) -> Value {
        guard let kind = bytes.first else { return .null }
        let rest = bytes.dropFirst()
        switch kind {
        case UInt8(ascii: "i"): return Int64(String(decoding: rest, as: UTF8.self)).map { .int($0) } ?? .null
        case UInt8(ascii: "r"):
            return UInt64(String(decoding: rest, as: UTF8.self)).map { .double(Double(bitPattern: $0)) } ?? .null
        case UInt8(ascii: "t"): return .text(String(decoding: content(rest), as: UTF8.self))
        case UInt8(ascii: "b"): return .data(Data(content(rest)))
        default: return .null
        }
    }

    private static func content(_ digits: Slice<UnsafeBufferPointer<UInt8>>) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(digits.count / 2)
        var high: UInt8?
        for digit in digits {
            let half = digit < UInt8(ascii: "a") ? digit &- UInt8(ascii: "0") : digit &- UInt8(ascii: "a") &+ 10
            if let first = high {
                bytes.append(first << 4 | half & 15)
                high = nil
            } else {
                high = half & 15
            }
        }
        return bytes
    }
}
