// Which part of a history is wanted.

/// What a history is asked for: transactions in their order, unless a search has one of its own.
package struct HistoryQuery: Sendable {
    /// Transactions with higher numbers; 0 for all.
    package var after: Int64
    /// Whether it is an error (134301) when some of what came after that is gone.
    package var isWhole = false
    /// Transactions that were made later, in seconds since 2001; nil for all.
    package var since: Double?
    /// Which of them, in which order and how many.
    package var search: Search?
    /// Whether changes are read.
    package var includesChanges = true

    package struct Search: Sendable {
        /// Whether changes are found, and their transactions with them, or transactions with all of their changes.
        package let findsChanges: Bool
        /// Over the history's own entities.
        package let plan: FetchPlan

        package init(findsChanges: Bool, plan: FetchPlan) {
            self.findsChanges = findsChanges
            self.plan = plan
        }
    }

    package init(after: Int64 = 0, since: Double? = nil) {
        self.after = after
        self.since = since
    }
}

/// What is left of a history.
package struct HistoryExtent: Sendable, Equatable {
    /// The number of the first transaction that is there; nil for none.
    package let first: Int64?
    /// The highest number that was given, 0 for none.
    package let last: Int64

    package init(first: Int64?, last: Int64) {
        self.first = first
        self.last = last
    }

    /// Whether all that came after a transaction is there. A number that was never given is no place in this history.
    package func reaches(after number: Int64) -> Bool { number <= last && number + 1 >= first ?? (last + 1) }
}
