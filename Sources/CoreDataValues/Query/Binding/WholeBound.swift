// Decimals beside whole numbers, which no double may round: there are more whole numbers of 64 bits than doubles.

import Foundation

/// A decimal as what a whole number is compared with in its place.
struct WholeBound {
    /// The decimal itself, or the whole number below it; of one beyond 64 bits a double beyond them.
    let value: Value
    /// Whether the decimal lies above the value, and below the next whole number.
    let isFraction: Bool

    init(_ number: Decimal) {
        isFraction = !number.isWhole
        var (whole, exact) = (Decimal(), number)
        NSDecimalRound(&whole, &exact, 0, .down)
        value = Int64(whole.description).map { .int($0) } ?? .double(number < 0 ? -1e19 : 1e19)
    }
}

extension Decimal {
    package var isWhole: Bool {
        var (whole, number) = (Decimal(), self)
        NSDecimalRound(&whole, &number, 0, .plain)
        return whole == self
    }

    /// The same number of 64 bits; nil for a fraction, and for one beyond them.
    var int: Int64? { isWhole ? Int64(description) : nil }
}
