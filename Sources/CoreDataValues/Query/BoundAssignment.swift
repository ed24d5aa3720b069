// What a set change writes to the rows that its query finds, its names resolved.

/// One slot and what it becomes in each row.
package struct BoundAssignment: Sendable {
    package enum Source: Sendable {
        /// The same for all rows, in the form that the slot keeps.
        case constant(Value)
        /// Computed of the row; already of a type that the slot can take.
        case operand(BoundOperand)
        /// A to-one's target, nil for none.
        case target(RowKey?)
    }
    package let slot: Int
    package let source: Source
    /// Whether null is refused.
    package let isRequired: Bool
}

/// Rows and assignments of one update.
package struct BoundUpdate: Sendable {
    package let query: Query
    package let assignments: [BoundAssignment]
    package var entity: Entity { query.bound.entity }

    /// The slots that are written, ascending; a to-one's entity tag follows it.
    package var slots: [Int] {
        assignments.flatMap { assignment in
            let slots = entity.slots
            let tag = assignment.slot + 1
            let hasTag = slots[assignment.slot].kind == .toOne && tag < slots.count && slots[tag].kind == .entityTag
            return hasTag ? [assignment.slot, tag] : [assignment.slot]
        }.sorted()
    }
}
