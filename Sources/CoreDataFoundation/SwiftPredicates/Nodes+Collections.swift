// Collections, sub-queries and ranges.

import CoreDataValues
import struct CoreDataValues.PredicateError
import Foundation

extension PredicateExpressions.SequenceContainsWhere: TranslatedExpression {
    func term(in translation: inout SwiftTranslation) throws(PredicateError) -> PredicateTerm {
        let members = try translation.term(sequence)
        if let items = members.items(of: LHS.Output.self) {
            return .condition(try translation.each(items, variable.key, test, .or))
        }
        let found = try translation.filtered(try members.unguarded(), variable.key, test).appending(.key("@count"))
        return .condition(try members.whereThere(.comparing(found, .greaterThan, NSExpression(forConstantValue: 0))))
    }
}

extension PredicateExpressions.SequenceAllSatisfy: TranslatedExpression {
    func term(in translation: inout SwiftTranslation) throws(PredicateError) -> PredicateTerm {
        let members = try translation.term(sequence)
        if let items = members.items(of: LHS.Output.self) {
            return .condition(try translation.each(items, variable.key, test, .and))
        }
        let others = try translation.filtered(try members.unguarded(), variable.key, test, negated: true).appending(
            .key("@count"))
        return .condition(try members.whereThere(.comparing(others, .equalTo, NSExpression(forConstantValue: 0))))
    }
}

extension PredicateExpressions.Filter: TranslatedExpression {
    func term(in translation: inout SwiftTranslation) throws(PredicateError) -> PredicateTerm {
        let members = try translation.term(sequence)
        return PredicateTerm(
            .value(try translation.filtered(try members.unguarded(), variable.key, filter)), guard: members.guard)
    }
}

extension PredicateExpressions.SequenceContains: TranslatedExpression {
    func term(in translation: inout SwiftTranslation) throws(PredicateError) -> PredicateTerm {
        let (members, member) = (try translation.term(sequence), try translation.term(element))
        if case .some(.some(let constant)) = members.constant {
            if let range = constant as? any CapturedRange { return .condition(try member.isWithin(range.bounds)) }
            if let items = members.items(of: LHS.Output.self) { return .condition(try member.isOne(of: items)) }
        }
        let isMember = NSPredicate.comparing(try member.unguarded(), .in, try members.unguarded())
        return .condition(try members.whereThere(.both(member.guard, isMember) ?? isMember))
    }
}

extension PredicateExpressions.SequenceMaximum: TranslatedExpression {
    func term(in translation: inout SwiftTranslation) throws(PredicateError) -> PredicateTerm {
        let members = try translation.term(elements)
        if members.constant != nil, let constant = captured { return constant }
        return .value(NSExpression(forFunction: "max:", arguments: [try members.expression()]))
    }
}

extension PredicateExpressions.SequenceMinimum: TranslatedExpression {
    func term(in translation: inout SwiftTranslation) throws(PredicateError) -> PredicateTerm {
        let members = try translation.term(elements)
        if members.constant != nil, let constant = captured { return constant }
        return .value(NSExpression(forFunction: "min:", arguments: [try members.expression()]))
    }
}

extension PredicateExpressions.CollectionIndexSubscript: TranslatedExpression {
    func term(in translation: inout SwiftTranslation) throws(PredicateError) -> PredicateTerm {
        if let constant = captured { return constant }
        let (whole, place) = (try translation.term(wrapped), try translation.term(index))
        guard Index.Output.self == Int.self else {
            throw .noCounterpart(
                "A place in a \(Wrapped.Output.self)", "Places of members of an ordered to-many have one.")
        }
        return PredicateTerm(
            .value(
                NSExpression(
                    forFunction: "objectFrom:withIndex:", arguments: [try whole.unguarded(), try place.expression()])),
            guard: whole.guard)
    }
}

extension PredicateExpressions.DictionaryKeySubscript: TranslatedExpression {
    func term(in translation: inout SwiftTranslation) throws(PredicateError) -> PredicateTerm {
        if let constant = captured { return constant }
        let (whole, entry) = (try translation.term(wrapped), try translation.term(key))
        return .value(
            NSExpression(
                forFunction: "objectFrom:withIndex:", arguments: [try whole.expression(), try entry.expression()]))
    }
}

extension PredicateExpressions.DictionaryKeyDefaultValueSubscript: TranslatedExpression {
    func term(in translation: inout SwiftTranslation) throws(PredicateError) -> PredicateTerm {
        if let constant = captured { return constant }
        throw .noCounterpart("A dictionary's entry with a default value", "Write the entry, and ?? behind it.")
    }
}

extension PredicateExpressions.CollectionRangeSubscript: TranslatedExpression {
    func term(in translation: inout SwiftTranslation) throws(PredicateError) -> PredicateTerm {
        if let constant = captured { return constant }
        throw .noCounterpart("A part of a \(Wrapped.Output.self) by places", "Capture the part, or use starts(with:).")
    }
}

// MARK: Members

