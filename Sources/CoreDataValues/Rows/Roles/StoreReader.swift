// The first role of a store: reading.

import Foundation

package enum FetchStep: Sendable { case more, stop }

/// Rows and values are read from it. Every read names the view that it sees.
///
/// Stores have this role, and so have a parent context as its children see it and a store with a batch laid over it.
package protocol StoreReader: StoreRole {
    /// Pins the state of this moment. A store without pinned views shows its latest state instead (12.1).
    ///
    /// - Throws: 134090 when too many views are pinned already and none goes in time.
    func pinnedView() throws -> ReadView
    /// Finds rows. Batches come in the plan's order: of chunks, not chunk by chunk, since rows of several entities stand in one order.
    func open(_ plan: FetchPlan, _ view: ReadView) throws -> any ReadCursor<RowBatch>
    /// Finds values without an entity: what a plan whose projection is `.values` makes of the rows. Batches come in the plan's
    /// order, where it has one.
    func openValues(_ plan: FetchPlan, _ view: ReadView) throws -> any ReadCursor<ValueRows>
    /// `open` for a result that is wanted whole and at once; `receive` may stop it. Beside `open`, since most fetches are of this
    /// kind and SQLite needs no cursor for them.
    func fetch(_ plan: FetchPlan, _ view: ReadView, _ receive: (RowBatch) throws -> FetchStep) throws
    /// Counts what `open` would find, limit and offset included.
    func count(_ plan: FetchPlan, _ view: ReadView) throws -> Int
    /// Reads single rows by key. Rows that are gone are left out. The keys are of one entity tree (`root`), each key's entity
    /// only a hint: the row found tells the true one.
    func rows(
        for numbers: [Int64], in root: EntityIndex, _ view: ReadView, _ receive: (RowBatch) throws -> FetchStep) throws
    /// Reads the rows at the other end of a to-many of one object, in order when the relationship is ordered.
    func members(
        of relationship: RelationshipIndex, owner: RowKey, _ view: ReadView, _ receive: (RowBatch) throws -> FetchStep)
        throws
    /// The keys at the other end of a to-many of one object, in order when the relationship is ordered. Costs what `members` costs,
    /// unless the capabilities say otherwise.
    func memberKeys(of relationship: RelationshipIndex, owner: RowKey, _ view: ReadView) throws -> [RowKey]
    /// Whether a row is at the other end of a to-many of one object. Costs what `members` costs, unless the capabilities say
    /// otherwise.
    func isMember(_ member: RowKey, of relationship: RelationshipIndex, owner: RowKey, _ view: ReadView) throws -> Bool
    /// Reads the rows at the other end of a to-many of many objects at once, each with its owner; in order for each owner when
    /// the relationship is ordered.
    func targets(
        of relationship: RelationshipIndex, from owners: [Int64], _ view: ReadView,
        _ receive: (MemberBatch) throws -> FetchStep) throws
    /// `targets` for owners that are probably all there are: the rows of one owner need not stand together, and rows of other
    /// owners may be among them.
    func targets(
        of relationship: RelationshipIndex, fromAll owners: [Int64], _ view: ReadView,
        _ receive: (MemberBatch) throws -> FetchStep) throws
    /// Reads the bytes of a value that is not in its row.
    func content(ofFile name: String) throws -> Data
    /// How it answers a plan; nil for a store that looks at each row.
    ///
    /// - Parameter counts: whether only the number of rows is asked for.
    func explanation(of plan: FetchPlan, counts: Bool, _ view: ReadView) throws -> ReadExplanation?
}

extension StoreReader {
    package func pinnedView() throws -> ReadView { .latest }

    package func content(ofFile name: String) throws -> Data {
        guard let keeper = self as? any StoreKeeper else {
            throw StoreError(134060, "The file \(name) of a value was asked for where no store keeps files.")
        }
        return try keeper.externalData(named: name)
    }

    package func explanation(of plan: FetchPlan, counts: Bool, _ view: ReadView) throws -> ReadExplanation? { nil }

    package func fetch(_ plan: FetchPlan, _ view: ReadView, _ receive: (RowBatch) throws -> FetchStep) throws {
        try open(plan, view).forEach(receive)
    }

    /// `openValues` for a result that is wanted whole; `receive` may stop it.
    package func fetchValues(_ plan: FetchPlan, _ view: ReadView, _ receive: (ValueRows) throws -> FetchStep) throws {
        try openValues(plan, view).forEach(receive)
    }

    package func memberKeys(of relationship: RelationshipIndex, owner: RowKey, _ view: ReadView) throws -> [RowKey] {
        var keys: [RowKey] = []
        try members(of: relationship, owner: owner, view) { batch in
            keys += batch.keys(inStore: 0).map(\.row)
            return .more
        }
        return keys
    }

    package func isMember(
        _ member: RowKey, of relationship: RelationshipIndex, owner: RowKey, _ view: ReadView
    ) throws -> Bool {
        try memberKeys(of: relationship, owner: owner, view).contains { $0.number == member.number }
    }
}
