// Texts of others in messages.

extension String {
    /// The text for a quote in a message: at most `limit` characters of it, those around a place, and `…` for the rest.
    ///
    /// - Parameter place: counted in Unicode scalars from 0.
    package func shortened(around place: Int = 0, to limit: Int = 120) -> String {
        let scalars = unicodeScalars
        guard utf8.count > limit, scalars.count > limit else { return self }
        let first = Swift.max(0, Swift.min(place - limit / 2, scalars.count - limit))
        let start = scalars.index(scalars.startIndex, offsetBy: first)
        let end = scalars.index(start, offsetBy: limit)
        return (first == 0 ? "" : "…") + String(scalars[start..<end]) + (end == scalars.endIndex ? "" : "…")
    }
}
