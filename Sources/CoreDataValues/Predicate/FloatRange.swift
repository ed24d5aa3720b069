// The numbers that one Float stands for.

/// All numbers that are a given one once they are kept as a Float: stores have them, written by whoever knew only doubles.
package struct FloatRange {
    package let low: Double
    package let high: Double

    /// nil for what is no number.
    package init?(_ value: Value) {
        guard let number = Number(value)?.double, !number.isNaN else { return nil }
        let float = Float(number)
        high = FloatRange.end(of: float)
        low = -FloatRange.end(of: -float)
    }

    /// The largest number that rounds to a Float: half-way to the next one, or just below.
    private static func end(of float: Float) -> Double {
        if float == .infinity { return .infinity }
        if float == -.infinity { return -(Double(Float.greatestFiniteMagnitude) + Double(Float.greatestFiniteMagnitude.ulp) / 2) }
        let next = float.nextUp
        let step = next == .infinity ? Double(float.ulp) : Double(next) - Double(float)
        let middle = Double(float) + step / 2
        return Float(middle) == float ? middle : middle.nextDown
    }
}
