// A number of any type, taken out of `Any` without loss.

import CoreDataValues
import Foundation

/// One number as a program gave it.
enum AnyNumber {
    case flag(Bool)
    case integer(Int64)
    /// Beyond `Int64.max`.
    case large(UInt64)
    case real(Double)
    case decimal(Decimal)

    /// nil when the value is no number. Texts are none.
    init?(_ any: Any) {
        // NSNumber first: casts to Swift types would see a 1 as `true`.
        if any is AnyObject.Type { return nil }
        if Swift.type(of: any) is AnyClass {
            guard let number = any as? NSNumber else { return nil }
            self.init(number)
        } else if let flag = any as? Bool {
            self = .flag(flag)
        } else if let integer = any as? any FixedWidthInteger {
            if let small = Int64(exactly: integer) {
                self = .integer(small)
            } else if let large = UInt64(exactly: integer) {
                self = .large(large)
            } else {
                return nil
            }
        } else if let real = any as? any BinaryFloatingPoint {
            self = .real(Double(real))
        } else if let decimal = any as? Decimal {
            self = .decimal(decimal)
        } else {
            return nil
        }
    }

    /// A date counts as its seconds since 2001. nil for what is no number.
    init?(_ value: Value) {
        switch value {
        case .bool(let flag): self = .flag(flag)
        case .int(let number): self = .integer(number)
        case .double(let number), .date(let number): self = .real(number)
        case .decimal(let number): self = .decimal(number)
        case .null, .text, .data, .uuid, .uri, .key: return nil
        }
    }

    private init(_ number: NSNumber) {
        if let decimal = number as? NSDecimalNumber {
            self = .decimal(decimal.decimalValue)
            return
        }
        switch UInt8(bitPattern: number.objCType.pointee) {
        case UInt8(ascii: "f"), UInt8(ascii: "d"): self = .real(number.doubleValue)
        case UInt8(ascii: "Q") where number.uint64Value > UInt64(Int64.max): self = .large(number.uint64Value)
        default: self = .integer(number.int64Value)
        }
    }

    /// The number when it is whole and fits.
    var whole: Int64? {
        switch self {
        case .flag(let flag): flag ? 1 : 0
        case .integer(let number): number
        case .large: nil
        case .real(let number): Int64(exactly: number)
        case .decimal(let number): AnyNumber.whole(number)
        }
    }

    /// Without its fraction, as SQLite reads a number where a whole one is wanted; nil where it does not fit.
    var truncated: Int64? {
        switch self {
        case .flag, .integer, .large: whole
        case .real, .decimal: Int64(exactly: double.rounded(.towardZero))
        }
    }

    var double: Double {
        switch self {
        case .flag(let flag): flag ? 1 : 0
        case .integer(let number): Double(number)
        case .large(let number): Double(number)
        case .real(let number): number
        case .decimal(let number): number.nearestDouble
        }
    }

    var decimal: Decimal {
        switch self {
        case .flag(let flag): flag ? 1 : 0
        case .integer(let number): Decimal(number)
        case .large(let number): Decimal(number)
        // By its shortest text: 0.1 means 0.1, not the binary fraction nearest to it. What no decimal holds is none: validation
        // refuses it (1550), while `Decimal(_: Double)` would end the process.
        case .real(let number): Decimal(string: number.description) ?? .nan
        case .decimal(let number): number
        }
    }

    /// The number as a value of its own kind.
    var value: Value {
        switch self {
        case .flag(let flag): .bool(flag)
        case .integer(let number): .int(number)
        case .large(let number): .decimal(Decimal(number))
        case .real(let number): .double(number)
        case .decimal(let number): .decimal(number)
        }
    }

    /// By its text: conversions of `Decimal` to integers round.
    private static func whole(_ number: Decimal) -> Int64? { number.isNaN ? nil : Int64(number.description) }
}
