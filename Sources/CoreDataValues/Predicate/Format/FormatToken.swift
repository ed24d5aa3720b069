// The words of the predicate format language.

/// One word of a format text.
enum FormatToken: Hashable {
    /// A name or keyword as written; function names keep their colons.
    case word(String)
    /// `#name`: a name even when it is a reserved word.
    case escapedWord(String)
    /// `@count`, with the sign.
    case atWord(String)
    case variable(String)
    case integer(Int64)
    case real(Double)
    case text(String)
    /// `%@`, `%K`, `%d` …: the letter of the conversion, and the number in `%1$@`.
    case placeholder(Character, position: Int?)
    case symbol(String)
    case end
}

extension FormatToken {
    /// How it stands in the text, for a sentence.
    var written: String {
        switch self {
        case .word(let word), .atWord(let word): "“\(word.shortened())”"
        case .escapedWord(let word): "“#\(word.shortened())”"
        case .variable(let name): "“$\(name.shortened())”"
        case .integer(let number): "“\(number)”"
        case .real(let number): "“\(number)”"
        case .text(let text): "the text “\(text.shortened(to: 40))”"
        case .placeholder(let letter, _): "“%\(letter)”"
        case .symbol(let symbol): "“\(symbol)”"
        case .end: "the end"
        }
    }
}

/// Cuts a format text into words. Linear in its length; never fails but by throwing.
struct FormatScanner {
    private let scalars: [Unicode.Scalar]
    private(set) var position = 0

    init(_ text: String) { scalars = Array(text.unicodeScalars) }

    /// All words with their positions, closed by `.end`.
    mutating func scan() throws(PredicateError) -> [(token: FormatToken, position: Int)] {
        var tokens: [(token: FormatToken, position: Int)] = []
        while true {
            while let scalar = peek(), scalar.properties.isWhitespace { position += 1 }
            let start = position
            let token = try next()
            tokens.append((token, start))
            if token == .end { return tokens }
        }
    }

    private func peek(_ offset: Int = 0) -> Unicode.Scalar? {
        position + offset < scalars.count ? scalars[position + offset] : nil
    }

    private mutating func next() throws(PredicateError) -> FormatToken {
        guard let first = peek() else { return .end }
        if isDigit(first) || (first == "." && peek(1).map(isDigit) == true) { return try number() }
        if isWordStart(first) { return .word(word(withColons: true)) }
        switch first {
        case "'", "\"": return .text(try text(first))
        case "#":
            if let quote = peek(1), quote == "\"" || quote == "'" {
                position += 1
                return .escapedWord(try text(quote))
            }
            return .escapedWord(try name(after: "#"))
        case "@":
            if peek(1) == "\"" || peek(1) == "'" {
                throw PredicateError("A text has no @ before its quotes; leave it out.", position: position)
            }
            return .atWord("@" + (try name(after: "@")))
        case "$": return .variable(try name(after: "$"))
        case "%": return try placeholder()
        default: return try symbol(first)
        }
    }

    private func isDigit(_ scalar: Unicode.Scalar) -> Bool { ("0"..."9").contains(scalar) }
    private func isWordStart(_ scalar: Unicode.Scalar) -> Bool { FormatWords.isStart(scalar) }
    private func isWordPart(_ scalar: Unicode.Scalar) -> Bool { FormatWords.isPart(scalar) }

    private mutating func word(withColons: Bool) -> String {
        var result = String.UnicodeScalarView()
        while let scalar = peek() {
            if withColons, scalar == ":", peek(1) != "=" {
                result.append(scalar)
            } else if isWordPart(scalar) {
                result.append(scalar)
            } else {
                break
            }
            position += 1
        }
        return String(result)
    }

    private mutating func name(after sign: String) throws(PredicateError) -> String {
        position += 1
        guard let first = peek(), isWordStart(first) else {
            throw PredicateError("A name is missing after “\(sign)”.", position: position)
        }
        return word(withColons: false)
    }

    private mutating func text(_ quote: Unicode.Scalar) throws(PredicateError) -> String {
        let start = position
        position += 1
        var result = String.UnicodeScalarView()
        while let scalar = peek() {
            position += 1
            if scalar == quote { return String(result) }
            if scalar != "\\" {
                result.append(scalar)
            } else if let escaped = peek() {
                position += 1
                switch escaped {
                case "n": result.append("\n")
                case "t": result.append("\t")
                case "r": result.append("\r")
                case "\\", "'", "\"": result.append(escaped)
                default: result.append(contentsOf: ["\\", escaped])
                }
            }
        }
        throw PredicateError("The text that opens here has no closing \(quote).", position: start)
    }

    private mutating func number() throws(PredicateError) -> FormatToken {
        let start = position
        if peek() == "0", let mark = peek(1), let radix = ["x": 16, "o": 8, "b": 2][mark.properties.lowercaseMapping] {
            position += 2
            let digits = word(withColons: false)
            guard let value = Int64(digits, radix: radix) else {
                throw PredicateError("“0\(mark)\(digits.shortened())” is not a number of 64 bits.", position: start)
            }
            return .integer(value)
        }
        var isReal = false
        while let scalar = peek() {
            if scalar == "." {
                guard !isReal, peek(1).map(isDigit) == true else { break }
                isReal = true
            } else if scalar == "e" || scalar == "E" {
                let sign = peek(1) == "+" || peek(1) == "-" ? 2 : 1
                guard peek(sign).map(isDigit) == true else { break }
                isReal = true
                position += sign
            } else if !isDigit(scalar) {
                break
            }
            position += 1
        }
        let digits = String(String.UnicodeScalarView(scalars[start..<position]))
        if !isReal, let value = Int64(digits) { return .integer(value) }
        guard let value = Double(digits.hasPrefix(".") ? "0" + digits : digits) else {
            throw PredicateError("“\(digits.shortened())” is not a number.", position: start)
        }
        return .real(value)
    }

    /// Flags, width, precision and length say how a number is printed or passed, which does not matter here.
    private mutating func placeholder() throws(PredicateError) -> FormatToken {
        let start = position
        position += 1
        var digits = ""
        var place: Int?
        while let scalar = peek() {
            position += 1
            if isDigit(scalar) {
                digits.unicodeScalars.append(scalar)
            } else if scalar == "$", let number = Int(digits), number > 0 {
                place = number
            } else if "@KdDiuUxXoOfFeEgGaAcCsSp".unicodeScalars.contains(scalar) {
                return .placeholder(Character(scalar), position: place)
            } else if !"hlqzjtL.+- #".unicodeScalars.contains(scalar) {
                break
            }
        }
        throw PredicateError("“%” opens no placeholder; a per cent sign belongs in quotes.", position: start)
    }

    private mutating func symbol(_ first: Unicode.Scalar) throws(PredicateError) -> FormatToken {
        let pair = String(first) + (peek(1).map { String($0) } ?? "")
        if ["==", "!=", "<>", ">=", "=>", "<=", "=<", "&&", "||", "**", "<<", ">>", ":="].contains(pair) {
            position += 2
            return .symbol(pair)
        }
        guard "=<>!(){}[],.+-*/&|^~".unicodeScalars.contains(first) else {
            let hint = FormatWords.written[first].map { "; write \($0)" } ?? ""
            throw PredicateError("The character “\(first)” has no meaning here\(hint).", position: position)
        }
        position += 1
        return .symbol(String(first))
    }
}