extension PredicateTerm {
    /// The members of a captured collection; nil for any other term.
    func items<S: Sequence>(of type: S.Type) -> [Any]? {
        guard case .some(.some(let constant)) = constant, !(constant is any StringProtocol),
            let sequence = constant as? S
        else { return nil }
        return sequence.map { $0 as Any }
    }

    /// A condition on a collection that must be there.
    fileprivate func whereThere(_ condition: NSPredicate) throws(PredicateError) -> NSPredicate {
        .both(self.guard, condition) ?? condition
    }

    fileprivate func isOne(of items: [Any]) throws(PredicateError) -> NSPredicate {
        let present = items.compactMap { KeyValue.unwrapped($0) }
        let isOne = NSPredicate.comparing(try unguarded(), .in, NSExpression(captured: present))
        let holds = NSPredicate.both(self.guard, isOne) ?? isOne
        guard present.count < items.count else { return holds }
        return .joined(.or, holds, try PredicateTerm.equal(self, PredicateTerm(.constant(nil))))
    }
}

extension SwiftTranslation {
    /// The test of each of a few captured values.
    fileprivate mutating func each(
        _ items: [Any], _ variable: PredicateExpressions.VariableID, _ test: any PredicateExpression,
        _ type: NSCompoundPredicate.LogicalType
    ) throws(PredicateError) -> NSPredicate {
        var joined = NSPredicate(value: type == .and)
        for item in items {
            joined = .joined(
                type, joined, try term(test, where: variable, is: PredicateTerm(.constant(item))).condition())
        }
        return joined
    }
}

// MARK: Ranges

extension PredicateExpressions.Range: TranslatedExpression {
    func term(in translation: inout SwiftTranslation) throws(PredicateError) -> PredicateTerm {
        let (low, high) = (try translation.term(lower).expression(), try translation.term(upper).expression())
        return PredicateTerm(.range(lower: low, upper: high, isClosed: false))
    }
}

extension PredicateExpressions.ClosedRange: TranslatedExpression {
    func term(in translation: inout SwiftTranslation) throws(PredicateError) -> PredicateTerm {
        let (low, high) = (try translation.term(lower).expression(), try translation.term(upper).expression())
        return PredicateTerm(.range(lower: low, upper: high, isClosed: true))
    }
}

extension PredicateExpressions.RangeExpressionContains: TranslatedExpression {
    func term(in translation: inout SwiftTranslation) throws(PredicateError) -> PredicateTerm {
        let (range, member) = (try translation.term(range), try translation.term(element))
        if case .range(let lower, let upper, let isClosed) = range.kind {
            return .condition(try member.isWithin(RangeBounds(lower: lower, upper: upper, isClosed: isClosed)))
        }
        guard case .some(.some(let constant)) = range.constant, let captured = constant as? any CapturedRange else {
            throw .noCounterpart("A range that is \(Swift.type(of: range.kind))", "Write the range, or capture it.")
        }
        return .condition(try member.isWithin(captured.bounds))
    }
}

/// The ends of a range; nil for none.
struct RangeBounds {
    var lower: NSExpression?
    var upper: NSExpression?
    var isClosed: Bool
}

protocol CapturedRange {
    var bounds: RangeBounds { get }
}

extension Range: CapturedRange {
    var bounds: RangeBounds {
        RangeBounds(
            lower: NSExpression(captured: lowerBound), upper: NSExpression(captured: upperBound), isClosed: false)
    }
}

extension ClosedRange: CapturedRange {
    var bounds: RangeBounds {
        RangeBounds(
            lower: NSExpression(captured: lowerBound), upper: NSExpression(captured: upperBound), isClosed: true)
    }
}

extension PartialRangeFrom: CapturedRange {
    var bounds: RangeBounds { RangeBounds(lower: NSExpression(captured: lowerBound), upper: nil, isClosed: false) }
}

extension PartialRangeUpTo: CapturedRange {
    var bounds: RangeBounds { RangeBounds(lower: nil, upper: NSExpression(captured: upperBound), isClosed: false) }
}

extension PartialRangeThrough: CapturedRange {
    var bounds: RangeBounds { RangeBounds(lower: nil, upper: NSExpression(captured: upperBound), isClosed: true) }
}

extension PredicateTerm {
    /// That a value lies within a range.
    func isWithin(_ bounds: RangeBounds) throws(PredicateError) -> NSPredicate {
        let value = try unguarded()
        var holds: NSPredicate?
        if bounds.isClosed, let lower = bounds.lower, let upper = bounds.upper {
            holds = .comparing(value, .between, NSExpression(forAggregate: [lower, upper]))
        } else {
            holds = bounds.lower.map { .comparing(value, .greaterThanOrEqualTo, $0) }
            holds = .both(
                holds, bounds.upper.map { .comparing(value, bounds.isClosed ? .lessThanOrEqualTo : .lessThan, $0) })
        }
        return .both(self.guard, holds) ?? NSPredicate(value: true)
    }
}
