// What typed expressions can be asked: texts, lists and ranges.

import CoreDataFoundation
import Foundation

/// A text, or an optional one.
public protocol PredicateText {}

extension String: PredicateText {}
extension Optional: PredicateText where Wrapped == String {}

extension PredicateOperand where Value: PredicateText {
    private func compare(
        _ op: NSComparisonPredicate.Operator, _ text: String, _ options: NSComparisonPredicate.Options
    ) -> NSPredicate { .comparing(predicateExpression, op, NSExpression(forConstantValue: text), options) }

    /// `CONTAINS`; with `[.caseInsensitive, .diacriticInsensitive]` `CONTAINS[cd]`.
    public func contains(_ text: String, _ options: NSComparisonPredicate.Options = []) -> NSPredicate {
        compare(.contains, text, options)
    }
    /// `BEGINSWITH`.
    public func hasPrefix(_ text: String, _ options: NSComparisonPredicate.Options = []) -> NSPredicate {
        compare(.beginsWith, text, options)
    }
    /// `ENDSWITH`.
    public func hasSuffix(_ text: String, _ options: NSComparisonPredicate.Options = []) -> NSPredicate {
        compare(.endsWith, text, options)
    }
    /// `LIKE`, in which `?` is one character and `*` any number of them.
    public func like(_ pattern: String, _ options: NSComparisonPredicate.Options = []) -> NSPredicate {
        compare(.like, pattern, options)
    }
    /// `MATCHES`: a regular expression of the whole text.
    public func matches(_ pattern: String, _ options: NSComparisonPredicate.Options = []) -> NSPredicate {
        compare(.matches, pattern, options)
    }
    /// `==` with options.
    public func equals(_ text: String, _ options: NSComparisonPredicate.Options) -> NSPredicate {
        compare(.equalTo, text, options)
    }
    /// Without a look at case and diacritics.
    public func localizedStandardContains(_ text: String) -> NSPredicate {
        contains(text, [.caseInsensitive, .diacriticInsensitive])
    }

    public var isEmpty: NSPredicate { compare(.equalTo, "", []) }
    /// How long the text is, in UTF-16 code units; nil of nil.
    public var count: TypedExpression<Int> {
        TypedExpression(computing: NSExpression(forFunction: "length:", arguments: [predicateExpression]))
    }
    public func lowercased() -> TypedExpression<String> {
        TypedExpression<String>(computing: NSExpression(forFunction: "lowercase:", arguments: [predicateExpression]))
    }
    public func uppercased() -> TypedExpression<String> {
        TypedExpression<String>(computing: NSExpression(forFunction: "uppercase:", arguments: [predicateExpression]))
    }
}

// MARK: Lists and ranges

extension PredicateOperand {
    private func isIn(list: [Any]) -> NSPredicate {
        .comparing(predicateExpression, .in, NSExpression(capturedList: list))
    }

    /// `IN` a list of values.
    @_disfavoredOverload
    public func isIn(_ values: some Sequence<Value>) -> NSPredicate { isIn(list: values.map { $0 as Any }) }

    @_disfavoredOverload
    public func isIn<Wrapped>(_ values: some Sequence<Wrapped>) -> NSPredicate where Value == Wrapped? {
        isIn(list: values.map { $0 as Any })
    }

    fileprivate func isBetween<Bound>(_ lower: Bound, _ upper: Bound) -> NSPredicate {
        let bounds = NSExpression(forAggregate: [NSExpression(captured: lower), NSExpression(captured: upper)])
        return .comparing(predicateExpression, .between, bounds)
    }

    fileprivate func isFrom<Bound>(_ lower: Bound, upTo upper: Bound) -> NSPredicate {
        .joined(
            .and, .comparing(predicateExpression, .greaterThanOrEqualTo, NSExpression(captured: lower)),
            .comparing(predicateExpression, .lessThan, NSExpression(captured: upper)))
    }
}

extension PredicateOperand where Value: Comparable {
    /// `BETWEEN`: both ends belong to it.
    public func isIn(_ range: ClosedRange<Value>) -> NSPredicate { isBetween(range.lowerBound, range.upperBound) }
    public func isIn(_ range: Range<Value>) -> NSPredicate { isFrom(range.lowerBound, upTo: range.upperBound) }
}

extension PredicateOperand {
    public func isIn<Bound>(_ range: ClosedRange<Bound>) -> NSPredicate where Value == Bound? {
        isBetween(range.lowerBound, range.upperBound)
    }
    public func isIn<Bound>(_ range: Range<Bound>) -> NSPredicate where Value == Bound? {
        isFrom(range.lowerBound, upTo: range.upperBound)
    }
}
