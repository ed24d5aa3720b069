// Predicates and expressions in the archives of Apple's classes.

import Foundation

/// Reads archived predicates and expressions as values.
///
/// Follows no more than 100,000 objects and 200 levels, so that no archive makes it go on without end.
package struct ArchivedExpressions {
    private var left = 100_000
    private var depth = 0
    private static let deepest = 200

    package init() {}

    /// - Throws: for what is no predicate that can be said in words.
    package mutating func predicate(_ object: ArchivedObject) throws(ArchiveError) -> Predicate {
        try enter(object)
        defer { depth -= 1 }
        switch object.className {
        case "NSTruePredicate": return .constant(true)
        case "NSFalsePredicate": return .constant(false)
        case "NSCompoundPredicate":
            var parts: [Predicate] = []
            for part in object["NSSubpredicates"]?.members ?? [] { parts.append(try predicate(part)) }
            switch object.integer("NSCompoundPredicateType") {
            case 0 where parts.count == 1: return .not(parts[0])
            case 1: return .and(parts)
            case 2: return .or(parts)
            default: throw unknown(object)
            }
        case "NSComparisonPredicate": return .comparison(try comparison(object))
        default: throw unknown(object)
        }
    }

    private mutating func comparison(_ object: ArchivedObject) throws(ArchiveError) -> Comparison {
        guard let left = object["NSLeftExpression"], let right = object["NSRightExpression"],
            let rule = object["NSPredicateOperator"],
            let op = Self.operators[rule.integer("NSOperatorType") ?? -1]
        else { throw unknown(object) }
        let options = rule.integer("NSOptions") ?? rule.integer("NSFlags") ?? 0
        let modifier: Comparison.Modifier =
            switch rule.integer("NSModifier") {
            case 1: .all
            case 2: .any
            default: .direct
            }
        return Comparison(
            try expression(left), op, try expression(right), modifier: modifier,
            options: Comparison.Options(rawValue: UInt8(truncatingIfNeeded: options & 15)))
    }

    private static let operators: [Int64: Comparison.Operator] = [
        0: .less, 1: .lessOrEqual, 2: .greater, 3: .greaterOrEqual, 4: .equal, 5: .notEqual, 6: .matches, 7: .like,
        8: .beginsWith,
        9: .endsWith, 10: .in, 99: .contains, 100: .between,
    ]

    /// - Throws: for what is no expression that can be said in words.
    package mutating func expression(_ object: ArchivedObject) throws(ArchiveError) -> Expression {
        try enter(object)
        defer { depth -= 1 }
        switch object.className {
        case "NSConstantValueExpression":
            guard let value = object["NSConstantValue"] else { return .constant(.null) }
            return try constant(value)
        case "NSSelfExpression": return .this
        case "NSVariableExpression":
            guard let name = object.text("NSVariable") else { throw unknown(object) }
            return .variable(name)
        case "NSKeyPathSpecifierExpression": return .keyPath(try path(object))
        case "NSKeyPathExpression":
            guard let last = object["NSArguments"]?.members.first else { throw unknown(object) }
            let path = try path(last)
            guard let operand = object["NSOperand"], operand.className != "NSSelfExpression" else {
                return .keyPath(path)
            }
            return .function("valueForKeyPath:", [try expression(operand), .keyPath(path)])
        case "NSFunctionExpression", "NSSymbolicExpression": return try function(object)
        case "NSAggregateExpression": return .list(try expressions(object["NSCollection"]))
        case "NSSubqueryExpression":
            guard let collection = object["NSCollection"], let variable = object["NSVariableExpression"],
                let condition = object["NSPredicate"]
            else { throw unknown(object) }
            return .subquery(
                collection: try expression(collection), variable: variable.text("NSVariable") ?? variable.text ?? "x",
                predicate: try predicate(condition))
        case "NSTernaryExpression":
            guard let condition = object["NSPredicate"], let first = object["NSTrueExpression"],
                let second = object["NSFalseExpression"]
            else { throw unknown(object) }
            return .conditional(try predicate(condition), try expression(first), try expression(second))
        case "NSFetchRequestExpression":
            guard let request = object["NSRequest"] ?? object["NSFetchRequest"],
                let context = object["NSContext"] ?? object["NSManagedObjectContext"]
            else { throw unknown(object) }
            return .function(
                "FETCH",
                [
                    try expression(request), try expression(context),
                    .constant(.bool(object.bool("NSCountOnly") ?? false)),
                ])
        default: throw unknown(object)
        }
    }

    private mutating func expressions(_ list: ArchivedObject?) throws(ArchiveError) -> [Expression] {
        var items: [Expression] = []
        for item in list?.members ?? [] { items.append(try expression(item)) }
        return items
    }

    /// A function of the language, or a method of the operand.
    private mutating func function(_ object: ArchivedObject) throws(ArchiveError) -> Expression {
        guard let name = object.text("NSSelectorName") else { throw unknown(object) }
        let arguments = try expressions(object["NSArguments"])
        guard let operand = object["NSOperand"] else { throw unknown(object) }
        if operand.text("NSConstantValueClassName") == "_NSPredicateUtilities" { return .function(name, arguments) }
        return .function("FUNCTION", [try expression(operand), .constant(.text(name))] + arguments)
    }

    private func path(_ object: ArchivedObject) throws(ArchiveError) -> [String] {
        guard let path = object.text("NSKeyPath") ?? object["NSConstantValue"]?.text else { throw unknown(object) }
        return path.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    }

    private mutating func constant(_ object: ArchivedObject) throws(ArchiveError) -> Expression {
        if let value = object.value { return .constant(value) }
        if object.className == "NSNull" { return .constant(.null) }
        guard ["NSArray", "NSMutableArray", "NSSet", "NSMutableSet"].contains(object.className ?? "") else {
            throw unknown(object)
        }
        var items: [Expression] = []
        for member in object.members {
            try enter(member)
            defer { depth -= 1 }
            items.append(
                member.className?.hasSuffix("Expression") == true ? try expression(member) : try constant(member))
        }
        return .list(items)
    }

    private mutating func enter(_ object: ArchivedObject) throws(ArchiveError) {
        left -= 1
        depth += 1
        guard left > 0, depth <= Self.deepest else {
            throw ArchiveError("An archived expression holds too much, or itself.")
        }
    }

    private func unknown(_ object: ArchivedObject) -> ArchiveError {
        ArchiveError(
            "An object of the class \(object.className ?? "of a plain value") cannot be read as a part of an expression."
        )
    }
}
