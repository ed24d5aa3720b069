// The reserved words and operators of the format language.

enum FormatWords {
    /// Words that cannot begin a key path unless written `#word` (14.6).
    static let reserved: Set<String> = [
        "AND", "OR", "IN", "NOT", "ALL", "ANY", "SOME", "NONE", "LIKE", "CASEINSENSITIVE", "CI", "MATCHES", "CONTAINS",
        "BEGINSWITH", "ENDSWITH", "BETWEEN", "NULL", "NIL", "SELF", "TRUE", "YES", "FALSE", "NO", "FIRST", "LAST",
        "SIZE",
        "ANYKEY", "SUBQUERY", "FETCH", "CAST", "TRUEPREDICATE", "FALSEPREDICATE",
    ]

    // MARK: Names

    static func isStart(_ scalar: Unicode.Scalar) -> Bool {
        guard scalar.isASCII else { return scalar.properties.isAlphabetic }
        return scalar == "_" || ("a"..."z").contains(scalar) || ("A"..."Z").contains(scalar)
    }

    static func isPart(_ scalar: Unicode.Scalar) -> Bool {
        isStart(scalar) || ("0"..."9").contains(scalar) || (!scalar.isASCII && scalar.properties.isIDContinue)
    }

    /// A key as it can be read again: as it is, behind a sign where it is a reserved word, in quotes where it is no word.
    static func written(key: String, isFirst: Bool) -> String {
        // As Apple prints a key that begins so, although it reads back as a variable.
        let signs = key.unicodeScalars.first == "@" || (isFirst && key.unicodeScalars.first == "$") ? 1 : 0
        let name = key.unicodeScalars.dropFirst(signs)
        let isWord = name.first.map(isStart) == true && name.allSatisfy(isPart)
        guard isWord else { return "#" + FormatPrinter.quoted(key) }
        return isFirst && reserved.contains(key.asciiUppercased) ? "#" + key : key
    }

    // MARK: Operators

    /// What may stand between two values, and between two conditions.
    static let comparing = words.keys.sorted() + symbols.keys.sorted()
    static let joining = ["AND", "OR"]
    /// What a text may begin with.
    static let beginning = ["NOT", "ANY", "ALL", "NONE", "SOME", "SELF", "SUBQUERY", "TRUEPREDICATE", "FALSEPREDICATE"]

    /// What is meant by characters that other languages have.
    static let written: [Unicode.Scalar: String] = [
        "≠": "!=", "≤": "<=", "≥": ">=", "∧": "AND", "∨": "OR", "¬": "NOT", "∈": "IN", "×": "*", "÷": "/", "“": "\"",
        "”": "\"",
        "‘": "'", "’": "'", "„": "\"", "«": "\"", "»": "\"", "`": "'", ";": ",", "?": "TERNARY(…)",
    ]

    static func comparison(_ token: FormatToken) -> Comparison.Operator? {
        switch token {
        case .symbol(let symbol): symbols[symbol]
        case .word(let word): words[word.asciiUppercased]
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

    /// The function that a word between two values stands for. Such words may be keys elsewhere.
    static func setOperation(_ word: String) -> String? {
        switch word.utf8.count {
        case 5, 9: sets[word.asciiUppercased]
        default: nil
        }
    }

    private static let sets = ["UNION": "unionSet:with:", "INTERSECT": "intersectSet:with:", "MINUS": "minusSet:with:"]

    /// Binary operators by rising strength, with the functions they stand for. Operators of sets are as weak as the first.
    static let levels: [[String: String]] = [
        ["|": "bitwiseOr:with:"], ["^": "bitwiseXor:with:"], ["&": "bitwiseAnd:with:"],
        ["<<": "leftshift:by:", ">>": "rightshift:by:"],
        ["+": "add:to:", "-": "from:subtract:"],
        ["*": "multiply:by:", "/": "divide:by:"],
        ["**": "raise:toPower:"],
    ]
}

extension String {
    /// In capitals, if it is ASCII: the language's words are, and `ı` is no `I`.
    var asciiUppercased: String { utf8.allSatisfy { $0 < 0x80 } ? uppercased() : self }
}
