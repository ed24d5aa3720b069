// Reads operands: literals, key paths, functions, sub-queries.

extension FormatParser {
    mutating func postfix() throws(PredicateError) -> Node {
        var node = try primary()
        var steps = 0
        while token == .symbol(".") || token == .symbol("[") {
            steps += 1
            // The longest key path there is; each index nests the tree by one.
            guard steps <= longestChain else {
                throw PredicateError("The key path has more than \(longestChain) steps.", position: position)
            }
            let target = try expression(node)
            if consume(".") {
                if case .variable(let name) = token {
                    advance()
                    node = .expression(.function("valueForKeyPath:", [target, .variable(name)]))
                } else {
                    node = .expression(extend(target, try component()))
                }
            } else {
                advance()
                let index = try self.index()
                try expect("]")
                node = .expression(.function("objectFrom:withIndex:", [target, index]))
            }
        }
        return node
    }

    /// A key path of `SELF` is one list of keys; of anything else, a function of the target.
    private func extend(_ target: Expression, _ keys: [String]) -> Expression {
        switch target {
        case .this: .keyPath(keys)
        case .keyPath(let path): .keyPath(path + keys)
        case .function("valueForKeyPath:", let arguments):
            if arguments.count == 2, case .keyPath(let path) = arguments[1] {
                .function("valueForKeyPath:", [arguments[0], .keyPath(path + keys)])
            } else {
                .function("valueForKeyPath:", [target, .keyPath(keys)])
            }
        case .constant, .list, .variable, .function, .subquery, .conditional:
            .function("valueForKeyPath:", [target, .keyPath(keys)])
        }
    }

    private mutating func component() throws(PredicateError) -> [String] {
        switch token {
        case .word(let name), .escapedWord(let name), .atWord(let name):
            advance()
            return [name]
        case .placeholder(let letter, let place):
            guard case .keyPath(let path) = try argument(letter, place) else { throw unexpected("“%K”") }
            advance()
            return path.keys
        case .variable, .integer, .real, .text, .symbol, .end: throw unexpected("a key")
        }
    }

    private mutating func index() throws(PredicateError) -> Expression {
        for word in ["FIRST", "LAST", "SIZE"] where consume(word: word) { return .function(word, []) }
        let node = try nested { parser throws(PredicateError) in try parser.operation(0) }
        return try expression(node)
    }

    private mutating func primary() throws(PredicateError) -> Node {
        let current = token
        switch current {
        case .integer(let value): return constant(.int(value))
        case .real(let value): return constant(.double(value))
        case .text(let text): return constant(.text(text))
        case .variable(let name):
            advance()
            return .expression(.variable(name))
        case .escapedWord(let name), .atWord(let name):
            advance()
            return .expression(.keyPath([name]))
        case .placeholder(let letter, let place): return try placeholder(letter, place)
        case .word(let word): return try self.word(word)
        case .symbol("("): return try parenthesis()
        case .symbol("{"):
            advance()
            return .expression(.list(try items(until: "}")))
        case .symbol, .end: throw unexpected("a value")
        }
    }

    private mutating func constant(_ value: Value) -> Node {
        advance()
        return .expression(.constant(value))
    }

    private mutating func placeholder(_ letter: Character, _ place: Int?) throws(PredicateError) -> Node {
        let argument = try argument(letter, place)
        advance()
        switch argument {
        case .expression(let expression): return .expression(expression)
        case .keyPath(let path):
            // Elsewhere a key that a user chose would ask for a value that nobody has.
            if path.hasPrefix("$"), variables.contains(String(path.dropFirst())) {
                return .expression(.variable(String(path.dropFirst())))
            }
            // As Apple does, a key path may name the object itself.
            if path.lowercased() == "self" { return .expression(.this) }
            return .expression(.keyPath(path.keys))
        }
    }

    /// `(condition)`, `(value)` or a list in round brackets.
    private mutating func parenthesis() throws(PredicateError) -> Node {
        advance()
        if consume(")") { return .expression(.list([])) }
        let inner = try nested { parser throws(PredicateError) in try parser.disjunction() }
        if consume(")") { return inner }
        guard consume(",") else { throw unexpected("“)”") }
        let first = try expression(inner)
        return .expression(.list([first] + (try items(until: ")"))))
    }

    /// Values between commas, up to the closing bracket.
    private mutating func items(until closing: String) throws(PredicateError) -> [Expression] {
        var result: [Expression] = []
        if consume(closing) { return result }
        repeat {
            let node = try nested { parser throws(PredicateError) in try parser.operation(0) }
            result.append(try expression(node))
        } while consume(",")
        try expect(closing)
        return result
    }

