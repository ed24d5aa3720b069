// The patterns of LIKE and MATCHES.

import Foundation

/// A pattern of `LIKE`: `?` is one character (one Unicode scalar), `*` any run, a backslash takes the next character
/// literally. Matching needs no memory and, in the worst case, the product of both lengths.
package struct LikePattern: Sendable, Hashable {
    private enum Part: Sendable, Hashable {
        case one
        case run
        case scalar(Unicode.Scalar)
    }
    private let parts: [Part]
    private let options: Comparison.Options

    package init(_ pattern: String, options: Comparison.Options = []) {
        self.options = options
        var parts: [Part] = []
        var isEscaped = false
        for scalar in TextComparison.fold(pattern, options: options).unicodeScalars {
            if isEscaped {
                parts.append(.scalar(scalar))
                isEscaped = false
            } else if scalar == "\\" {
                isEscaped = true
            } else if scalar == "*" {
                // Two runs in a row mean the same as one and would only cost time.
                if parts.last != .run { parts.append(.run) }
            } else {
                parts.append(scalar == "?" ? .one : .scalar(scalar))
            }
        }
        if isEscaped { parts.append(.scalar("\\")) }
        self.parts = parts
    }

    /// Whether the whole text fits.
    package func matches(_ text: String) -> Bool {
        let scalars = TextComparison.fold(text, options: options).unicodeScalars
        var index = scalars.startIndex
        var part = 0
        var retry: (part: Int, index: String.UnicodeScalarView.Index)?
        while index < scalars.endIndex {
            if part < parts.count, parts[part] == .run {
                retry = (part + 1, index)
                part += 1
            } else if part < parts.count, fits(parts[part], scalars[index]) {
                part += 1
                index = scalars.index(after: index)
            } else if let (restart, last) = retry {
                index = scalars.index(after: last)
                retry = (restart, index)
                part = restart
            } else {
                return false
            }
        }
        return parts[part...].allSatisfy { $0 == .run }
    }

    private func fits(_ part: Part, _ scalar: Unicode.Scalar) -> Bool {
        switch part {
        case .one, .run: true
        case .scalar(let wanted): wanted == scalar
        }
    }
}

/// A pattern of `MATCHES`: an ICU regular expression that must cover the whole text.
package struct RegularPattern: @unchecked Sendable {
    // NSRegularExpression is immutable and documented as safe on any thread.
    private let expression: NSRegularExpression
    private let options: Comparison.Options

    /// - Throws: `PredicateError` when the pattern is no regular expression.
    package init(_ pattern: String, options: Comparison.Options = []) throws(PredicateError) {
        // Case is the expression's business, so that classes such as \\S keep their meaning.
        self.options = options.subtracting(.caseInsensitive)
        let folded = TextComparison.fold(pattern, options: self.options)
        let isCaseless = options.contains(.caseInsensitive) && !options.contains(.normalized)
        let expression = { (pattern: String) in
            try? NSRegularExpression(pattern: pattern, options: isCaseless ? [.caseInsensitive] : [])
        }
        let whole = { (end: String) in expression("\\A(?:" + folded + end + ")\\z") }
        var found = whole("")
        // Read by itself too where its brackets may have met ours: `a)|(?:b` is none. A comment of `(?x)` and a text after `\Q` go on to the
        // end, where our bracket is.
        if found == nil || folded.utf8.contains(UInt8(ascii: ")")) {
            found = expression(folded).flatMap { _ in found ?? whole("\n") ?? whole("\\E") }
        }
        guard let found else { throw PredicateError("MATCHES: “\(pattern)” is not a regular expression.") }
        self.expression = found
    }

    package func matches(_ text: String) -> Bool {
        let folded = TextComparison.fold(text, options: options)
        return expression.firstMatch(in: folded, range: NSRange(location: 0, length: folded.utf16.count)) != nil
    }
}
