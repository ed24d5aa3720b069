// The functions of the predicate language (14.9), by their full names.

import Foundation

/// Names, numbers of arguments and meanings. Of null, every calculation is null, and so is one that comes to no number (NaN).
package enum PredicateFunctions {
    package typealias Function = ([Operand]) -> Operand

    /// How the format language writes some functions: as operators between their two arguments.
    package static let infix: [String: String] = [
        "add:to:": "+", "from:subtract:": "-", "multiply:by:": "*", "divide:by:": "/", "raise:toPower:": "**",
        "bitwiseAnd:with:": "&", "bitwiseOr:with:": "|", "bitwiseXor:with:": "^", "leftshift:by:": "<<",
        "rightshift:by:": ">>", "unionSet:with:": "UNION", "intersectSet:with:": "INTERSECT", "minusSet:with:": "MINUS",
    ]

    /// The full name for what a format string says (`SUM`, `sum:`, `now`), nil for a function nobody knows.
    package static func fullName(_ written: String) -> String? {
        let lower = written.lowercased()
        return namesByWord[lower] ?? namesByWord[lower.hasSuffix(":") ? String(lower.dropLast()) : lower + ":"]
    }

    /// All that a format text may name.
    static let names = Set(["now", "random", "distanceToLocation:fromLocation:"]).union(one.keys).union(two.keys)
        .sorted()

    private static let namesByWord = Dictionary(
        names.map { ($0.lowercased(), $0) }, uniquingKeysWith: { first, _ in first })

    /// `FUNCTION(a, 'uppercaseString')` is `uppercase:(a)`.
    static func name(ofSelector selector: String) -> String {
        switch selector {
        case "uppercaseString", "uppercase": "uppercase:"
        case "lowercaseString", "lowercase": "lowercase:"
        case "length": "length:"
        case "count": "count:"
        case "pow:": "raise:toPower:"
        case "objectAtIndex:", "objectForKey:": "objectFrom:withIndex:"
        default: selector
        }
    }

    static func named(_ name: String, count: Int) -> Function? {
        guard let function = function(name, count) else { return nil }
        return { operands in
            let result = function(operands)
            if case .value(let value) = result { return .value(value.known) }
            return result
        }
    }

    /// Rounds a number to a Float: what is compared with lists of Floats. The format language has no such function.
    static var float: String { "float:" }

    /// A value of which the model's index is named that a store should find it by.
    static var indexedBy: String { "indexed:by:" }

    private static func function(_ name: String, _ count: Int) -> Function? {
        switch (name, count) {
        case ("now", 0): { _ in .value(.date(Date().timeIntervalSinceReferenceDate)) }
        case ("random", 0): { _ in .value(.double(Double.random(in: 0..<1))) }
        // The words of an index; they only mean something beside `objectFrom:withIndex:`.
        case ("FIRST", 0), ("LAST", 0), ("SIZE", 0): { _ in .value(.text("\u{0}" + name)) }
        // What a key path asks of a text; the format language has no such function.
        case ("capitalized:", 1): { operands in operands[0].text.map { .value(.text($0.capitalized)) } ?? .null }
        case (TransformedEquality.function, 3): { TransformedEquality.holds($0) }
        case (float, 1): { operands in real(operands[0]) { Double(Float($0)) } }
        case (_, 1): one[name].map { function in { function($0[0]) } }
        case (_, 2): two[name].map { function in { function($0[0], $0[1]) } }
        case (_, 3...): variadic[name]
        case (_, _): nil
        }
    }

    /// What a function comes to; null for one that is not known.
    package static func result(of name: String, _ arguments: [Operand]) -> Value {
        guard case .value(let value)? = named(name, count: arguments.count)?(arguments) else { return .null }
        return value
    }

    private static let variadic: [String: @Sendable ([Operand]) -> Operand] = [
        "sum:": { Aggregate.sum($0) },
        "min:": { Aggregate.extreme($0, .orderedAscending) },
        "max:": { Aggregate.extreme($0, .orderedDescending) },
        "average:": { Aggregate.average($0) },
        "count:": { .value(.int(Int64($0.count))) },
    ]

    // MARK: One argument

    private static let one: [String: @Sendable (Operand) -> Operand] = [
        "sum:": { $0.isNull ? .null : Aggregate.sum($0.members) },
        "count:": { $0.isNull ? .null : .value(.int(Int64($0.count))) },
        "min:": { Aggregate.extreme($0.members, .orderedAscending) },
        "max:": { Aggregate.extreme($0.members, .orderedDescending) },
        "average:": { Aggregate.average($0.members) },
        "median:": { Statistics.median($0.members) },
        "mode:": { Statistics.mode($0.members) },
        "stddev:": { Statistics.deviation($0.members) },
        "sqrt:": { real($0) { $0.squareRoot() } },
        "log:": { real($0, log10) },
        "ln:": { real($0, log) },
        "exp:": { real($0, exp) },
        "ceiling:": { real($0) { $0.rounded(.up) } },
        "floor:": { real($0) { $0.rounded(.down) } },
        "trunc:": { real($0) { $0.rounded(.towardZero) } },
        "abs:": absolute,
        "onesComplement:": { operand in whole(operand).map { .value(.int(~$0)) } ?? .null },
        "uppercase:": { operand in operand.text.map { .value(.text($0.uppercased())) } ?? .null },
        "lowercase:": { operand in operand.text.map { .value(.text($0.lowercased())) } ?? .null },
        "length:": { operand in operand.text.map { .value(.int(Int64($0.utf16.count))) } ?? .null },
        "canonical:": { operand in
            operand.text.map {
                .value(.text(TextComparison.fold($0, options: [.caseInsensitive, .diacriticInsensitive])))
            }
                ?? .null
        },
        "random:": { operand in
            whole(operand).map { .value(.int($0 > 0 ? Int64.random(in: 0..<$0) : 0)) } ?? .null
        },
        "noindex:": { $0 },
        "distinct:": { $0.isNull ? .null : .collection(Aggregate.distinct($0.members)) },
    ]

    private static func real(_ operand: Operand, _ function: (Double) -> Double) -> Operand {
        operand.number.map { .value(.double(function($0.double))) } ?? .null
    }

    private static func whole(_ operand: Operand) -> Int64? {
        guard let number = operand.number else { return nil }
        if case .int(let int) = number { return int }
        return Int64(exactly: number.double.rounded(.towardZero))
    }

    @Sendable private static func absolute(_ operand: Operand) -> Operand {
        guard let number = operand.number else { return .null }
        guard number.order(.int(0)) == .orderedAscending else { return .value(number.value) }
        return Number.apply(.subtract, .int(0), number).map { .value($0.value) } ?? .null
    }

    // MARK: Two arguments

    private static let two: [String: @Sendable (Operand, Operand) -> Operand] = [
        "add:to:": { calculate(.add, $0, $1) },
        "from:subtract:": { calculate(.subtract, $0, $1) },
        "multiply:by:": { calculate(.multiply, $0, $1) },
        "divide:by:": { calculate(.divide, $0, $1) },
        "modulus:by:": { calculate(.modulus, $0, $1) },
        "raise:toPower:": { a, b in
            guard let x = a.number, let y = b.number else { return .null }
            return .value(.double(pow(x.double + 0, y.double)))
        },
        "bitwiseAnd:with:": { bits($0, $1, &) },
        "bitwiseOr:with:": { bits($0, $1, |) },
        "bitwiseXor:with:": { bits($0, $1, ^) },
        "leftshift:by:": { bits($0, $1) { $0 << $1 } },
        "rightshift:by:": { bits($0, $1) { $0 >> $1 } },
        "sum:": { Aggregate.sum([$0, $1]) },
        "min:": { Aggregate.extreme([$0, $1], .orderedAscending) },
        "max:": { Aggregate.extreme([$0, $1], .orderedDescending) },
        "average:": { Aggregate.average([$0, $1]) },
        indexedBy: { value, _ in value },
        "castObject:toType:": Casting.cast,
        "objectFrom:withIndex:": Indexing.item,
        "unionSet:with:": { .collection(Aggregate.distinct($0.members + $1.members)) },
        "intersectSet:with:": { a, b in keep(a, b, wanted: true) },
        "minusSet:with:": { a, b in keep(a, b, wanted: false) },
    ]

    /// A date moved by seconds stays a date; the distance of two dates is a number.
    private static func calculate(_ operation: Number.Operation, _ a: Operand, _ b: Operand) -> Operand {
        guard let x = a.number, let y = b.number, let result = Number.apply(operation, x, y) else { return .null }
        if case .value(.date) = a, operation == .add || operation == .subtract {
            if case .value(.date) = b { return .value(result.value) }
            return .value(.date(result.double))
        }
        return .value(result.value)
    }

    private static func bits(_ a: Operand, _ b: Operand, _ function: (Int64, Int64) -> Int64) -> Operand {
        guard let x = whole(a), let y = whole(b) else { return .null }
        return .value(.int(function(x, y)))
    }

    private static func keep(_ a: Operand, _ b: Operand, wanted: Bool) -> Operand {
        let relation = Relation(op: .in, options: [])
        let others = Operand.collection(b.members)
        return .collection(Aggregate.distinct(a.members.filter { relation.holds($0, others) == wanted }))
    }
}
