// The numbers that one Float stands for.

/// All numbers that are a given one once they are kept as a Float: stores have them, written by whoever knew only doubles.
package struct FloatRange {
    package let low: Double
    package let high: Double
    package let float: Float

    /// nil for what is no number.
    package init?(_ value: Value) {
        guard let number = Number(value)?.double, !number.isNaN else { return nil }
        float = Float(number)
        high = FloatRange.end(of: float)
        low = -FloatRange.end(of: -float)
    }

    /// nil where two numbers are not just the ends of what one Float stands for.
    init?(from low: Value, to high: Value) {
        guard case .double(let first) = low, case .double(let last) = high, let range = FloatRange(low),
            range.low == first,
            range.high == last
        else { return nil }
        self = range
    }

    /// The largest number that rounds to a Float: half-way to the next one, or just below.
    private static func end(of float: Float) -> Double {
        if float == .infinity { return .infinity }
        if float == -.infinity {
            return -(Double(Float.greatestFiniteMagnitude) + Double(Float.greatestFiniteMagnitude.ulp) / 2)
        }
        let next = float.nextUp
        let step = next == .infinity ? Double(float.ulp) : Double(next) - Double(float)
        let middle = Double(float) + step / 2
        return Float(middle) == float ? middle : middle.nextDown
    }
}
