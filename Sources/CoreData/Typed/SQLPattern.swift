// A pattern of SQL's `LIKE`.

import CoreDataFoundation
import CoreDataValues
import Foundation

/// A pattern of SQL's `LIKE`.
struct SQLPattern {
    private enum Part: Equatable {
        case text(Character)
        case one, any
    }
    private var parts: [Part] = []

    init(_ pattern: String) {
        var isEscaped = false
        for character in pattern {
            switch character {
            case _ where isEscaped:
                // Before any other character a backslash stands for itself.
                if !"%_\\".contains(character) { parts.append(.text("\\")) }
                parts.append(.text(character))
                isEscaped = false
            case "\\": isEscaped = true
            case "%": parts.append(.any)
            case "_": parts.append(.one)
            default: parts.append(.text(character))
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
        var text = ""
        for part in parts {
            guard case .text(let character) = part else { return nil }
            text.append(character)
        }
        return text
    }

    /// As `LIKE` of predicates writes it.
    private var pattern: String {
        parts.map { part in
            switch part {
            case .any: "*"
            case .one: "?"
            case .text(let character): "*?\\".contains(character) ? "\\\(character)" : String(character)
            }
        }.joined()
    }
}
