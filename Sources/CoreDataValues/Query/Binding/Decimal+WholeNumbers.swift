// Decimals beside whole numbers, which no double may round: there are more whole numbers of 64 bits than doubles.

import Foundation

extension Decimal {
    private var floor: Decimal {
        var (floor, number) = (Decimal(), self)
        NSDecimalRound(&floor, &number, 0, .down)
        return floor
    }

    var isWhole: Bool { floor == self }

    /// The same number of 64 bits; nil for a fraction, and for one beyond them.
    var int: Int64? { isWhole ? Int64(description) : nil }

    /// What a whole number is compared with in its place: the decimal itself, or the whole number below a fraction; for one beyond 64
    /// bits a double beyond them.
    var wholeBound: Value { Int64(floor.description).map { .int($0) } ?? .double(self < 0 ? -1e19 : 1e19) }
}
