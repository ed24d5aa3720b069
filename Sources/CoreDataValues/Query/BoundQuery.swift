// A fetch plan bound to a schema: what every side reads instead of names.

import Synchronization

/// The shape of a query: which rows, under which condition, in which order. Made once, read by stores, the evaluator and the
/// overlay of unsaved changes alike.
package final class BoundQuery: Sendable {
    /// Names the shape in caches; no two have the same.
    package let number: Int
    package let schema: Schema
    /// What it was made of; with the constants of the first query of the shape.
    package let plan: FetchPlan
    package let entity: Entity
    /// The last entity whose rows are found; `entity.index...last`.
    package let last: EntityIndex
    /// nil for all rows.
    package let condition: BoundCondition?
    package let order: [BoundSort]
    package let reach: QueryReach
    /// How many objects stand for something while one row is judged: the row and the members of each collection.
    package let levelCount: Int
    /// Whether its constants are parameters, so that other queries of the shape can share it.
    package let isShared: Bool
    /// What is wanted of the rows, where that is values without an entity; nil otherwise.
    package let projection: BoundProjection?

    private static let count = Atomic<Int>(0)

    init(
        schema: Schema, plan: FetchPlan, condition: BoundCondition?, order: [BoundSort], reach: QueryReach,
        levelCount: Int,
        isShared: Bool, projection: BoundProjection? = nil
    ) {
        number = BoundQuery.count.add(1, ordering: .relaxed).newValue
        self.schema = schema
        self.plan = plan
        entity = schema[plan.entity]
        last = plan.includesSubentities ? entity.last : entity.index
        self.condition = condition
        self.order = order
        self.reach = reach
        self.levelCount = levelCount
        self.isShared = isShared
        self.projection = projection
    }
}

/// A shape with its values.
package struct Query: Sendable {
    package let bound: BoundQuery
    /// What the parameters stand for; then the limit, if there is a limit or an offset, then the offset, if there is one.
    package let values: [Value]
    /// 0 for no limit.
    package let limit: Int
    package let offset: Int

    init(bound: BoundQuery, values: [Value], plan: FetchPlan) {
        self.bound = bound
        self.values = values
        limit = plan.limit
        offset = plan.offset
    }

    /// Binds a plan for one use.
    ///
    /// - Throws: 134060 for what no store can answer.
    package init(_ plan: FetchPlan, in schema: Schema) throws(StoreError) {
        let bound = try QueryBinder.bind(plan, in: schema)
        self.init(bound: bound, values: bound.isShared ? plan.values(ofSameShape: plan) ?? [] : [], plan: plan)
    }

    /// Whether it has a limit or an offset.
    package var isPart: Bool { limit > 0 || offset > 0 }

    /// The limit as stores bind it, -1 for none.
    package var boundLimit: BoundValue {
        bound.isShared
            ? .parameter(values.count - (offset > 0 ? 2 : 1), .none) : .constant(.int(limit > 0 ? Int64(limit) : -1))
    }

    package var boundOffset: BoundValue {
        bound.isShared ? .parameter(values.count - 1, .none) : .constant(.int(Int64(offset)))
    }

    package func value(_ bound: BoundValue) -> Value { bound.value(among: values) }
}

/// One key of an order. Null sorts first, texts as `comparison` says.
package struct BoundSort: Sendable {
    package let operand: BoundOperand
    package let isAscending: Bool
    package let comparison: SortTerm.Comparison
}

/// What a query can read.
package struct QueryReach: Sendable {
    /// A way from a row of the query to others: names of relationships, and the entities that stand at its end.
    package struct Link: Sendable {
        package let path: [String]
        package let entities: ClosedRange<UInt16>
        package let passesToMany: Bool
        /// The properties that are read there.
        package let keys: Set<String>
    }
    /// The entities of the rows that it finds.
    package let rows: ClosedRange<UInt16>
    package let links: [Link]

    /// Whether a change of an object of this entity can change the result.
    package func includes(_ entity: EntityIndex) -> Bool {
        rows.contains(entity.rawValue) || links.contains { $0.entities.contains(entity.rawValue) }
    }

    /// Whether the answer for a row depends on that row alone.
    package var isLocal: Bool { links.isEmpty }
}
