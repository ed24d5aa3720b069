// What a wrong format text is told: where, what should stand there, and what was probably meant.

extension FormatParser {
    /// - Parameter words: what may stand here, for the nearest spelling.
    func unexpected(_ wanted: String, among words: [String] = []) -> PredicateError {
        if case .word(let word) = token, word.hasSuffix(":"), PredicateFunctions.fullName(word) == nil {
            return PredicateError(
                "“\(word.shortened())” is a selector, which only Objective-C can call; write an operator, or make the predicate of a block.",
                position: position)
        }
        if case .word(let word) = token, word.asciiUppercased == "UTI" {
            return PredicateError(
                "UTI-CONFORMS-TO and UTI-EQUALS need uniform types, which there are none of here.", position: position)
        }
        if token == .end { return PredicateError("The text ends where \(wanted) should stand.", position: position) }
        return PredicateError("There should stand \(wanted), not \(token.written)\(hint(words)).", position: position)
    }

    private func hint(_ words: [String]) -> String {
        switch token {
        case .symbol(let symbol): doubled(symbol) ?? ""
        case .word(let word): Spelling.hint(word, among: words)
        case .escapedWord, .atWord, .variable, .integer, .real, .text, .placeholder, .end: ""
        }
    }

    /// `===` is read as `==` and `=`.
    private func doubled(_ symbol: String) -> String? {
        guard let former, case .symbol(let before) = former else { return nil }
        let near = [
            "== =": "==", "!= =": "!=", "= =": "==", "= !": "!=", "> <": "!=", "< =": "<=", "> =": ">=", "&& &": "AND",
            "|| |": "OR",
            "! =": "!=", "<> =": "!=", "= ~": "==[c]", "~ =": "==[c]",
        ]
        return near[before + " " + symbol].map { "; write \($0)" }
    }
}

/// The nearest of some words to one that is none of them.
enum Spelling {
    /// The end of a sentence that names the nearest word; empty where none is near.
    static func hint(_ written: String, among words: [String]) -> String {
        nearest(written, among: words).map { "; \($0) is near" } ?? ""
    }

    /// nil where more than a third of the letters would have to change.
    static func nearest(_ written: String, among words: [String]) -> String? {
        let wanted = letters(written)
        guard wanted.count <= 40 else { return nil }
        var best: (word: String, distance: Int)?
        for word in words {
            let candidate = letters(word)
            let most = max(1, max(wanted.count, candidate.count) / 3)
            guard abs(candidate.count - wanted.count) <= most else { continue }
            let distance = distance(wanted, candidate)
            if distance <= most, distance < best?.distance ?? .max { best = (word, distance) }
        }
        return best?.word
    }

    private static func letters(_ word: String) -> [UInt8] { word.lowercased().utf8.filter { $0 != UInt8(ascii: ":") } }

    /// How many letters must be added, left out, changed, or swapped with their neighbours.
    private static func distance(_ a: [UInt8], _ b: [UInt8]) -> Int {
        var older: [Int] = []
        var old = Array(0...b.count)
        for i in a.indices {
            var row = [i + 1]
            for j in b.indices {
                var least = min(old[j + 1] + 1, row[j] + 1, old[j] + (a[i] == b[j] ? 0 : 1))
                if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] { least = min(least, older[j - 1] + 1) }
                row.append(least)
            }
            (older, old) = (old, row)
        }
        return old[b.count]
    }
}
