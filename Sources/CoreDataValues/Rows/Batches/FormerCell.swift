// What a row had before a transaction.

/// One value of one row, or one member of one of its to-manys.
package struct FormerCell: Sendable, Equatable {
    package let key: RowKey
    /// The name of a slot, or of a to-many.
    package let property: String
    /// Of a member of an ordered to-many.
    package let place: Int64?
    /// Of a to-one, and of a member, its number.
    package let value: Value
    /// Whether it is a member that the owner lost without a change of its own: then not all members are told, and a place is how many
    /// stood before it.
    package let isLost: Bool

    package init(key: RowKey, property: String, place: Int64?, value: Value, isLost: Bool = false) {
        self.key = key
        self.property = property
        self.place = place
        self.value = value
        self.isLost = isLost
    }
}

/// A named place in the history of one store.
package struct HistoryMark: Sendable, Equatable {
    package let name: String
    /// The last transaction that was dealt with.
    package let number: Int64
    /// When it was moved there, in seconds since 2001.
    package let time: Double

    package init(name: String, number: Int64, time: Double) {
        self.name = name
        self.number = number
        self.time = time
    }
}
