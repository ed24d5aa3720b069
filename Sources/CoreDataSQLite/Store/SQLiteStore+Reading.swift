// How a SQLite store is read.

import CoreDataSQL
import CoreDataValues

extension SQLiteStore {
    package func pinnedView() throws -> ReadView {
        guard capabilities.contains(.pinnedViews), let lease = try pool.leaseView() else { return .latest }
        return .pinned(SQLiteView(of: self, lease))
    }

    package func fetch(_ plan: FetchPlan, _ view: ReadView, _ receive: (RowBatch) throws -> FetchStep) throws {
        try reader.fetch(plan, view, receive)
    }

    package func open(_ plan: FetchPlan, _ view: ReadView) throws -> any ReadCursor<RowBatch> {
        try reader.open(plan, view)
    }

    package func openValues(_ plan: FetchPlan, _ view: ReadView) throws -> any ReadCursor<ValueRows> {
        try reader.openValues(plan, view)
    }

    package func count(_ plan: FetchPlan, _ view: ReadView) throws -> Int { try reader.count(plan, view) }

    package func rows(
        for numbers: [Int64], in root: EntityIndex, _ view: ReadView, _ receive: (RowBatch) throws -> FetchStep
    ) throws {
        try reader.rows(for: numbers, in: root, view, receive)
    }

    package func members(
        of relationship: RelationshipIndex, owner: RowKey, _ view: ReadView, _ receive: (RowBatch) throws -> FetchStep
    ) throws {
        try reader.members(of: relationship, owner: owner, view, receive)
    }

    package func isMember(
        _ member: RowKey, of relationship: RelationshipIndex, owner: RowKey, _ view: ReadView
    ) throws -> Bool {
        try reader.isMember(member, of: relationship, owner: owner, view)
    }

    package func targets(
        of relationship: RelationshipIndex, from owners: [Int64], _ view: ReadView,
        _ receive: (MemberBatch) throws -> FetchStep
    ) throws {
        try reader.targets(of: relationship, from: owners, view, receive)
    }

    package func targets(
        of relationship: RelationshipIndex, fromAll owners: [Int64], _ view: ReadView,
        _ receive: (MemberBatch) throws -> FetchStep
    ) throws {
        try reader.targets(of: relationship, fromAll: owners, view, receive)
    }
}