    private mutating func word(_ word: String) throws(PredicateError) -> Node {
        let upper = word.asciiUppercased
        switch upper {
        case "SELF":
            advance()
            return .expression(.this)
        case "NULL", "NIL": return constant(.null)
        case "TRUE", "YES": return constant(.bool(true))
        case "FALSE", "NO": return constant(.bool(false))
        case "SUBQUERY" where following == .symbol("("): return try subquery()
        case "FUNCTION" where following == .symbol("("), "CAST" where following == .symbol("("):
            return try named(upper)
        case "TERNARY" where following == .symbol("("): return try ternary()
        case "FETCH" where following == .symbol("("): return try fetch()
        case "ANYKEY":
            advance()
            return .expression(.function(upper, []))
        case "FIRST", "LAST", "SIZE": break
        default:
            if FormatWords.reserved.contains(upper) {
                throw PredicateError(
                    "“\(word)” is a reserved word; write #\(word) to use it as a key.", position: position)
            }
        }
        guard following == .symbol("(") else {
            advance()
            return .expression(.keyPath([word]))
        }
        guard let name = PredicateFunctions.fullName(word) else {
            throw PredicateError(
                "There is no function “\(word.shortened())”\(Spelling.hint(word, among: PredicateFunctions.names)).",
                position: position)
        }
        advance()
        advance()
        return .expression(.function(name, try items(until: ")")))
    }

    private mutating func named(_ keyword: String) throws(PredicateError) -> Node {
        let start = position
        advance()
        advance()
        let items = try items(until: ")")
        guard items.count >= 2, case .constant(.text(let name)) = items[1] else {
            throw PredicateError("\(keyword) needs a value and a text.", position: start)
        }
        guard keyword == "CAST" else { return .expression(.function("FUNCTION", items)) }
        guard items.count == 2 else { throw PredicateError("CAST takes two arguments.", position: start) }
        if case .constant(let value) = items[0], let result = Casting.cast(value, to: name) {
            return .expression(.constant(result))
        }
        return .expression(.function("castObject:toType:", items))
    }

    /// `TERNARY(condition, value, value)`
    private mutating func ternary() throws(PredicateError) -> Node {
        advance()
        advance()
        let test = try nested { parser throws(PredicateError) in try parser.disjunction() }
        let condition = try predicate(test)
        try expect(",")
        let first = try nested { parser throws(PredicateError) in try parser.operation(0) }
        let value = try expression(first)
        try expect(",")
        let second = try nested { parser throws(PredicateError) in try parser.operation(0) }
        let other = try expression(second)
        try expect(")")
        return .expression(.conditional(condition, value, other))
    }

    /// `FETCH(request, context, YES)`
    private mutating func fetch() throws(PredicateError) -> Node {
        let start = position
        advance()
        advance()
        var items = try items(until: ")")
        guard items.count == 3, case .constant(let flag) = items[2],
            flag == .bool(true) || flag == .bool(false) || flag == .int(0) || flag == .int(1)
        else {
            throw PredicateError(
                "FETCH needs a request, a context, and YES for a count or NO for objects.", position: start)
        }
        items[2] = .constant(.bool(flag == .bool(true) || flag == .int(1)))
        return .expression(.function("FETCH", items))
    }

    private mutating func subquery() throws(PredicateError) -> Node {
        advance()
        advance()
        let node = try nested { parser throws(PredicateError) in try parser.operation(0) }
        let collection = try expression(node)
        try expect(",")
        let variable: String
        switch token {
        case .variable(let name): variable = name
        case .placeholder(let letter, let place):
            guard case .keyPath(let name) = try argument(letter, place) else { throw unexpected("a $variable") }
            variable = name.hasPrefix("$") ? String(name.dropFirst()) : name
        case .word, .escapedWord, .atWord, .integer, .real, .text, .symbol, .end: throw unexpected("a $variable")
        }
        advance()
        try expect(",")
        variables.append(variable)
        let condition = try nested { parser throws(PredicateError) in try parser.disjunction() }
        variables.removeLast()
        let predicate = try predicate(condition)
        try expect(")")
        return .expression(.subquery(collection: collection, variable: variable, predicate: predicate))
    }
}

extension String {
    /// The keys of a dotted key path.
    package var keys: [String] { split(separator: ".", omittingEmptySubsequences: false).map(String.init) }
}
