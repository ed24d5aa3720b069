// A predicate whose names are resolved.

/// A condition on one row. Every side reads it alike: null is two-valued, `x != 'a'` holds for null, orders and tests of texts do
/// not.
package indirect enum BoundCondition: Sendable {
    case constant(Bool)
    /// Two parts or more.
    case and([BoundCondition])
    case or([BoundCondition])
    case not(BoundCondition)
    case isNull(BoundOperand)
    case compare(BoundComparison)
    case between(BoundOperand, BoundOperand, BoundOperand, Comparison.Options)
    /// Whether a value is one of constants, none of them null.
    case among(BoundOperand, [Value], Comparison.Options)
    /// Whether members at the end of a chain of to-manys satisfy a condition, in which they are the object of the last level.
    case exists([BoundMembers], BoundCondition)
}

/// Two values and how they are compared; no part of it is a collection, and a constant stands on its right.
package struct BoundComparison: Sendable {
    package let left: BoundOperand
    package let op: Comparison.Operator
    package let right: BoundOperand
    package let options: Comparison.Options

    func with(_ op: Comparison.Operator) -> BoundComparison {
        BoundComparison(left: left, op: op, right: right, options: options)
    }
}

extension BoundCondition {
    /// The parts of an AND or OR, those of the same kind inside flattened, constants folded.
    static func all(_ parts: [BoundCondition]) -> BoundCondition {
        var flat: [BoundCondition] = []
        for part in parts {
            switch part {
            case .constant(true): continue
            case .constant(false): return part
            case .and(let inner): flat += inner
            case .or, .not, .isNull, .compare, .between, .among, .exists: flat.append(part)
            }
        }
        return flat.isEmpty ? .constant(true) : flat.count == 1 ? flat[0] : .and(flat)
    }

    static func any(_ parts: [BoundCondition]) -> BoundCondition {
        var flat: [BoundCondition] = []
        for part in parts {
            switch part {
            case .constant(false): continue
            case .constant(true): return part
            case .or(let inner): flat += inner
            case .and, .not, .isNull, .compare, .between, .among, .exists: flat.append(part)
            }
        }
        return flat.isEmpty ? .constant(false) : flat.count == 1 ? flat[0] : .or(flat)
    }

    /// A double negation is none, and of an equality it is an inequality.
    var negated: BoundCondition {
        switch self {
        case .constant(let flag): .constant(!flag)
        case .not(let part): part
        case .compare(let comparison) where comparison.op == .equal: .compare(comparison.with(.notEqual))
        case .compare(let comparison) where comparison.op == .notEqual: .compare(comparison.with(.equal))
        case .and, .or, .isNull, .compare, .between, .among, .exists: .not(self)
        }
    }
}
