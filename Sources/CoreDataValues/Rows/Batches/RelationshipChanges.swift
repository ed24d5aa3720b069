// What a save says of relationships that no cell of its rows has.

/// Pairs of one owner that come and go in a many-to-many relationship.
package struct LinkChange: Sendable {
    package let relationship: RelationshipIndex
    package let owner: RowKey
    package var added: [RowKey]
    package var removed: [RowKey]
    package init(relationship: RelationshipIndex, owner: RowKey, added: [RowKey], removed: [RowKey]) {
        self.relationship = relationship
        self.owner = owner
        self.added = added
        self.removed = removed
    }
}

/// The new order of the members of one owner.
package struct OrderChange: Sendable {
    package let relationship: RelationshipIndex
    package let owner: RowKey
    package let members: [RowKey]
    /// Whether these are not all members but the last, in order, behind all that the store has.
    package let isTail: Bool
    /// The places of those that came or moved, ascending, if few did: without them the others stand in the order that was read.
    package let moved: [Int]?
    package init(
        relationship: RelationshipIndex, owner: RowKey, members: [RowKey], isTail: Bool = false, moved: [Int]? = nil
    ) {
        self.relationship = relationship
        self.owner = owner
        self.members = members
        self.isTail = isTail
        self.moved = moved
    }
}

/// Members that enter (`owner` set) or leave (`owner` nil) a to-many without inverse.
package struct AdoptionChange: Sendable {
    package let relationship: RelationshipIndex
    package let owner: RowKey
    package var added: [RowKey]
    package var removed: [RowKey]
    package init(relationship: RelationshipIndex, owner: RowKey, added: [RowKey], removed: [RowKey]) {
        self.relationship = relationship
        self.owner = owner
        self.added = added
        self.removed = removed
    }
}
