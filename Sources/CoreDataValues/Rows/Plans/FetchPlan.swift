// Which rows are wanted, in which order, and in which form.

/// What a fetch asks of a store.
package struct FetchPlan: Sendable {
    /// How many sort keys a fetch may have.
    package static let sortLimit = 62

    package var entity: EntityIndex
    package var includesSubentities = true
    package var condition = FetchCondition.everything
    /// The condition as a tree, nil for all rows. It may be made anew at each call.
    package var predicate: Predicate? {
        get { condition.tree }
        set { condition = FetchCondition(newValue) }
    }
    package var sort: [SortTerm] = []
    /// 0 for no limit.
    package var limit = 0
    package var offset = 0
    package var projection = Projection.rows
    package init(entity: EntityIndex) { self.entity = entity }

    /// Whether cells are wanted; without them only keys, versions and entities are read.
    package var includesValues: Bool {
        get { if case .rows = projection { true } else { false } }
        set { projection = newValue ? .rows : .keys }
    }

    /// Whether it finds all rows of its entity.
    package var isEverything: Bool { condition.isEverything && limit == 0 && offset == 0 }
}
