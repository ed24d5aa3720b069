// Reads the predicate format language into a tree.

/// What stands behind a placeholder.
package enum FormatArgument {
    /// The argument of `%@`, `%d` …
    case expression(Expression)
    /// The argument of `%K`: a dotted key path, or the `$variable` of a SUBQUERY around it.
    case keyPath(String)
}

/// A parser of one text. Time and memory are linear in the text; nesting is bounded, so that no text can exhaust the stack.
package struct FormatParser {
    /// Answers the argument at a place, for a conversion letter.
    package typealias Arguments = (Int, Character) throws -> FormatArgument

    enum Node {
        case predicate(Predicate)
        case expression(Expression)
    }
    static let deepest = 150

    private let tokens: [(token: FormatToken, position: Int)]
    private let arguments: Arguments
    private let source: String
    private var index = 0
    private var nextArgument = 0
    /// Those of the SUBQUERYs around.
    var variables: [String] = []
    var depth = 0

    /// Reads a predicate.
    ///
    /// - Throws: `PredicateError` that names the text and the place of the fault.
    package static func predicate(
        _ text: String, arguments: @escaping Arguments = FormatParser.none
    ) throws(PredicateError) -> Predicate {
        try parse(text, arguments) { parser throws(PredicateError) in
            let node = try parser.disjunction()
            return try parser.predicate(node)
        }
    }

    /// Reads an expression, as `NSExpression(format:)` does.
    package static func expression(
        _ text: String, arguments: @escaping Arguments = FormatParser.none
    ) throws(PredicateError) -> Expression {
        try parse(text, arguments) { parser throws(PredicateError) in
            let node = try parser.disjunction()
            return try parser.expression(node)
        }
    }

    /// For texts without placeholders.
    package static let none: @Sendable (Int, Character) throws -> FormatArgument = { place, letter in
        throw PredicateError("There is no argument \(place + 1) for “%\(letter)”.")
    }

    private static func parse<T>(
        _ text: String, _ arguments: @escaping Arguments,
        _ rule: (inout FormatParser) throws(PredicateError) -> T
    ) throws(PredicateError) -> T {
        do throws(PredicateError) {
            var scanner = FormatScanner(text)
            var parser = FormatParser(tokens: try scanner.scan(), arguments: arguments, source: text)
            let result = try rule(&parser)
            guard parser.token == .end else {
                throw parser.unexpected("the end or AND, OR", among: FormatWords.joining)
            }
            return result
        } catch {
            let place = error.position.map { " at character \($0 + 1)" } ?? ""
            throw PredicateError(
                "The predicate format “\(text.shortened(around: error.position ?? 0))” cannot be read\(place): \(error.sentence)",
                position: error.position)
        }
    }

    private init(tokens: [(token: FormatToken, position: Int)], arguments: @escaping Arguments, source: String) {
        self.tokens = tokens
        self.arguments = arguments
        self.source = source
    }

    // MARK: Tokens

    var token: FormatToken { tokens[min(index, tokens.count - 1)].token }
    var following: FormatToken { tokens[min(index + 1, tokens.count - 1)].token }
    var position: Int { tokens[min(index, tokens.count - 1)].position }
    /// The word before.
    var former: FormatToken? { index > 0 ? tokens[min(index, tokens.count) - 1].token : nil }

    mutating func advance() { index += 1 }

    mutating func consume(_ symbol: String) -> Bool {
        guard token == .symbol(symbol) else { return false }
        advance()
        return true
    }

    mutating func consume(word: String) -> Bool {
        guard case .word(let written) = token, written.asciiUppercased == word else { return false }
        advance()
        return true
    }

    mutating func expect(_ symbol: String) throws(PredicateError) {
        guard consume(symbol) else { throw unexpected("“\(symbol)”") }
    }

    mutating func argument(_ letter: Character, _ place: Int?) throws(PredicateError) -> FormatArgument {
        let wanted: Int
        if let place {
            wanted = place - 1
        } else {
            wanted = nextArgument
            nextArgument += 1
        }
        do {
            return try arguments(wanted, letter)
        } catch let error as PredicateError {
            throw PredicateError(error.sentence, position: position)
        } catch {
            throw PredicateError(String(describing: error), position: position)
        }
    }

    /// Runs a rule one level deeper.
    mutating func nested<T>(
        _ rule: (inout FormatParser) throws(PredicateError) -> T
    ) throws(PredicateError) -> T {
        depth += 1
        defer { depth -= 1 }
        guard depth <= FormatParser.deepest else {
            throw PredicateError("It nests deeper than \(FormatParser.deepest) levels.", position: position)
        }
        return try rule(&self)
    }

    // MARK: Conditions

    func predicate(_ node: Node) throws(PredicateError) -> Predicate {
        guard case .predicate(let predicate) = node else {
            throw unexpected("a comparison operator", among: FormatWords.comparing)
        }
        return predicate
    }

    func expression(_ node: Node) throws(PredicateError) -> Expression {
        guard case .expression(let expression) = node else {
            throw PredicateError("A condition stands where a value should.", position: position)
        }
        return expression
    }

    mutating func disjunction() throws(PredicateError) -> Node {
        let first = try conjunction()
        guard isOr else { return first }
        var parts = [try predicate(first)]
        while isOr {
            advance()
            let node = try conjunction()
            parts.append(try predicate(node))
        }
        return .predicate(.or(parts))
    }

    private var isOr: Bool { isWord("OR") || token == .symbol("||") }
    private var isAnd: Bool { isWord("AND") || token == .symbol("&&") }

    private func isWord(_ word: String) -> Bool {
        if case .word(let written) = token { written.asciiUppercased == word } else { false }
    }

    private mutating func conjunction() throws(PredicateError) -> Node {
        let first = try negation()
        guard isAnd else { return first }
        var parts = [try predicate(first)]
        while isAnd {
            advance()
            let node = try negation()
            parts.append(try predicate(node))
        }
        return .predicate(.and(parts))
    }

    private mutating func negation() throws(PredicateError) -> Node {
        guard consume(word: "NOT") || consume("!") else { return try comparison() }
        return try nested { parser throws(PredicateError) in
            let node = try parser.negation()
            return .predicate(.not(try parser.predicate(node)))
        }
    }

    private mutating func comparison() throws(PredicateError) -> Node {
        if consume(word: "TRUEPREDICATE") { return .predicate(.constant(true)) }
        if consume(word: "FALSEPREDICATE") { return .predicate(.constant(false)) }
        var modifier = Comparison.Modifier.direct
        var isNone = false
        if consume(word: "ANY") || consume(word: "SOME") {
            modifier = .any
        } else if consume(word: "ALL") {
            modifier = .all
        } else if consume(word: "NONE") {
            modifier = .any
            isNone = true
        }
        let left = try operation(0)
        guard case .expression(let subject) = left, let op = FormatWords.comparison(token) else {
            guard modifier == .direct else { throw unexpected("a comparison operator", among: FormatWords.comparing) }
            return left
        }
        advance()
        let options = try comparisonOptions()
        let right = try operation(0)
        let result = Predicate.comparison(
            Comparison(subject, op, try expression(right), modifier: modifier, options: options))
        return .predicate(isNone ? .not(result) : result)
    }

    private mutating func comparisonOptions() throws(PredicateError) -> Comparison.Options {
        guard consume("[") else { return [] }
        guard case .word(let letters) = token else { throw unexpected("the options c, d, n or l") }
        var options: Comparison.Options = []
        for letter in letters.lowercased() {
            switch letter {
            case "c": options.insert(.caseInsensitive)
            case "d": options.insert(.diacriticInsensitive)
            case "n": options.insert(.normalized)
            case "l": options.insert(.localeSensitive)
            default: throw PredicateError("“\(letter)” is no option; c, d, n and l are.", position: position)
            }
        }
        advance()
        try expect("]")
        return options
    }

    // MARK: Arithmetic

    /// Shrinks with the depth, so that chains inside brackets inside chains stay a tree that a stack can walk.
    var longestChain: Int { max(4, FormatParser.deepest / (depth + 1)) }

    mutating func operation(_ level: Int) throws(PredicateError) -> Node {
        guard level < FormatWords.levels.count else { return try unary() }
        if level == 0, case .variable(let name) = token, following == .symbol(":=") { return try assignment(of: name) }
        var node = try operation(level + 1)
        var length = 0
        while let function = function(at: level) {
            length += 1
            // A chain leans to the left, so its length is the depth of its tree.
            guard length <= longestChain else {
                throw PredicateError("More than \(longestChain) operators in a row at this depth.", position: position)
            }
            let left = try expression(node)
            advance()
            let right = try operation(level + 1)
            node = .expression(.function(function, [left, try expression(right)]))
        }
        return node
    }

    /// The function of the operator that stands here, if it is one of a level.
    private func function(at level: Int) -> String? {
        switch token {
        case .symbol(let symbol): FormatWords.levels[level][symbol]
        case .word(let word) where level == 0: FormatWords.setOperation(word)
        case .word, .escapedWord, .atWord, .variable, .integer, .real, .text, .placeholder, .end: nil
        }
    }

    private mutating func assignment(of name: String) throws(PredicateError) -> Node {
        advance()
        advance()
        let node = try nested { parser throws(PredicateError) in try parser.operation(0) }
        return .expression(.function(":=", [.variable(name), try expression(node)]))
    }

    /// Whether the digits here are those of the least whole number, which are a real number without the sign.
    private var isLeastWithoutSign: Bool {
        guard token == .real(0x1p63) else { return false }
        let digits = source.unicodeScalars.dropFirst(position).prefix {
            $0.isASCII && $0.properties.isAlphabetic || "0123456789.".unicodeScalars.contains($0)
        }
        return String(String.UnicodeScalarView(digits)) == "9223372036854775808"
    }

    private mutating func unary() throws(PredicateError) -> Node {
        guard token == .symbol("-") || token == .symbol("~") else { return try postfix() }
        let isMinus = consume("-")
        if !isMinus { advance() }
        if isMinus, isLeastWithoutSign {
            advance()
            return .expression(.constant(.int(.min)))
        }
        let node = try nested { parser throws(PredicateError) in try parser.unary() }
        let operand = try expression(node)
        guard isMinus else { return .expression(.function("onesComplement:", [operand])) }
        switch operand {
        case .constant(.int(let value)) where value != .min: return .expression(.constant(.int(-value)))
        case .constant(.double(let value)): return .expression(.constant(.double(-value)))
        case .constant, .list, .this, .keyPath, .variable, .function, .subquery, .conditional:
            return .expression(.function("from:subtract:", [.constant(.int(0)), operand]))
        }
    }
}
