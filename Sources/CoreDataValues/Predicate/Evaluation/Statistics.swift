// Median, mode and deviation; casts; indexed access.

import Foundation

/// Numbers about numbers; null of none.
enum Statistics {
    static func median(_ values: [Operand]) -> Operand {
        let numbers = values.compactMap(\.number).map(\.double).sorted()
        guard !numbers.isEmpty else { return .null }
        let middle = numbers.count / 2
        return .value(.double(numbers.count % 2 == 1 ? numbers[middle] : (numbers[middle - 1] + numbers[middle]) / 2))
    }

    /// The most frequent numbers, ascending.
    static func mode(_ values: [Operand]) -> Operand {
        var counts: [Double: Int] = [:]
        for number in values.compactMap(\.number) { counts[number.double, default: 0] += 1 }
        let most = counts.values.max() ?? 0
        return .collection(counts.filter { $0.value == most }.keys.sorted().map { .value(.double($0)) })
    }

    /// Of the whole population.
    static func deviation(_ values: [Operand]) -> Operand {
        let numbers = values.compactMap(\.number).map(\.double)
        guard !numbers.isEmpty else { return .null }
        let mean = numbers.reduce(0, +) / Double(numbers.count)
        let squares = numbers.reduce(0) { $0 + ($1 - mean) * ($1 - mean) }
        return .value(.double((squares / Double(numbers.count)).squareRoot()))
    }
}

/// `CAST(value, 'type')`; what cannot be cast is null.
enum Casting {
    @Sendable static func cast(_ operand: Operand, _ type: Operand) -> Operand {
        guard let name = type.text else { return .null }
        switch operand {
        case .value, .float: return .value(cast(operand.comparable, to: name) ?? .null)
        case .collection, .source, .opaque: return .null
        }
    }

    /// nil when the value has no form of that type, or the type is unknown.
    static func cast(_ value: Value, to type: String) -> Value? {
        switch type {
        case "NSDate", "Date": Number(value).map { .date($0.double) }
        case "NSNumber":
            Number(value)?.value
                ?? ValueOrder.text(value).flatMap { Int64($0).map(Value.int) ?? Double($0).map(Value.double) }
        case "NSDecimalNumber":
            ValueOrder.text(value).flatMap { Decimal(string: $0) }.map(Value.decimal)
                ?? Number(value).flatMap { Decimal(string: Number.text($0)) }.map(Value.decimal)
        case "NSString": ValueOrder.text(value).map(Value.text) ?? Number(value).map { .text(Number.text($0)) }
        case "NSUUID": ValueOrder.text(value).flatMap(UUID.init(uuidString:)).map(Value.uuid)
        case "NSURL": ValueOrder.text(value).map(Value.uri)
        case "NSData": ValueOrder.text(value).flatMap { Data(base64Encoded: $0) }.map(Value.data)
        default: nil
        }
    }
}

extension Number {
    static func text(_ number: Number) -> String {
        switch number {
        case .int(let int): String(int)
        case .double(let double): String(double + 0)
        case .decimal(let decimal): decimal.description
        }
    }
}

/// `a[0]`, `a[FIRST]`, `a[LAST]`, `a[SIZE]`, `d['key']`; null beyond the end.
enum Indexing {
    @Sendable static func item(_ operand: Operand, _ index: Operand) -> Operand {
        if case .source(let source) = operand, let key = index.text {
            if key == "\u{0}SIZE", let count = source.count { return .value(.int(Int64(count))) }
            return source.operand(forKey: key)
        }
        guard case .collection(let members) = operand else { return .null }
        switch index.text {
        case "\u{0}FIRST": return members.first ?? .null
        case "\u{0}LAST": return members.last ?? .null
        case "\u{0}SIZE": return .value(.int(Int64(members.count)))
        default:
            guard let number = index.number, let place = Int(exactly: number.double) else { return .null }
            return members.indices.contains(place) ? members[place] : .null
        }
    }
}
