// What a writer has committed, in its own words: the store must end as the sum of all ledgers.

/// An item as it must stand in the store.
struct ItemState: Equatable {
    var amount: Int
    var note: String
    var counter: Int?
    var tags: Set<Int>
}

/// What was committed. Amounts and values are noted as differences, since several writers add to them; what only an item's owner
/// writes is noted as it is.
struct Ledger {
    /// The items that were made, with what their owner wrote last.
    var items: [ItemName: ItemState] = [:]
    var deleted: Set<ItemName> = []
    /// Items that more than one commit has deleted: one of them cannot have seen the other.
    var deletedTwice: Set<ItemName> = []
    /// What was added to amounts after an item was made.
    var amounts: [ItemName: Int] = [:]
    /// What was added to the counters' values.
    var values: [Int: Int] = [:]

    /// Adds what came later, or what another writer noted.
    mutating func add(_ other: Ledger) {
        items.merge(other.items) { $1 }
        deletedTwice.formUnion(other.deletedTwice)
        deletedTwice.formUnion(deleted.intersection(other.deleted))
        deleted.formUnion(other.deleted)
        amounts.merge(other.amounts, uniquingKeysWith: +)
        values.merge(other.values, uniquingKeysWith: +)
    }

    /// The items that must be in the store.
    var remaining: [ItemName: ItemState] {
        var remaining = items.filter { !deleted.contains($0.key) }
        for (name, amount) in amounts { remaining[name]?.amount += amount }
        return remaining
    }
}
