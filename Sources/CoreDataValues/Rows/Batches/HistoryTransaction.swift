// What a store's history says, read back.

/// One transaction with its changes, or a part of one that has very many.
package struct HistoryTransaction: Sendable {
    /// Higher numbers came later.
    package let number: Int64
    /// In seconds since 2001.
    package let time: Double
    package let author: String?
    package let contextName: String?
    package let bundle: String?
    package let process: String?
    package var changes: [HistoryChange] = []
    /// Whether what comes next is more of the same transaction.
    package var isContinued = false

    package static var maximumCount: Int { 1024 }

    package init(
        number: Int64, time: Double, author: String?, contextName: String?, bundle: String?, process: String?
    ) {
        self.number = number
        self.time = time
        self.author = author
        self.contextName = contextName
        self.bundle = bundle
        self.process = process
    }
}

/// What a transaction did to one row.
package struct HistoryChange: Sendable, Hashable {
    /// The numbers are `NSPersistentHistoryChangeType`'s.
    package enum Kind: Int64, Sendable { case insert, update, delete }

    /// Unique in the history.
    package let number: Int64
    package let kind: Kind
    package let key: RowKey
    /// The attributes and to-ones that an update changed.
    package let slots: [Int]
    /// The to-manys that it changed.
    package let relationships: [RelationshipIndex]
    /// Of a deleted row the values that outlive it, by slot.
    package let tombstone: [Int: Value]

    package init(
        number: Int64, kind: Kind, key: RowKey, slots: [Int] = [], relationships: [RelationshipIndex] = [],
        tombstone: [Int: Value] = [:]
    ) {
        self.number = number
        self.kind = kind
        self.key = key
        self.slots = slots
        self.relationships = relationships
        self.tombstone = tombstone
    }
}
