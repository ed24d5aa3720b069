// A projection whose names are resolved.

/// Columns, groups and their order: what a query for values asks beyond which rows.
package struct BoundProjection: Sendable {
    package struct Column: Sendable {
        package let name: String
        package let operand: BoundOperand
        package let type: ValueType
    }
    package let columns: [Column]
    /// The keys of the groups, then the aggregates.
    package let groupValues: [GroupValue]
    package let keyCount: Int
    /// Whether a result row stands for a group: one for each combination of keys, and exactly one without keys.
    package let isGrouped: Bool
    package let having: BoundCondition?
    package let isDistinct: Bool
    /// Complete where there is one: no two result rows are equal in it, but for equal rows of a group-less result.
    package let order: [Sort]

    /// A sort key of the result.
    package struct Sort: Sendable {
        package let operand: BoundOperand
        /// The column that it is, if it is one.
        package let column: Int?
        package let isAscending: Bool
        package let comparison: SortTerm.Comparison
    }
}

/// One value of a group.
package struct GroupValue: Sendable {
    package enum Source: Sendable {
        /// What the rows have in common.
        case key(BoundOperand)
        case aggregate(GroupAggregate)
    }
    package let source: Source
    /// Its place in `BoundProjection.groupValues`.
    package let place: Int
    package let type: ValueType
}

/// One value of all rows of a group, nulls left out: the sum of none is 0, and other aggregates than a count are null.
package struct GroupAggregate: Sendable {
    package enum Function: Sendable, Hashable { case count, sum, average, minimum, maximum }
    package let function: Function
    /// nil for a count of rows.
    package let operand: BoundOperand?
    package let isDistinct: Bool
}

extension BoundOperand {
    /// Whether it depends on the single row, be it of a group.
    var readsRow: Bool {
        switch self {
        case .value, .grouped: false
        case .path, .aggregate: true
        case .call(_, let arguments): arguments.contains { $0.readsRow }
        case .conditional(let condition, let first, let second): condition.readsRow || first.readsRow || second.readsRow
        }
    }
}

extension BoundCondition {
    var readsRow: Bool {
        switch self {
        case .constant: false
        case .and(let parts), .or(let parts): parts.contains { $0.readsRow }
        case .not(let part): part.readsRow
        case .isNull(let operand), .among(let operand, _, _): operand.readsRow
        case .compare(let comparison): comparison.left.readsRow || comparison.right.readsRow
        case .between(let operand, let low, let high, _): operand.readsRow || low.readsRow || high.readsRow
        case .exists: true
        }
    }
}
