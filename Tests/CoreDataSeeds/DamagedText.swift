// Texts of the format language that were damaged at random.

package enum DamagedText {
    private static let pieces = [
        "'", "\"", "(", ")", "{", "}", "[", "]", ",", ".", "@", "$x", "#", "%@", "%K", "%d", "%", "\\", "AND", "OR",
        "NOT", "ANY ", "ALL ", "==", "<", "IN",
        "CONTAINS[c]", "MATCHES '('", "MATCHES '[a'", "SUBQUERY(", "FUNCTION(", "CAST(", "TERNARY(", "FETCH(", "SELF",
        "nil", "1e999", "0x", "-", "**", "/ 0",
        "<<", "sqrt:(", "@count", "@avg.x", "[0]", "[SIZE]", "\u{0}", "é", "9223372036854775807", "BETWEEN {",
        "LIKE[cd]", "UNION", ":=", "ANYKEY", "now()",
        "'NSDate')", "tags", "items.n", "price", "FUNCTION(name, 'x:', 1)", "%", "raise:toPower:(", "name", "age",
    ]

    /// The text with a piece left out, put in, replaced or doubled, or with another character.
    package static func damaged(_ text: String, _ random: inout SplitMix) -> String {
        var scalars = Array(text.unicodeScalars)
        let place = Int.random(in: 0...scalars.count, using: &random)
        let end = min(scalars.count, place + Int.random(in: 0...6, using: &random))
        switch Int.random(in: 0..<5, using: &random) {
        case 0: scalars.removeSubrange(place..<end)
        case 1:
            scalars.insert(contentsOf: Array((pieces.randomElement(using: &random) ?? "").unicodeScalars), at: place)
        case 2:
            scalars.replaceSubrange(
                place..<end, with: Array((" " + (pieces.randomElement(using: &random) ?? "") + " ").unicodeScalars))
        case 3: scalars.insert(contentsOf: scalars[place..<end], at: place)
        default: if place < scalars.count { scalars[place] = Unicode.Scalar(UInt8.random(in: 0..<128, using: &random)) }
        }
        var result = ""
        result.unicodeScalars.append(contentsOf: scalars)
        return result
    }
}
