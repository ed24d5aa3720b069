// How often a store was written.

/// Counts that only differences of mean something.
package struct WriteCount: Sendable, Equatable {
    /// Commits of whoever has the store open.
    package let all: Int64
    /// Those of this store.
    package let own: Int64
    /// A number that changes where new rows are numbered, which is a commit of its own.
    package let numbering: Int64

    /// Whether each commit was counted; else several between two questions may be one.
    package let isExact: Bool

    package init(all: Int64, own: Int64, numbering: Int64, isExact: Bool) {
        self.isExact = isExact
        self.all = all
        self.own = own
        self.numbering = numbering
    }
}
