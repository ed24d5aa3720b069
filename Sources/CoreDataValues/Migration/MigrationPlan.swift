// The way of a store's rows from one schema to another.

/// What becomes of the rows of each entity and of the members of each to-many, in steps that name no database. A store that migrates
/// (`StoreMigrator`) takes all of them in one transaction, or none.
///
/// `init(_ diff:)` makes the steps that a difference alone tells; whoever knows more makes or changes steps. Each entity of the source
/// is copied or dropped, and each one of the destination is created or filled by a copy, so that no row is left behind unsaid. A row
/// keeps its number and its version.
package struct MigrationPlan: Sendable {
    package let diff: SchemaDiff
    package var steps: [Step]

    package init(_ diff: SchemaDiff, steps: [Step]) {
        self.diff = diff
        self.steps = steps
    }

    package var source: Schema { diff.pairs.source }
    package var destination: Schema { diff.pairs.destination }

    package enum Step: Sendable {
        /// An entity of the destination that begins without rows.
        case create(EntityIndex)
        /// An entity of the source whose rows go. No delete rule plays a part: what pointed at them points at nothing.
        case drop(EntityIndex)
        case copy(EntityCopy)
        case link(RelationshipCopy)
    }
}

/// The rows of one entity, without its sub-entities, become rows of an entity of the destination, which may have another name.
package struct EntityCopy: Sendable {
    package let source: EntityIndex
    package let destination: EntityIndex
    /// What is not named becomes null. The entity tag of a to-one follows it and is not named.
    package var values: [SlotFill]

    package init(_ source: EntityIndex, to destination: EntityIndex, _ values: [SlotFill]) {
        self.source = source
        self.destination = destination
        self.values = values
    }
}

/// What a slot of the destination holds.
package struct SlotFill: Sendable {
    package enum Source: Sendable {
        /// What a slot of the source has, which may have another name, or another value where that is null. A derived attribute keeps
        /// its value as it is. Binary data may come to lie in files, or in rows.
        case kept(Int, or: Value = .null)
        /// Computed of the row as it was, by the names of the source; a constant, if it is one.
        case computed(Expression)
        /// What the attribute is derived from, when all rows are there.
        case derived
        /// The object of which the row was a member or the target, by a relationship of the source.
        case owner(RelationshipIndex)
    }
    package let slot: Int
    package let source: Source

    package init(_ slot: Int, _ source: Source) {
        self.slot = slot
        self.source = source
    }
}

/// The members of a to-many of the source, or the target of a to-one, become the members of a to-many of the destination, in their
/// order where both are ordered.
///
/// Members whose own to-one is copied come with that; the step then says that their order is kept.
package struct RelationshipCopy: Sendable {
    package let source: RelationshipIndex
    package let destination: RelationshipIndex

    package init(_ source: RelationshipIndex, to destination: RelationshipIndex) {
        self.source = source
        self.destination = destination
    }
}
