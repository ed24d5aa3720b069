// The first role of a store: reading.

package enum FetchStep: Sendable { case more, stop }

/// Rows and values are read from it.
///
/// Stores have this role, and so have a parent context as its children see it and a store with a batch laid over it.
package protocol StoreReader: StoreRole {
    /// Finds rows. Batches arrive in the plan's order; `receive` may stop the fetch.
    func fetch(_ plan: FetchPlan, _ receive: (RowBatch) throws -> FetchStep) throws
    /// Counts what `fetch` would find, limit and offset included.
    func count(_ plan: FetchPlan) throws -> Int
    /// Finds values without an entity: what a plan whose projection is `.values` makes of the rows. Batches arrive in the plan's
    /// order, where it has one; `receive` may stop the fetch.
    func fetchValues(_ plan: FetchPlan, _ receive: (ValueRows) throws -> FetchStep) throws
    /// Reads single rows by key. Rows that are gone are left out. The keys are of one entity tree (`root`), each key's entity
    /// only a hint: the row found tells the true one.
    func rows(for numbers: [Int64], in root: EntityIndex, _ receive: (RowBatch) throws -> FetchStep) throws
    /// Reads the rows at the other end of a to-many of one object, in order when the relationship is ordered.
    func members(
        of relationship: RelationshipIndex, owner: RowKey, _ receive: (RowBatch) throws -> FetchStep) throws
    /// The keys at the other end of a to-many of one object, in order when the relationship is ordered. Costs what `members` costs,
    /// unless the capabilities say otherwise.
    func memberKeys(of relationship: RelationshipIndex, owner: RowKey) throws -> [RowKey]
    /// Whether a row is at the other end of a to-many of one object. Costs what `members` costs, unless the capabilities say
    /// otherwise.
    func isMember(_ member: RowKey, of relationship: RelationshipIndex, owner: RowKey) throws -> Bool
    /// Reads the rows at the other end of a to-many of many objects at once, each with its owner; in order for each owner when
    /// the relationship is ordered.
    func targets(
        of relationship: RelationshipIndex, from owners: [Int64], _ receive: (MemberBatch) throws -> FetchStep) throws
    /// `targets` for owners that are probably all there are: the rows of one owner need not stand together, and rows of other
    /// owners may be among them.
    func targets(
        of relationship: RelationshipIndex, fromAll owners: [Int64], _ receive: (MemberBatch) throws -> FetchStep
    ) throws
}

extension StoreReader {
    package func memberKeys(of relationship: RelationshipIndex, owner: RowKey) throws -> [RowKey] {
        var keys: [RowKey] = []
        try members(of: relationship, owner: owner) { batch in
            keys += batch.keys(inStore: 0).map(\.row)
            return .more
        }
        return keys
    }

    package func isMember(_ member: RowKey, of relationship: RelationshipIndex, owner: RowKey) throws -> Bool {
        try memberKeys(of: relationship, owner: owner).contains { $0.number == member.number }
    }
}
