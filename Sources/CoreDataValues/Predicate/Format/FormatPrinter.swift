// Writes a tree in the format language, as Apple's `predicateFormat` does.

import Foundation

/// Prints predicates. What it prints can be read again and prints the same, except for object keys, which have no literal.
package struct FormatPrinter {
    /// What to write for a variable; nil for `$name`.
    private let variable: (String) -> String?

    package init(variable: @escaping (String) -> String? = { _ in nil }) { self.variable = variable }

    package func text(_ predicate: Predicate) -> String {
        switch predicate {
        case .constant(let flag): flag ? "TRUEPREDICATE" : "FALSEPREDICATE"
        case .comparison(let comparison): text(comparison)
        case .and(let parts): compound(parts, " AND ", empty: "TRUEPREDICATE")
        case .or(let parts): compound(parts, " OR ", empty: "FALSEPREDICATE")
        case .not(let part): "NOT " + enclosed(part)
        }
    }

    private func compound(_ parts: [Predicate], _ word: String, empty: String) -> String {
        parts.isEmpty ? empty : parts.map(enclosed).joined(separator: word)
    }

    private func enclosed(_ predicate: Predicate) -> String {
        switch predicate {
        case .constant, .comparison, .not: text(predicate)
        case .and(let parts), .or(let parts): parts.count > 1 ? "(" + text(predicate) + ")" : text(predicate)
        }
    }

    private func text(_ comparison: Comparison) -> String {
        let modifier =
            switch comparison.modifier {
            case .direct: ""
            case .any: "ANY "
            case .all: "ALL "
            }
        return modifier + text(comparison.left) + " " + word(comparison.op) + letters(comparison.options) + " "
            + text(comparison.right)
    }

    private func word(_ op: Comparison.Operator) -> String {
        switch op {
        case .equal: "=="
        case .notEqual: "!="
        case .less: "<"
        case .lessOrEqual: "<="
        case .greater: ">"
        case .greaterOrEqual: ">="
        case .between: "BETWEEN"
        case .in: "IN"
        case .contains: "CONTAINS"
        case .beginsWith: "BEGINSWITH"
        case .endsWith: "ENDSWITH"
        case .like: "LIKE"
        case .matches: "MATCHES"
        }
    }

    private func letters(_ options: Comparison.Options) -> String {
        var letters = ""
        if options.contains(.caseInsensitive) { letters += "c" }
        if options.contains(.diacriticInsensitive) { letters += "d" }
        if options.contains(.normalized) { letters += "n" }
        if options.contains(.localeSensitive) { letters += "l" }
        return letters.isEmpty ? "" : "[" + letters + "]"
    }

    // MARK: Expressions

    package func text(_ expression: Expression) -> String {
        switch expression {
        case .constant(let value): FormatPrinter.text(value)
        case .list(let items): "{" + list(items) + "}"
        case .this: "SELF"
        case .keyPath(let path): keyPath(path)
        case .variable(let name): variable(name) ?? "$" + name
        case .function(let name, let arguments): function(name, arguments)
        case .subquery(let collection, let variable, let predicate):
            "SUBQUERY(\(text(collection)), $\(variable), \(text(predicate)))"
        case .conditional(let condition, let first, let second):
            "TERNARY(\(text(condition)), \(text(first)), \(text(second)))"
        }
    }

    private func list(_ items: [Expression]) -> String { items.map(text).joined(separator: ", ") }

    private func keyPath(_ path: [String], isWhole: Bool = true) -> String {
        path.enumerated().map { FormatWords.written(key: $1, isFirst: $0 == 0 && isWhole) }.joined(separator: ".")
    }

    private func function(_ name: String, _ arguments: [Expression]) -> String {
        if let sign = PredicateFunctions.infix[name], arguments.count == 2 {
            return operand(arguments[0]) + " " + sign + " " + operand(arguments[1])
        }
        switch (name, arguments.count) {
        case ("valueForKeyPath:", 2):
            if case .keyPath(let path) = arguments[1] {
                return operand(arguments[0]) + "." + keyPath(path, isWhole: false)
            }
            if case .variable = arguments[1] { return operand(arguments[0]) + "." + text(arguments[1]) }
        case ("objectFrom:withIndex:", 2): return operand(arguments[0]) + "[" + text(arguments[1]) + "]"
        case ("castObject:toType:", 2): return "CAST(" + list(arguments) + ")"
        case ("FUNCTION", 2...):
            let rest = arguments.dropFirst(2).map { " , " + text($0) }.joined()
            return "FUNCTION(" + list(Array(arguments.prefix(2))) + rest + ")"
        case ("FIRST", 0), ("LAST", 0), ("SIZE", 0), ("ANYKEY", 0): return name
        case (":=", 2): return text(arguments[0]) + " := " + operand(arguments[1])
        case ("FETCH", 3):
            let isCount = arguments[2] == .constant(.bool(true)) || arguments[2] == .constant(.int(1))
            return "FETCH(\(list(Array(arguments.prefix(2)))), \(isCount ? "YES" : "NO"))"
        case (_, _): break
        }
        return name + "(" + list(arguments) + ")"
    }

    /// Calculations inside calculations are put in brackets.
    private func operand(_ expression: Expression) -> String {
        guard case .function(let name, let arguments) = expression, arguments.count == 2,
            PredicateFunctions.infix[name] != nil
        else { return text(expression) }
        return "(" + text(expression) + ")"
    }

    // MARK: Constants

    package static func text(_ value: Value) -> String {
        switch value {
        case .null: "nil"
        case .bool(let flag): flag ? "1" : "0"
        case .int(let int): String(int)
        case .double(let double): double.isFinite ? String(double) : "CAST(\"\(double)\", \"NSNumber\")"
        case .decimal(let decimal): decimal.isNaN ? "CAST(\"nan\", \"NSNumber\")" : decimal.description
        case .text(let text): quoted(text)
        case .date(let seconds):
            seconds.isFinite
                ? "CAST(\(FormatPrinter.seconds(seconds)), \"NSDate\")"
                : "CAST(CAST(\"\(seconds)\", \"NSNumber\"), \"NSDate\")"
        case .data(let data): "CAST(\"\(data.base64EncodedString())\", \"NSData\")"
        case .uuid(let uuid): "CAST(\"\(uuid.uuidString)\", \"NSUUID\")"
        case .uri(let uri): "CAST(\(quoted(uri)), \"NSURL\")"
        case .key(let key): "<object \(key.store)/\(key.entity.rawValue)/\(key.number)>"
        }
    }

    /// With six places, as Apple prints dates, where that is the same number.
    private static func seconds(_ number: Double) -> String {
        let short = String(format: "%.6f", number)
        return Double(short) == number ? short : "\(number)"
    }

    static func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\t": result += "\\t"
            case "\r": result += "\\r"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }
}

extension Predicate {
    /// The predicate in the format language.
    package var predicateFormat: String { FormatPrinter().text(self) }
}
