// Predicates as bound conditions.

import Foundation

/// Binds a predicate and the comparisons in it.
struct ConditionBinder {
    private let binding: Binding
    private var refusal: QueryRefusal { binding.refusal }

    init(_ binding: Binding) { self.binding = binding }

    func bind(_ predicate: Predicate) throws(StoreError) -> BoundCondition {
        switch predicate {
        case .constant(let flag): return .constant(flag)
        case .and: return ChainFolding.all(try parts(predicate.conjuncts), foldsConstants: !binding.isShared)
        case .or: return ChainFolding.any(try parts(predicate.disjuncts), foldsConstants: !binding.isShared)
        case .not(let part): return try bind(part).negated
        case .comparison(let comparison): return try bind(comparison)
        }
    }

    private func parts(_ predicates: [Predicate]) throws(StoreError) -> [BoundCondition] {
        var result: [BoundCondition] = []
        result.reserveCapacity(predicates.count)
        for predicate in predicates { result.append(try bind(predicate)) }
        return result
    }

    // MARK: Comparisons

    private func bind(_ comparison: Comparison) throws(StoreError) -> BoundCondition {
        var options = comparison.options
        // `n` says that the texts are prepared already: it overrides the others.
        if options.contains(.normalized) { options = [] }
        let binder = ExpressionBinder(binding)
        let left = try binder.bind(comparison.left)
        let right = try side(comparison.right, binder)
        let relation = RelationBinder(binding, comparison.op, options)
        switch comparison.modifier {
        case .direct: return try relation.bind(left, right)
        case .any: return try quantified(left, right, relation, all: false)
        case .all: return try quantified(left, right, relation, all: true)
        }
    }

    /// A constant on the right of a shared shape is a parameter.
    private func side(_ expression: Expression, _ binder: ExpressionBinder) throws(StoreError) -> BoundExpression {
        if binding.isShared, case .constant(let value) = expression {
            return .single(.value(binding.constant(value)))
        }
        return try binder.bind(expression)
    }

    /// ANY and ALL go through the collection, on whichever side it stands.
    private func quantified(
        _ left: BoundExpression, _ right: BoundExpression, _ relation: RelationBinder, all: Bool
    ) throws(StoreError) -> BoundCondition {
        let word = all ? "ALL" : "ANY"
        switch (left, right) {
        case (.many(let chain, let operand), _):
            let inner = try relation.bind(.single(operand), right)
            return all ? BoundCondition.exists(chain, inner.negated).negated : .exists(chain, inner)
        case (_, .many(let chain, let operand)) where relation.op != .in:
            let inner = try relation.bind(left, .single(operand))
            return all ? BoundCondition.exists(chain, inner.negated).negated : .exists(chain, inner)
        case (.single, .many) where !all: return try relation.bind(left, right)
        case (.list(let items), _):
            var parts: [BoundCondition] = []
            for item in items {
                parts.append(try relation.bind(ExpressionBinder(binding).bind(item), right))
            }
            return all ? .all(parts) : .any(parts)
        case (.single(let operand), _): throw refusal.nonsense("\(word) over \(operand.title), which is no collection")
        }
    }
}
