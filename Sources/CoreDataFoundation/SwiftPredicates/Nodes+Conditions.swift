// Comparisons and logic of Swift predicates.

import CoreDataValues
import struct CoreDataValues.PredicateError
import Foundation

extension PredicateExpressions.Conjunction: TranslatedExpression {
    func term(in translation: inout SwiftTranslation) throws(PredicateError) -> PredicateTerm {
        .condition(.joined(.and, try translation.term(lhs).condition(), try translation.term(rhs).condition()))
    }
}

extension PredicateExpressions.Disjunction: TranslatedExpression {
    func term(in translation: inout SwiftTranslation) throws(PredicateError) -> PredicateTerm {
        .condition(.joined(.or, try translation.term(lhs).condition(), try translation.term(rhs).condition()))
    }
}

extension PredicateExpressions.Negation: TranslatedExpression {
    func term(in translation: inout SwiftTranslation) throws(PredicateError) -> PredicateTerm {
        .condition(.not(try translation.term(wrapped).condition()))
    }
}

extension PredicateExpressions.Equal: TranslatedExpression {
    func term(in translation: inout SwiftTranslation) throws(PredicateError) -> PredicateTerm {
        .condition(try PredicateTerm.equal(try translation.term(lhs), try translation.term(rhs)))
    }
}

extension PredicateExpressions.NotEqual: TranslatedExpression {
    func term(in translation: inout SwiftTranslation) throws(PredicateError) -> PredicateTerm {
        .condition(try PredicateTerm.equal(try translation.term(lhs), try translation.term(rhs), isNegated: true))
    }
}

extension PredicateExpressions.Comparison: TranslatedExpression {
    func term(in translation: inout SwiftTranslation) throws(PredicateError) -> PredicateTerm {
        let (left, right) = (try translation.term(lhs), try translation.term(rhs))
        // Where the value is missing, its substitute decides, once and for all rows.
        if case .coalesced(let value, let other) = left.kind, left.guard == nil,
            case .some(.some(let constant)) = right.constant,
            let other = other as? LHS.Output, let constant = constant as? LHS.Output
        {
            let holds = NSPredicate.comparing(value, op.counterpart, try right.expression())
            guard op.holds(other, constant) else { return .condition(holds) }
            return .condition(.joined(.or, .comparing(value, .equalTo, NSExpression(forConstantValue: nil)), holds))
        }
        let holds = NSPredicate.comparing(try left.unguarded(), op.counterpart, try right.unguarded())
        return .condition(.both(.both(left.guard, right.guard), holds) ?? holds)
    }
}

extension PredicateExpressions.ComparisonOperator {
    fileprivate var counterpart: NSComparisonPredicate.Operator {
        switch self {
        case .lessThan: .lessThan
        case .lessThanOrEqual: .lessThanOrEqualTo
        case .greaterThan: .greaterThan
        case .greaterThanOrEqual: .greaterThanOrEqualTo
        @unknown default: .lessThan
        }
    }

    fileprivate func holds<T: Comparable>(_ left: T, _ right: T) -> Bool {
        switch self {
        case .lessThan: left < right
        case .lessThanOrEqual: left <= right
        case .greaterThan: left > right
        case .greaterThanOrEqual: left >= right
        @unknown default: false
        }
    }
}

extension PredicateTerm {
    /// That two terms are equal, nil to nil, or that they are not.
    static func equal(_ left: PredicateTerm, _ right: PredicateTerm, isNegated: Bool = false) throws(PredicateError)
        -> NSPredicate
    {
        // The constant stands on the right.
        if left.constant != nil, right.constant == nil { return try equal(right, left, isNegated: isNegated) }
        if let constant = right.constant {
            guard let constant else { return try missing(left, isNegated: isNegated) }
            return try equal(left, to: constant, isNegated: isNegated)
        }
        return .comparing(try left.expression(), isNegated ? .notEqualTo : .equalTo, try right.expression())
    }

    private static func missing(_ term: PredicateTerm, isNegated: Bool) throws(PredicateError) -> NSPredicate {
        if case .value(let value) = term.kind, term.guard == nil, !value.isNeverNil {
            return .comparing(value, isNegated ? .notEqualTo : .equalTo, NSExpression(forConstantValue: nil))
        }
        let presence = try term.presence() ?? NSPredicate(value: true)
        return isNegated ? presence : .not(presence)
    }

    private static func equal(_ term: PredicateTerm, to constant: Any, isNegated: Bool) throws(PredicateError)
        -> NSPredicate
    {
        let value = NSExpression(captured: constant)
        let holds: NSPredicate
        switch term.kind {
        case .value(let expression):
            if term.guard == nil { return .comparing(expression, isNegated ? .notEqualTo : .equalTo, value) }
            holds = .comparing(expression, .equalTo, value)
        case .coalesced(let expression, let other):
            let isOther = (other as? AnyHashable) == (constant as? AnyHashable)
            let same = NSPredicate.comparing(expression, .equalTo, value)
            holds =
                isOther
                ? .joined(.or, .comparing(expression, .equalTo, NSExpression(forConstantValue: nil)), same) : same
        case .condition(let condition):
            holds = (constant as? Bool) == false ? .not(condition) : condition
        case .order(let left, let right, let options):
            holds = .comparing(left, try order(constant), right, options)
        case .constant, .range: holds = .comparing(try term.unguarded(), .equalTo, value)
        }
        let whole = NSPredicate.both(term.guard, holds) ?? holds
        return isNegated ? .not(whole) : whole
    }

    private static func order(_ constant: Any) throws(PredicateError) -> NSComparisonPredicate.Operator {
        switch constant as? ComparisonResult {
        case .orderedSame: return .equalTo
        case .orderedAscending: return .lessThan
        case .orderedDescending: return .greaterThan
        case nil:
            throw PredicateError(
                "An order of texts is compared with \(constant); compare it with .orderedSame and its like.")
        }
    }
}

extension PredicateExpressions.Conditional: TranslatedExpression {
    func term(in translation: inout SwiftTranslation) throws(PredicateError) -> PredicateTerm {
        let condition = try translation.term(test).condition()
        let (first, second) = (try translation.term(trueBranch), try translation.term(falseBranch))
        guard Output.self == Bool.self else {
            return .value(
                NSExpression(
                    forConditional: condition, trueExpression: try first.expression(),
                    falseExpression: try second.expression()))
        }
        return .condition(
            .joined(
                .or, .joined(.and, condition, try first.condition()),
                .joined(.and, .not(condition), try second.condition())))
    }
}
