// Between the values that programs hold as `Any` and the values of the schema. The one place where they meet.

import CoreDataValues
import Foundation

/// A value that an attribute cannot hold.
package struct ValueMismatch: Error, Sendable, CustomStringConvertible {
    package let sentence: String
    package let entity: String
    package let property: String
    package var description: String { sentence }
}

/// The value of an attribute, from whatever a program gives for it.
///
/// Integers of all widths, `NSNumber`, `Bool`, `Float`, `CGFloat`, `Decimal` and `NSDecimalNumber` count as
/// numbers; a number must be in the type's range and whole for an integer type. `NSString`, `NSDate`,
/// `NSData`, `NSUUID` and `NSURL` count as their Swift counterparts. Texts are never parsed.
///
/// - Throws: `ValueMismatch`, which names the entity, the property, the type wanted and the type given.
package func value(
    _ any: Any?, as type: CoreDataValues.AttributeType, entity: String, property: String
) throws(ValueMismatch) -> Value {
    guard let any else { return .null }
    let request = ValueRequest(type: type, entity: entity, property: property)
    return try request.convert(any)
}

/// What a value is wanted for.
private struct ValueRequest {
    let type: CoreDataValues.AttributeType
    let entity: String
    let property: String

    func convert(_ any: Any) throws(ValueMismatch) -> Value {
        switch type {
        case .integer16: try integer(any, in: Int64(Int16.min)...Int64(Int16.max))
        case .integer32: try integer(any, in: Int64(Int32.min)...Int64(Int32.max))
        case .integer64: try integer(any, in: Int64.min...Int64.max)
        case .boolean: try boolean(any)
        case .double: .double(try number(any).double)
        case .float: .double(Double(Float(try number(any).double)))
        case .decimal: .decimal(try number(any).decimal)
        case .string: .text(try cast(any))
        case .date: .date(try cast(any, to: Date.self).timeIntervalSinceReferenceDate)
        case .binary: .data(try cast(any))
        case .uuid: .uuid(try cast(any))
        case .uri: .uri(try cast(any, to: URL.self).absoluteString)
        case .undefined: try natural(any)
        case .transformable, .objectID, .composite:
            throw mismatch(
                Sentences.unsupportedType(entity: entity, property: property, type: type.modelName))
        }
    }

    private func number(_ any: Any) throws(ValueMismatch) -> AnyNumber {
        guard let number = AnyNumber(any) else { throw wrongType(any) }
        return number
    }

    private func integer(_ any: Any, in range: ClosedRange<Int64>) throws(ValueMismatch) -> Value {
        let number = try number(any)
        guard let whole = number.whole else {
            throw unfit(any, "Give a whole number from \(range.lowerBound) to \(range.upperBound).")
        }
        guard range.contains(whole) else {
            throw unfit(
                any, "Give a number from \(range.lowerBound) to \(range.upperBound), or widen the type.")
        }
        return .int(whole)
    }

    private func boolean(_ any: Any) throws(ValueMismatch) -> Value {
        switch try number(any).whole {
        case 0: return .bool(false)
        case 1: return .bool(true)
        case .some, .none: throw unfit(any, "Give true or false, 1 or 0.")
        }
    }

    private func cast<T>(_ any: Any, to: T.Type = T.self) throws(ValueMismatch) -> T {
        guard let value = any as? T else { throw wrongType(any) }
        return value
    }

    /// An attribute without a type takes what has a value of its own.
    private func natural(_ any: Any) throws(ValueMismatch) -> Value {
        if let number = AnyNumber(any) { return number.value }
        if let text = any as? String { return .text(text) }
        if let date = any as? Date { return .date(date.timeIntervalSinceReferenceDate) }
        if let data = any as? Data { return .data(data) }
        if let uuid = any as? UUID { return .uuid(uuid) }
        if let url = any as? URL { return .uri(url.absoluteString) }
        throw wrongType(any)
    }

    private func wrongType(_ any: Any) -> ValueMismatch {
        mismatch(
            Sentences.wrongType(
                entity: entity, property: property, expected: type.modelName,
                given: String(describing: Swift.type(of: any))))
    }

    private func unfit(_ any: Any, _ cure: String) -> ValueMismatch {
        mismatch(
            Sentences.unfit(
                entity: entity, property: property, value: String(describing: any), type: type.modelName,
                cure: cure))
    }

    private func mismatch(_ sentence: String) -> ValueMismatch {
        ValueMismatch(sentence: sentence, entity: entity, property: property)
    }
}

extension Value {
    /// The value as programs see it: numbers as `NSNumber`, so that `as? Int`, `as? Int16` and `as? Bool` all
    /// answer; decimals as `NSDecimalNumber`. nil for null, for a text that is no URL, and for keys, which
    /// name objects.
    package var object: Any? {
        switch self {
        case .null, .key: nil
        case .bool(let flag): NSNumber(value: flag)
        case .int(let number): NSNumber(value: number)
        case .double(let number): NSNumber(value: number)
        case .decimal(let number): NSDecimalNumber(decimal: number)
        case .text(let text): text
        case .date(let seconds): Date(timeIntervalSinceReferenceDate: seconds)
        case .data(let data): data
        case .uuid(let uuid): uuid
        case .uri(let text): URL(string: text)
        }
    }
}
