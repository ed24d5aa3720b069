// Changes of many rows at once, named by a query or read from a stream instead of row by row.

/// One change of a set of rows, one transaction: all of it or nothing. What a row means to objects (validation, hooks, what a context
/// has pending) plays no part; what the schema says of stored values holds.
///
/// SQLite writes it by statements, so that neither statements nor memory grow with the rows. It is worked out row by row, in memory as large
/// as the rows that it finds, and again when a writer of another process comes between (32 times at most, then 133020): an update that
/// computes a Float or a Decimal, gives a value of more than 100 KB to an attribute that may lie in a file, or writes a to-one whose inverse is
/// a to-one or ordered; a deletion from which 60 or more relationships are to be nullified. In other stores every change is, and each other
/// writer may come between; the store in memory lets none between. No change reaches over several stores.
package struct SetChange {
    package enum Kind {
        /// Assigns to all rows that a plan finds, its order and window included.
        case update(FetchPlan, [Assignment])
        /// Deletes all rows that a plan finds, its order and window included, and does to others what the delete rules say.
        case delete(FetchPlan)
        /// Adds rows of one entity a chunk until there are no more.
        ///
        /// The store numbers them, whatever key and version they have, and may write to the chunks, which are its own from then on.
        /// The function is called while the store is being written to, so it must not write to it.
        case stream(() throws -> NewRows?)

        /// Adds rows all of whose values were given.
        package static func insert(_ next: @escaping () throws -> RowChunk?) -> Kind {
            .stream { try next().map { NewRows($0) } }
        }
    }
    package var kind: Kind
    /// What becomes of a new row whose unique values another row has. An update that breaks a constraint fails whatever the rule.
    package var uniqueness = Uniqueness.fail
    package var answer = Answer.count
    /// Who makes the change, for a store that records history.
    package var note: HistoryNote?

    package init(_ kind: Kind) { self.kind = kind }

    /// One property and what it becomes.
    package struct Assignment: Sendable {
        /// An attribute, an element of a composite by its path, or a to-one.
        package let property: String
        /// Computed of each row as it was before the change; of a to-one a key or null.
        package let value: Expression
        package init(_ property: String, _ value: Expression) {
            self.property = property
            self.value = value
        }
    }

    /// Rules for a new row that shares the values of a uniqueness constraint with another one, stored or new.
    package enum Uniqueness: Sendable, Equatable {
        /// Nothing is written (133021).
        case fail
        /// The other row stays as it is, and the new one is left out.
        case keep
        /// The other row takes values of the new one that were given: those of the attributes named, or of all for nil. It must be of the
        /// same entity.
        case update([String]?)
    }

    /// What comes back beside the caches' share.
    package enum Answer: Sendable, Equatable {
        case count
        /// The key of each row.
        case keys
        /// The key of each row and what was done to it.
        case effects
    }
}

/// A chunk of new rows.
package struct NewRows {
    package let chunk: RowChunk
    /// By row, the slots that were given values; the others have defaults, which no stored row takes. Nil where all were given.
    package let given: [[Int]]?

    package init(_ chunk: RowChunk, given: [[Int]]? = nil) {
        self.chunk = chunk
        self.given = given
    }
}

/// What a set change came to.
package struct SetOutcome: Sendable {
    package enum Effect: Sendable, Hashable { case inserted, updated, deleted, kept }

    /// How many rows were updated or deleted of those that the query found, or inserted and updated of the stream.
    package var count = 0
    /// The rows that the query found, by number, or those of the stream in its order, kept ones too; none if only a count was asked for.
    package var keys: [RowKey] = []
    /// One for each key, if they were asked for.
    package var effects: [Effect] = []
    package var touched = TouchedSet()
    package init() {}
}

/// The rows that are not any more what is known of them, new ones left out: whoever keeps rows forgets these.
package struct TouchedSet: Sendable {
    /// Rows that have other values. Not told where only a count was asked for.
    package var changed: [RowKey] = []
    /// Rows that are gone, those that went by a delete rule among them. Not told where only a count was asked for.
    package var deleted: [RowKey] = []
    /// Entities any of whose rows, and of those below them, may be concerned.
    package var entities: Set<EntityIndex> = []
    package init() {}
}
