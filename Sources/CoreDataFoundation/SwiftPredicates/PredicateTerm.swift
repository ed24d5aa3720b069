// What a part of a Swift predicate comes to among the parts of an NSPredicate.

import CoreDataValues
import struct CoreDataValues.PredicateError
import Foundation

/// A value, a condition or a range; nil wherever its guard does not hold.
///
/// Optional chaining and casts make guards: a calculation that is nil anyway where its operand is needs none.
struct PredicateTerm {
    enum Kind {
        /// Captured by the program, as it is.
        case constant(Any?)
        case value(NSExpression)
        /// `value ?? constant`
        case coalesced(NSExpression, Any)
        case condition(NSPredicate)
        case range(lower: NSExpression, upper: NSExpression, isClosed: Bool)
        /// How two texts are ordered, to be compared with a `ComparisonResult`.
        case order(NSExpression, NSExpression, NSComparisonPredicate.Options)
    }
    var kind: Kind
    /// nil for always.
    var `guard`: NSPredicate?

    init(_ kind: Kind, guard condition: NSPredicate? = nil) {
        self.kind = kind
        self.guard = condition
    }

    static func value(_ expression: NSExpression) -> PredicateTerm { PredicateTerm(.value(expression)) }
    static func condition(_ predicate: NSPredicate) -> PredicateTerm { PredicateTerm(.condition(predicate)) }

    /// A captured value; nil where this is none.
    var constant: Any?? {
        if case .constant(let value) = kind { .some(KeyValue.unwrapped(value)) } else { nil }
    }

    /// The same with a condition without which it is nil.
    func guarded(by condition: NSPredicate?) -> PredicateTerm {
        PredicateTerm(kind, guard: .both(condition, self.guard))
    }

    // MARK: As what it is needed

    /// As a value.
    func expression() throws(PredicateError) -> NSExpression {
        let value = try unguarded()
        guard let condition = self.guard else { return value }
        return NSExpression(
            forConditional: condition, trueExpression: value, falseExpression: NSExpression(forConstantValue: nil))
    }

    /// The value where the guard holds.
    func unguarded() throws(PredicateError) -> NSExpression {
        switch kind {
        case .constant(let value): return NSExpression(captured: value)
        case .value(let value): return value
        case .coalesced(let value, let other):
            return NSExpression(
                forConditional: .comparing(value, .notEqualTo, NSExpression(forConstantValue: nil)),
                trueExpression: value,
                falseExpression: NSExpression(captured: other))
        case .condition(let condition):
            return NSExpression(
                forConditional: condition, trueExpression: NSExpression(forConstantValue: true),
                falseExpression: NSExpression(forConstantValue: false))
        case .range: throw PredicateError("A range stands where a value is needed; ask whether it contains one.")
        case .order:
            throw PredicateError(
                "An order of texts stands where a value is needed; compare it with .orderedSame and its like.")
        }
    }

    /// As a condition, which does not hold where the term is nil.
    func condition() throws(PredicateError) -> NSPredicate {
        .both(self.guard, try unguardedCondition()) ?? NSPredicate(value: true)
    }

    /// The condition where the guard holds.
    func unguardedCondition() throws(PredicateError) -> NSPredicate {
        switch kind {
        case .condition(let condition): return condition
        case .constant(let value):
            guard let flag = KeyValue.unwrapped(value) as? Bool else { return NSPredicate(value: false) }
            return NSPredicate(value: flag)
        case .coalesced(let value, let other):
            guard let flag = other as? Bool else { fallthrough }
            // Where there is no value the other one decides.
            return .comparing(value, flag ? .notEqualTo : .equalTo, NSExpression(forConstantValue: !flag))
        case .value, .range, .order: return .comparing(try unguarded(), .equalTo, NSExpression(forConstantValue: true))
        }
    }

    /// That there is a value; nil where there always is one.
    func presence() throws(PredicateError) -> NSPredicate? {
        switch kind {
        case .constant(let value):
            return .both(self.guard, KeyValue.unwrapped(value) == nil ? NSPredicate(value: false) : nil)
        case .value(let value):
            return .both(
                self.guard, value.isNeverNil ? nil : .comparing(value, .notEqualTo, NSExpression(forConstantValue: nil))
            )
        case .coalesced, .condition, .range, .order: return self.guard
        }
    }
}

extension NSPredicate {
    package static func comparing(
        _ left: NSExpression, _ op: NSComparisonPredicate.Operator, _ right: NSExpression,
        _ options: NSComparisonPredicate.Options = []
    ) -> NSPredicate {
        NSComparisonPredicate(
            leftExpression: left, rightExpression: right, modifier: .direct, type: op, options: options)
    }

    /// Both conditions, or the one that there is.
    static func both(_ first: NSPredicate?, _ second: NSPredicate?) -> NSPredicate? {
        guard let first else { return second }
        guard let second else { return first }
        return joined(.and, first, second)
    }

    /// An AND or OR, of whose parts none is one of the same; a constant decides it, or has no part in it.
    package static func joined(_ type: NSCompoundPredicate.LogicalType, _ first: NSPredicate, _ second: NSPredicate)
        -> NSPredicate
    {
        let neutral = type == .and
        switch (first.truth, second.truth) {
        case (neutral, _): return second
        case (_, neutral): return first
        case (!neutral, _), (_, !neutral): return NSPredicate(value: !neutral)
        case (_, _):
            return NSCompoundPredicate(type: type, subpredicates: first.parts(of: type) + second.parts(of: type))
        }
    }

    package static func not(_ condition: NSPredicate) -> NSPredicate {
        if let truth = condition.truth { return NSPredicate(value: !truth) }
        if let inner = condition as? NSCompoundPredicate, inner.compoundPredicateType == .not,
            let part = inner.parts.first
        {
            return part
        }
        return NSCompoundPredicate(type: .not, subpredicates: [condition])
    }

    private func parts(of type: NSCompoundPredicate.LogicalType) -> [NSPredicate] {
        guard let compound = self as? NSCompoundPredicate, compound.compoundPredicateType == type else { return [self] }
        return compound.parts
    }

    /// What a constant predicate always answers; nil for all others.
    private var truth: Bool? {
        guard Swift.type(of: self) == NSPredicate.self else { return nil }
        switch (self as any FormatPrinting).predicateFormat {
        case "TRUEPREDICATE": return true
        case "FALSEPREDICATE": return false
        default: return nil
        }
    }
}
