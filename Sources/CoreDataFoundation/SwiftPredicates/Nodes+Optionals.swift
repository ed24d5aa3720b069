// Optional chaining, substitutes for nil, and casts.

import CoreDataValues
import struct CoreDataValues.PredicateError
import Foundation

extension PredicateExpressions.OptionalFlatMap: TranslatedExpression {
    func term(in translation: inout SwiftTranslation) throws(PredicateError) -> PredicateTerm {
        let subject = try translation.term(wrapped)
        let inner = PredicateTerm(subject.kind)
        let result = try translation.term(transform, where: variable.key, is: inner)
        if case .value(let whole) = result.kind, case .value(let part) = subject.kind, whole.isNil(with: part) {
            return result.guarded(by: subject.guard)
        }
        return result.guarded(by: try subject.presence())
    }
}

extension PredicateExpressions.NilCoalesce: TranslatedExpression {
    func term(in translation: inout SwiftTranslation) throws(PredicateError) -> PredicateTerm {
        let (first, second) = (try translation.term(lhs), try translation.term(rhs))
        if let constant = first.constant, first.guard == nil { return constant == nil ? second : first }
        guard let presence = try first.presence() else { return first }
        if case .value(let value) = first.kind, first.guard == nil, case .some(.some(let constant)) = second.constant {
            return PredicateTerm(.coalesced(value, constant))
        }
        guard Output.self == Bool.self else {
            return .value(
                NSExpression(
                    forConditional: presence, trueExpression: try first.unguarded(),
                    falseExpression: try second.expression()))
        }
        let (holds, other) = (try first.unguardedCondition(), try second.condition())
        if case .some(.some(let flag)) = second.constant {
            return .condition(
                flag as? Bool == true ? .joined(.or, .not(presence), holds) : .joined(.and, presence, holds))
        }
        return .condition(.joined(.or, .joined(.and, presence, holds), .joined(.and, .not(presence), other)))
    }
}

extension PredicateExpressions.ForcedUnwrap: TranslatedExpression {
    /// What is nil stays nil: no row ends the evaluation.
    func term(in translation: inout SwiftTranslation) throws(PredicateError) -> PredicateTerm {
        try translation.term(inner)
    }
}

extension PredicateExpressions.NilLiteral: TranslatedExpression {
    func term(in translation: inout SwiftTranslation) throws(PredicateError) -> PredicateTerm {
        PredicateTerm(.constant(nil))
    }
}

extension PredicateExpressions.ConditionalCast: TranslatedExpression {
    func term(in translation: inout SwiftTranslation) throws(PredicateError) -> PredicateTerm {
        let term = try translation.term(input)
        if let constant = term.constant { return PredicateTerm(.constant(constant as? Desired)) }
        return term.guarded(by: try term.isOf(Desired.self, from: Input.Output.self))
    }
}

extension PredicateExpressions.ForceCast: TranslatedExpression {
    func term(in translation: inout SwiftTranslation) throws(PredicateError) -> PredicateTerm {
        let term = try translation.term(input)
        _ = try term.isOf(Desired.self, from: Input.Output.self)
        return term
    }
}

extension PredicateExpressions.TypeCheck: TranslatedExpression {
    func term(in translation: inout SwiftTranslation) throws(PredicateError) -> PredicateTerm {
        let term = try translation.term(input)
        if let constant = term.constant { return PredicateTerm(.constant(constant is Desired)) }
        let (presence, isOf) = (try term.presence(), try term.isOf(Desired.self, from: Input.Output.self))
        return .condition(isOf ?? presence ?? NSPredicate(value: true))
    }
}

extension PredicateTerm {
    /// The condition on which a cast gives a value; nil where it always gives what there is.
    fileprivate func isOf<Desired>(_ desired: Desired.Type, from type: Any.Type) throws(PredicateError) -> NSPredicate?
    {
        let (wanted, source) = (KeyValue.unwrappedType(desired), KeyValue.unwrappedType(type))
        if wanted == source || source is Desired.Type { return nil }
        guard wanted is AnyClass, source is AnyClass, let naming = wanted as? any KeyPathNaming.Type else {
            throw .noCounterpart(
                "A cast from \(source) to \(wanted)",
                "Casts of managed objects have one: to the class of another entity.")
        }
        return try unguarded().isEntity(of: naming)
    }
}
