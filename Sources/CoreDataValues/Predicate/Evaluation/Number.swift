// Numbers of any type, compared exactly and calculated with.

import Foundation

/// What the numeric values of predicates have in common.
enum Number {
    case int(Int64)
    case double(Double)
    case decimal(Decimal)

    /// Booleans count as 0 and 1, dates as seconds since 2001, as stores keep them.
    init?(_ value: Value) {
        switch value {
        case .bool(let flag): self = .int(flag ? 1 : 0)
        case .int(let int): self = .int(int)
        case .double(let double), .date(let double): self = .double(double)
        case .decimal(let decimal): self = decimal.isNaN ? .double(.nan) : .decimal(decimal)
        case .null, .text, .data, .uuid, .uri, .key: return nil
        }
    }

    var value: Value {
        switch self {
        case .int(let int): .int(int)
        case .double(let double): .double(double)
        case .decimal(let decimal): .decimal(decimal)
        }
    }

    var double: Double {
        switch self {
        case .int(let int): Double(int)
        case .double(let double): double
        case .decimal(let decimal): decimal.nearestDouble
        }
    }

    /// nil when one side is not a number (NaN).
    func order(_ other: Number) -> ComparisonResult? {
        switch (self, other) {
        case (.int(let a), .int(let b)): Number.order(a, b)
        case (.int(let a), .double(let b)): Number.order(a, b)
        case (.double(let a), .int(let b)): Number.order(b, a)?.reversed
        case (.decimal(let a), .decimal(let b)): Number.order(a, b)
        case (.decimal(let a), .int(let b)): Number.order(a, Decimal(b))
        case (.int(let a), .decimal(let b)): Number.order(Decimal(a), b)
        case (.double, .double), (.double, .decimal), (.decimal, .double): Number.order(self.double, other.double)
        }
    }

    private static func order(_ a: Double, _ b: Double) -> ComparisonResult? {
        if a.isNaN || b.isNaN { return nil }
        return order(comparing: a, b)
    }

    private static func order<T: Comparable>(_ a: T, _ b: T) -> ComparisonResult { order(comparing: a, b) }

    private static func order<T: Comparable>(comparing a: T, _ b: T) -> ComparisonResult {
        a < b ? .orderedAscending : a == b ? .orderedSame : .orderedDescending
    }

    /// Exact also beyond 2^53, where an integer has no double.
    private static func order(_ a: Int64, _ b: Double) -> ComparisonResult? {
        if b.isNaN { return nil }
        if b >= 9_223_372_036_854_775_808 { return .orderedAscending }
        if b < -9_223_372_036_854_775_808 { return .orderedDescending }
        let whole = Int64(b.rounded(.towardZero))
        return a == whole ? order(comparing: 0, b - Double(whole)) : order(comparing: a, whole)
    }
}

extension ComparisonResult {
    package var reversed: ComparisonResult {
        switch self {
        case .orderedAscending: .orderedDescending
        case .orderedDescending: .orderedAscending
        case .orderedSame: .orderedSame
        }
    }
}

extension Value {
    /// Null for what is not a number (NaN): stores have no other word for it.
    package var known: Value {
        switch self {
        case .double(let number), .date(let number): number.isNaN ? .null : self
        case .decimal(let number): number.isNaN ? .null : self
        case .null, .bool, .int, .text, .data, .uuid, .uri, .key: self
        }
    }
}

// MARK: Arithmetic

extension Number {
    enum Operation { case add, subtract, multiply, divide, modulus }

    /// Integers stay integers (and become doubles when they overflow); a division by the integer zero has no value.
    static func apply(_ operation: Operation, _ a: Number, _ b: Number) -> Number? {
        switch (a, b) {
        case (.int(let x), .int(let y)): integers(operation, x, y)
        case (.decimal(let x), .decimal(let y)): decimals(operation, x, y)
        case (.decimal(let x), .int(let y)): decimals(operation, x, Decimal(y))
        case (.int(let x), .decimal(let y)): decimals(operation, Decimal(x), y)
        case (.double, .double), (.double, .int), (.int, .double), (.double, .decimal), (.decimal, .double):
            .double(doubles(operation, a.double, b.double))
        }
    }

    private static func integers(_ operation: Operation, _ a: Int64, _ b: Int64) -> Number? {
        let result: (partialValue: Int64, overflow: Bool)
        switch operation {
        case .add: result = a.addingReportingOverflow(b)
        case .subtract: result = a.subtractingReportingOverflow(b)
        case .multiply: result = a.multipliedReportingOverflow(by: b)
        case .divide: result = a.dividedReportingOverflow(by: b)
        case .modulus: result = a.remainderReportingOverflow(dividingBy: b)
        }
        if !result.overflow { return .int(result.partialValue) }
        if b == 0, operation == .divide || operation == .modulus { return nil }
        return .double(doubles(operation, Double(a), Double(b)))
    }

    /// The exponents of products that are decimals for sure: of two times 38 digits half are dropped.
    private static let products = -128...88

    private static func decimals(_ operation: Operation, _ a: Decimal, _ b: Decimal) -> Number? {
        switch operation {
        case .add: return .decimal(a + b)
        case .subtract: return .decimal(a - b)
        case .multiply:
            // Foundation ends the process where a product is too small for a decimal.
            guard products.contains(a.exponent + b.exponent) else {
                return .double(doubles(.multiply, Number.decimal(a).double, Number.decimal(b).double))
            }
            return .decimal(a * b)
        case .divide: return b.isZero ? nil : .decimal(a / b)
        case .modulus:
            guard !b.isZero else { return nil }
            return .double(doubles(.modulus, Number.decimal(a).double, Number.decimal(b).double))
        }
    }

    /// A zero has no sign: stores forget it, and it must not tell a quotient.
    private static func doubles(_ operation: Operation, _ a: Double, _ b: Double) -> Double {
        switch operation {
        case .add: a + b
        case .subtract: a - b
        case .multiply: a * b
        case .divide: a / (b + 0)
        case .modulus: a.truncatingRemainder(dividingBy: b)
        }
    }
}
