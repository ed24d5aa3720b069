// Texts in texts, and the comparisons of texts that Foundation on Linux has no parts of predicates for.

import CoreDataValues
import struct CoreDataValues.PredicateError
import Foundation

extension PredicateExpressions.CollectionContainsCollection: TranslatedExpression {
    func term(in translation: inout SwiftTranslation) throws(PredicateError) -> PredicateTerm {
        try .texts(.contains, try translation.term(base), try translation.term(other), Base.Output.self)
    }
}

extension PredicateExpressions.SequenceStartsWith: TranslatedExpression {
    func term(in translation: inout SwiftTranslation) throws(PredicateError) -> PredicateTerm {
        try .texts(.beginsWith, try translation.term(base), try translation.term(prefix), Base.Output.self)
    }
}

extension PredicateExpressions.StringContainsRegex: TranslatedExpression {
    func term(in translation: inout SwiftTranslation) throws(PredicateError) -> PredicateTerm {
        let text = try translation.term(subject)
        guard case .some(.some(let constant)) = try translation.term(regex).constant,
            let pattern = constant as? PredicateExpressions.PredicateRegex
        else { throw .noCounterpart("A regular expression that is no literal", "Write it between slashes.") }
        let whole = NSExpression(forConstantValue: "(?s:.*)(?:\(pattern.stringRepresentation))(?s:.*)")
        let holds = NSPredicate.comparing(try text.unguarded(), .matches, whole)
        return .condition(.both(text.guard, holds) ?? holds)
    }
}

extension PredicateTerm {
    static func texts(
        _ op: NSComparisonPredicate.Operator, _ left: PredicateTerm, _ right: PredicateTerm, _ type: Any.Type,
        _ options: NSComparisonPredicate.Options = []
    ) throws(PredicateError) -> PredicateTerm {
        guard type is any StringProtocol.Type else {
            throw .noCounterpart("A \(type) in another one", "Ask for one member, or for texts.")
        }
        let holds = NSPredicate.comparing(try left.unguarded(), op, try right.unguarded(), options)
        return .condition(.both(.both(left.guard, right.guard), holds) ?? holds)
    }
}

// MARK: Parts that Foundation has on Apple's systems

extension PredicateExpressions {
    /// `localizedStandardContains(_:)`, which the macro writes and Foundation on Linux lacks.
    public struct StringLocalizedStandardContains<Root: PredicateExpression, Other: PredicateExpression>:
        PredicateExpression
    where Root.Output: StringProtocol, Other.Output: StringProtocol {
        public typealias Output = Bool
        public let root: Root
        public let other: Other

        public init(root: Root, other: Other) {
            self.root = root
            self.other = other
        }

        public func evaluate(_ bindings: PredicateBindings) throws -> Bool {
            try root.evaluate(bindings).localizedStandardContains(other.evaluate(bindings))
        }
    }

    /// `caseInsensitiveCompare(_:)`.
    public struct StringCaseInsensitiveCompare<Root: PredicateExpression, Other: PredicateExpression>:
        PredicateExpression
    where Root.Output: StringProtocol, Other.Output: StringProtocol {
        public typealias Output = ComparisonResult
        public let root: Root
        public let other: Other

        public init(root: Root, other: Other) {
            self.root = root
            self.other = other
        }

        public func evaluate(_ bindings: PredicateBindings) throws -> ComparisonResult {
            try root.evaluate(bindings).caseInsensitiveCompare(other.evaluate(bindings))
        }
    }

    /// `localizedCompare(_:)`.
    public struct StringLocalizedCompare<Root: PredicateExpression, Other: PredicateExpression>: PredicateExpression
    where Root.Output: StringProtocol, Other.Output: StringProtocol {
        public typealias Output = ComparisonResult
        public let root: Root
        public let other: Other

        public init(root: Root, other: Other) {
            self.root = root
            self.other = other
        }

        public func evaluate(_ bindings: PredicateBindings) throws -> ComparisonResult {
            try root.evaluate(bindings).localizedCompare(other.evaluate(bindings))
        }
    }

    // Behind Foundation's own, should it get them.

    @_disfavoredOverload
    public static func build_localizedStandardContains<Root, Other>(
        _ root: Root, _ other: Other
    ) -> StringLocalizedStandardContains<Root, Other> { StringLocalizedStandardContains(root: root, other: other) }

    @_disfavoredOverload
    public static func build_caseInsensitiveCompare<Root, Other>(
        _ root: Root, _ other: Other
    ) -> StringCaseInsensitiveCompare<Root, Other> { StringCaseInsensitiveCompare(root: root, other: other) }

    @_disfavoredOverload
    public static func build_localizedCompare<Root, Other>(_ root: Root, _ other: Other) -> StringLocalizedCompare<
        Root, Other
    > {
        StringLocalizedCompare(root: root, other: other)
    }
}

extension PredicateExpressions.StringLocalizedStandardContains: Sendable where Root: Sendable, Other: Sendable {}
extension PredicateExpressions.StringLocalizedStandardContains: Codable where Root: Codable, Other: Codable {}
extension PredicateExpressions.StringLocalizedStandardContains: StandardPredicateExpression
where Root: StandardPredicateExpression, Other: StandardPredicateExpression {}

extension PredicateExpressions.StringCaseInsensitiveCompare: Sendable where Root: Sendable, Other: Sendable {}
extension PredicateExpressions.StringCaseInsensitiveCompare: Codable where Root: Codable, Other: Codable {}
extension PredicateExpressions.StringCaseInsensitiveCompare: StandardPredicateExpression
where Root: StandardPredicateExpression, Other: StandardPredicateExpression {}

extension PredicateExpressions.StringLocalizedCompare: Sendable where Root: Sendable, Other: Sendable {}
extension PredicateExpressions.StringLocalizedCompare: Codable where Root: Codable, Other: Codable {}
extension PredicateExpressions.StringLocalizedCompare: StandardPredicateExpression
where Root: StandardPredicateExpression, Other: StandardPredicateExpression {}

extension PredicateExpressions.StringLocalizedStandardContains: TranslatedExpression {
    func term(in translation: inout SwiftTranslation) throws(PredicateError) -> PredicateTerm {
        try .texts(
            .contains, try translation.term(root), try translation.term(other), Root.Output.self,
            [.caseInsensitive, .diacriticInsensitive])
    }
}

extension PredicateExpressions.StringCaseInsensitiveCompare: TranslatedExpression {
    func term(in translation: inout SwiftTranslation) throws(PredicateError) -> PredicateTerm {
        PredicateTerm(
            .order(try translation.term(root).expression(), try translation.term(other).expression(), .caseInsensitive))
    }
}

extension PredicateExpressions.StringLocalizedCompare: TranslatedExpression {
    func term(in translation: inout SwiftTranslation) throws(PredicateError) -> PredicateTerm {
        PredicateTerm(
            .order(try translation.term(root).expression(), try translation.term(other).expression(), .localeSensitive))
    }
}
