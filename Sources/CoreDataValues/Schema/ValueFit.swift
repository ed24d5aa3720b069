// Which values an attribute type takes, and how values compare as bounds.

import Foundation

extension AttributeType {
    /// Whether a value can be a default of this type. Null fits every type.
    package func accepts(_ value: Value) -> Bool {
        if value.isNull { return true }
        switch self {
        case .integer16: if case .int(let number) = value { return Int16(exactly: number) != nil }
        case .integer32: if case .int(let number) = value { return Int32(exactly: number) != nil }
        case .integer64: if case .int = value { return true }
        case .decimal: if case .decimal(let number) = value { return !number.isNaN }
        case .double, .float: if case .double(let number) = value { return !number.isNaN }
        case .string: if case .text = value { return true }
        case .boolean: if case .bool = value { return true }
        case .date: if case .date(let seconds) = value { return seconds.isFinite }
        case .binary: if case .data = value { return true }
        case .transformable:
            switch value {
            case .data, .text: return true
            case .null, .bool, .int, .double, .decimal, .date, .uuid, .uri, .key: return false
            }
        case .uuid: if case .uuid = value { return true }
        case .uri: if case .uri = value { return true }
        case .undefined: if case .key = value { return false } else { return true }
        case .objectID, .composite: return false
        }
        return false
    }

    /// The whole numbers of a type that has fewer than 64 bits for them.
    package var narrowRange: ClosedRange<Int64>? {
        switch self {
        case .integer16: Int64(Int16.min)...Int64(Int16.max)
        case .integer32: Int64(Int32.min)...Int64(Int32.max)
        case .integer64, .decimal, .double, .float, .string, .boolean, .date, .binary, .transformable, .uuid, .uri,
            .undefined, .objectID,
            .composite:
            nil
        }
    }

    /// Whether a value can bound values of this type.
    func canBound(with value: Value) -> Bool {
        switch self {
        case .integer16, .integer32, .integer64, .decimal, .double, .float:
            return value.number.map { !$0.isNaN } ?? false
        case .date: if case .date(let seconds) = value { return seconds.isFinite } else { return false }
        case .undefined, .string, .boolean, .binary, .uuid, .uri, .transformable, .objectID, .composite:
            return false
        }
    }
}

extension Value {
    /// The value as a number, when it is one.
    var number: Double? {
        switch self {
        case .int(let number): Double(number)
        case .double(let number): number
        case .decimal(let number): number.nearestDouble
        case .null, .bool, .text, .date, .data, .uuid, .uri, .key: nil
        }
    }

    /// Whether this lies below another number or date; nil when the two do not compare.
    func precedes(_ other: Value) -> Bool? {
        if case .int(let a) = self, case .int(let b) = other { return a < b }
        if case .decimal(let a) = self, case .decimal(let b) = other { return a < b }
        if case .date(let a) = self, case .date(let b) = other { return a < b }
        guard let a = number, let b = other.number else { return nil }
        return a < b
    }

    /// The value as a message shows it.
    package var shown: String {
        switch self {
        case .null: "nil"
        case .bool(let value): value ? "YES" : "NO"
        case .int(let number): "\(number)"
        case .double(let number): "\(number)"
        case .decimal(let number): "\(number)"
        case .text(let text): "“\(SchemaCheck.shown(text))”"
        case .date(let seconds): "\(seconds) seconds since 2001"
        case .data(let data): "\(data.count) bytes"
        case .uuid(let uuid): uuid.uuidString
        case .uri(let text): "<\(SchemaCheck.shown(text))>"
        case .key: "an object"
        }
    }
}
