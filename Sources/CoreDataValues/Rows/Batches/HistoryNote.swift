// What belongs to a store's history beside the rows of a commit.

import Synchronization

/// What a store does about history.
package enum HistoryKeeping: Sendable {
    /// It keeps none.
    case none
    /// Every commit is recorded.
    case recorded
    /// It has a history and was opened without asking for it, so it takes no changes, which the history would miss (12.5).
    case closed
}

/// Who makes a commit, and which relationships it changes that have no cell in the row of their object. A batch carries one only
/// for a store that records history.
package final class HistoryNote: Sendable {
    package let author: String?
    package let contextName: String?
    /// The changed relationships of rows that the batch neither inserts nor deletes.
    package let relationships: [RowKey: [RelationshipIndex]]
    /// The number of the transaction that the store makes of it; 0 where it has nothing to record.
    package let number = Atomic<Int64>(0)

    package init(author: String?, contextName: String?, relationships: [RowKey: [RelationshipIndex]]) {
        self.author = author
        self.contextName = contextName
        self.relationships = relationships
    }
}
