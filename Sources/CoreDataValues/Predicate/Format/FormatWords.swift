// The reserved words and operators of the format language.

enum FormatWords {
    /// Words that cannot begin a key path unless written `#word` (§14.6).
    static let reserved: Set<String> = [
        "AND", "OR", "IN", "NOT", "ALL", "ANY", "SOME", "NONE", "LIKE", "CASEINSENSITIVE", "CI", "MATCHES", "CONTAINS",
        "BEGINSWITH", "ENDSWITH", "BETWEEN", "NULL", "NIL", "SELF", "TRUE", "YES", "FALSE", "NO", "FIRST", "LAST", "SIZE",
        "ANYKEY", "SUBQUERY", "FETCH", "CAST", "TRUEPREDICATE", "FALSEPREDICATE", "FUNCTION", "TERNARY",
    ]

    static func comparison(_ token: FormatToken) -> Comparison.Operator? {
        switch token {
        case .symbol(let symbol): symbols[symbol]
        case .word(let word): words[word.uppercased()]
        case .escapedWord, .atWord, .variable, .integer, .real, .text, .placeholder, .end: nil
        }
    }

    private static let symbols: [String: Comparison.Operator] = [
        "=": .equal, "==": .equal, "!=": .notEqual, "<>": .notEqual, "<": .less, ">": .greater,
        "<=": .lessOrEqual, "=<": .lessOrEqual, ">=": .greaterOrEqual, "=>": .greaterOrEqual,
    ]

    private static let words: [String: Comparison.Operator] = [
        "BETWEEN": .between, "IN": .in, "CONTAINS": .contains, "BEGINSWITH": .beginsWith, "ENDSWITH": .endsWith,
        "LIKE": .like, "MATCHES": .matches,
    ]

    /// Binary operators by rising strength, with the functions they stand for.
    static let levels: [[String: String]] = [
        ["|": "bitwiseOr:with:"], ["^": "bitwiseXor:with:"], ["&": "bitwiseAnd:with:"],
        ["<<": "leftshift:by:", ">>": "rightshift:by:"],
        ["+": "add:to:", "-": "from:subtract:"],
        ["*": "multiply:by:", "/": "divide:by:"],
        ["**": "raise:toPower:"],
    ]
}
