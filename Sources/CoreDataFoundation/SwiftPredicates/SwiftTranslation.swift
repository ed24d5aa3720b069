// The walk over a Swift predicate that makes an NSPredicate of it.

import CoreDataValues
import struct CoreDataValues.PredicateError
import Foundation

/// A node of a Swift predicate that has a counterpart.
protocol TranslatedExpression {
    func term(in translation: inout SwiftTranslation) throws(PredicateError) -> PredicateTerm
}

/// One walk, which knows what each variable stands for.
struct SwiftTranslation {
    private var terms: [PredicateExpressions.VariableID: PredicateTerm] = [:]
    /// How many sub-queries are open.
    private var depth = 0

    init(asking variable: PredicateExpressions.VariableID) {
        terms[variable] = .value(NSExpression.expressionForEvaluatedObject())
    }

    mutating func term(_ node: any PredicateExpression) throws(PredicateError) -> PredicateTerm {
        guard let node = node as? any TranslatedExpression else {
            throw PredicateError("“\(node)” has no counterpart among the parts of an NSPredicate.")
        }
        return try node.term(in: &self)
    }

    func term(of variable: PredicateExpressions.VariableID) throws(PredicateError) -> PredicateTerm {
        guard let term = terms[variable] else {
            throw PredicateError("A variable stands in a predicate that does not declare it.")
        }
        return term
    }

    /// A part in which a variable stands for a term.
    mutating func term(
        _ node: any PredicateExpression, where variable: PredicateExpressions.VariableID, is bound: PredicateTerm
    ) throws(PredicateError) -> PredicateTerm {
        let former = terms.updateValue(bound, forKey: variable)
        defer { terms[variable] = former }
        return try term(node)
    }

    /// The members of a collection for which a condition holds.
    mutating func filtered(
        _ collection: NSExpression, _ variable: PredicateExpressions.VariableID, _ test: any PredicateExpression,
        negated: Bool = false
    ) throws(PredicateError) -> NSExpression {
        // A filter of what is filtered is one filter.
        if case .subquery(let whole, let name, let first) = collection.content {
            depth += 1
            defer { depth -= 1 }
            let second = try condition(test, variable, name, negated)
            return NSExpression(
                forSubquery: whole, usingIteratorVariable: name, predicate: NSPredicate.joined(.and, first, second))
        }
        depth += 1
        defer { depth -= 1 }
        let name = depth == 1 ? "x" : "x\(depth)"
        return NSExpression(
            forSubquery: collection, usingIteratorVariable: name,
            predicate: try condition(test, variable, name, negated))
    }

    private mutating func condition(
        _ test: any PredicateExpression, _ variable: PredicateExpressions.VariableID, _ name: String, _ negated: Bool
    ) throws(PredicateError) -> NSPredicate {
        let condition = try term(test, where: variable, is: .value(NSExpression(forVariable: name))).condition()
        return negated ? .not(condition) : condition
    }
}

extension PredicateExpression {
    /// What a part without variables comes to: a captured dictionary's entry, a number calculated of constants.
    var captured: PredicateTerm? {
        guard let value = try? evaluate(PredicateBindings()) else { return nil }
        return PredicateTerm(.constant(value))
    }
}

extension PredicateError {
    static func noCounterpart(_ part: String, _ remedy: String) -> PredicateError {
        PredicateError("\(part) has no counterpart among the parts of an NSPredicate. \(remedy)")
    }
}
