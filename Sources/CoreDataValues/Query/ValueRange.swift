// Ranges of constants, joined and cut.

import Foundation

/// The values from one to another, both included.
struct ValueRange {
    let low: Value
    let high: Value

    /// nil for values that have no order.
    init?(_ low: Value, _ high: Value, _ options: Comparison.Options) {
        guard ValueOrder.order(low, high, options: options) != nil else { return nil }
        self.init(low: low, high: high)
    }

    private init(low: Value, high: Value) {
        self.low = low
        self.high = high
    }

    /// What lies in both, which may be nothing; nil where their values have no order.
    func common(with other: ValueRange, _ options: Comparison.Options) -> ValueRange? {
        guard let lows = ValueOrder.order(low, other.low, options: options),
            let highs = ValueOrder.order(high, other.high, options: options)
        else { return nil }
        return ValueRange(
            low: lows == .orderedAscending ? other.low : low, high: highs == .orderedAscending ? high : other.high)
    }

    /// Those that overlap as one, in n log n.
    static func united(_ ranges: [ValueRange], _ options: Comparison.Options) -> [ValueRange] {
        guard ranges.count > 1 else { return ranges }
        func precedes(_ a: Value, _ b: Value) -> Bool { ValueOrder.order(a, b, options: options) == .orderedAscending }
        var united: [ValueRange] = []
        for range in ranges.sorted(by: { precedes($0.low, $1.low) }) where !precedes(range.high, range.low) {
            guard let last = united.last, !precedes(last.high, range.low) else {
                united.append(range)
                continue
            }
            if precedes(last.high, range.high) {
                united[united.count - 1] = ValueRange(low: last.low, high: range.high)
            }
        }
        return united
    }

    func test(of operand: BoundOperand, _ options: Comparison.Options) -> BoundCondition {
        .between(operand, .value(.constant(low)), .value(.constant(high)), options)
    }
}

extension BoundCondition {
    /// More Floats than these are looked up in a list.
    private static let mostFloatRanges = 3

    /// Whether a value is one of some Floats: few as the ranges of numbers that they stand for, which an index finds.
    static func floats(_ operand: BoundOperand, _ floats: [FloatRange], _ options: Comparison.Options) -> BoundCondition
    {
        if floats.count > mostFloatRanges {
            return .among(.call(PredicateFunctions.float, [operand]), floats.map { .double(Double($0.float)) }, options)
        }
        return .any(
            floats.map {
                .between(operand, .value(.constant(.double($0.low))), .value(.constant(.double($0.high))), options)
            })
    }
}
