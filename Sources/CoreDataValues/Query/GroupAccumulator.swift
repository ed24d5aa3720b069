// Aggregates over the rows of a group, in memory.

import Foundation

/// Collects the values of one aggregate of one group.
struct GroupAccumulator {
    private let aggregate: GroupAggregate
    private let type: ValueType
    private var seen: Set<Value> = []
    private var count: Int64 = 0
    /// Whole numbers are added up apart, so that their sum is exact in whatever order they come.
    private var whole = Int128(0)
    private var rest: Number?
    private var best = Value.null

    init(_ aggregate: GroupAggregate, _ type: ValueType) {
        self.aggregate = aggregate
        self.type = type
    }

    /// - Parameter operand: what the aggregate is made of in one row; nil for a count of rows.
    mutating func accumulate(_ operand: Operand?) {
        guard let operand else {
            count += 1
            return
        }
        let value = operand.comparable
        guard !value.isNull, !aggregate.isDistinct || seen.insert(value.identity).inserted else { return }
        count += 1
        switch aggregate.function {
        case .count: break
        case .sum, .average: if let number = operand.number { add(number) }
        case .minimum: if best.isNull || ValueOrder.sortOrder(value, best) == .orderedAscending { best = value }
        case .maximum: if best.isNull || ValueOrder.sortOrder(value, best) == .orderedDescending { best = value }
        }
    }

    private mutating func add(_ number: Number) {
        if case .int(let number) = number { return whole += Int128(number) }
        rest = rest.map { Number.apply(.add, $0, number) ?? $0 } ?? number
    }

    private var total: Number {
        let whole = Int64(exactly: whole).map { Number.int($0) } ?? .double(Double(whole))
        return rest.map { Number.apply(.add, whole, $0) ?? $0 } ?? whole
    }

    /// Of decimals as decimals, then as the double that a store would keep.
    private var average: Double {
        if case .decimal(let sum) = total { return Number.decimal(sum / Decimal(count)).double }
        return total.double / Double(count)
    }

    var result: Value {
        switch aggregate.function {
        case .count: .int(count)
        case .sum: type.shown(.value(total.value))
        case .average: count == 0 ? .null : type.shown(.value(.double(average)))
        case .minimum, .maximum: type.shown(.value(best))
        }
    }
}

extension ValueType {
    /// A value of a column of this type. A whole number that does not fit into 64 bits is a real one.
    func shown(_ operand: Operand) -> Value {
        if self == .int, let number = Number(operand.comparable) {
            switch number {
            case .int(let int): return .int(int)
            case .double, .decimal:
                return Int64(exactly: number.double).map { .int($0) } ?? Value.double(number.double).known
            }
        }
        return value(operand) ?? .null
    }

    /// A value of this type; nil for a whole number that does not fit into 64 bits. What is not a number (NaN) is null.
    func value(_ operand: Operand) -> Value? {
        let value = operand.comparable
        if case .double(let number) = value, number.isNaN { return .null }
        switch self {
        case .int: return Number(value).map { ValueType.whole($0) } ?? .null
        case .bool: return Number(value).map { .bool($0.double != 0) } ?? .null
        case .double: return Number(value).map { .double($0.double) } ?? .null
        case .float: return Number(value).map { .double(Double(Float($0.double))) } ?? .null
        case .date: return Number(value).map { .date($0.double) } ?? .null
        case .decimal: return Number(value).map { Value.decimal(ValueType.decimal($0)).known } ?? .null
        case .text: return ValueOrder.text(value).map(Value.text) ?? .null
        case .uri: return ValueOrder.text(value).map(Value.uri) ?? .null
        case .uuid: if case .uuid = value { return value } else { return .null }
        case .data: if case .data = value { return value } else { return .null }
        case .key: if case .key = value { return value } else { return .null }
        }
    }

    private static func whole(_ number: Number) -> Value? {
        switch number {
        case .int(let int): .int(int)
        case .double, .decimal: whole(number.double).map(Value.int)
        }
    }

    /// A calculation with whole numbers that came to a double because it overflowed has none.
    package static func whole(_ number: Double) -> Int64? {
        abs(number) < 9_223_372_036_854_775_808 ? Int64(number) : nil
    }

    private static func decimal(_ number: Number) -> Decimal {
        switch number {
        case .int(let int): Decimal(int)
        case .double(let double): Decimal(cell: "\(double)") ?? .nan
        case .decimal(let decimal): decimal
        }
    }
}

extension Value {
    /// The same for values of one type that are one value of a group: texts by their scalars, objects by their numbers.
    var identity: Value {
        switch self {
        case .text(let text), .uri(let text): .data(Data(text.utf8))
        case .key(let key): .int(key.number)
        case .null, .bool, .int, .double, .decimal, .date, .data, .uuid: self
        }
    }
}
