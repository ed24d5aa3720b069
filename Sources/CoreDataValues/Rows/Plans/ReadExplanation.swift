// How a store answers a fetch, for people who want to know.

/// The statement of a fetch, and how the database carries it out.
package struct ReadExplanation: Sendable {
    package let sql: String
    /// The bound values as text, in order.
    package let bindings: [String]
    /// The steps of the plan in the database's words, those inside others indented by two spaces a level.
    package let steps: [String]
    /// The indexes that the plan uses, by name.
    package let indexes: [String]
    /// Properties that the fetch selects or sorts by, while all rows of a table are read and no index begins with them.
    package let missing: [IndexCandidate]

    package init(sql: String, bindings: [String], steps: [String], indexes: [String], missing: [IndexCandidate]) {
        self.sql = sql
        self.bindings = bindings
        self.steps = steps
        self.indexes = indexes
        self.missing = missing
    }
}

/// A property by which an index could find rows.
package struct IndexCandidate: Sendable, Hashable {
    package let entity: EntityIndex
    package let slot: Int
    /// Whether it would only spare sorting.
    package let isOrder: Bool
}
