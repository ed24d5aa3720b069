// A pattern of SQL's `LIKE`.

import CoreDataFoundation
import CoreDataValues
import Foundation

/// A pattern of SQL's `LIKE`, read by scalars, as predicates compare.
struct SQLPattern {
    private enum Part: Equatable {
        case text(Unicode.Scalar)
        case one, any
    }
    private var parts: [Part] = []

    init(_ pattern: String) {
        var isEscaped = false
        for scalar in pattern.unicodeScalars {
            switch scalar {
            case _ where isEscaped:
                // Before any other character a backslash stands for itself.
                if !"%_\\".unicodeScalars.contains(scalar) { parts.append(.text("\\")) }
                parts.append(.text(scalar))
                isEscaped = false
            case "\\": isEscaped = true
            case "%": parts.append(.any)
            case "_": parts.append(.one)
            default: parts.append(.text(scalar))
            }
        }
        if isEscaped { parts.append(.text("\\")) }
    }

    /// `==` for a text without wildcards and `BEGINSWITH` for a beginning, which find by an index; else `LIKE`.
    func predicate(of text: NSExpression, _ options: NSComparisonPredicate.Options) -> NSPredicate {
        if let whole = literal(parts[...]) {
            return .comparing(text, .equalTo, NSExpression(forConstantValue: whole), options)
        }
        if parts.last == .any, let start = literal(parts.dropLast()), !start.isEmpty {
            return .comparing(text, .beginsWith, NSExpression(forConstantValue: start), options)
        }
        return .comparing(text, .like, NSExpression(forConstantValue: pattern), options)
    }

    private func literal(_ parts: ArraySlice<Part>) -> String? {
        var text = String.UnicodeScalarView()
        for part in parts {
            guard case .text(let scalar) = part else { return nil }
            text.append(scalar)
        }
        return String(text)
    }

    /// As `LIKE` of predicates writes it.
    private var pattern: String {
        var pattern = String.UnicodeScalarView()
        for part in parts {
            switch part {
            case .any: pattern.append("*")
            case .one: pattern.append("?")
            case .text(let scalar):
                if "*?\\".unicodeScalars.contains(scalar) { pattern.append("\\") }
                pattern.append(scalar)
            }
        }
        return String(pattern)
    }
}
