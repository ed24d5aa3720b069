// A store as contexts pinned to a query generation read it.

import CoreDataValues
import Foundation

/// Replaces reads of the latest state by reads of the generation's state.
final class PinnedRows: StoreReader, @unchecked Sendable {
    private let store: any StoreReader
    private let generation: QueryGeneration
    private let coordinator: NSPersistentStoreCoordinator
    var schema: Schema { store.schema }
    var capabilities: StoreCapabilities { store.capabilities }

    init(_ store: any StoreReader, _ generation: QueryGeneration, of coordinator: NSPersistentStoreCoordinator) {
        self.store = store
        self.generation = generation
        self.coordinator = coordinator
    }

    func pinnedView() throws -> ReadView { try generation.view(of: store, in: coordinator) }

    private func shown(_ view: ReadView) throws -> ReadView {
        guard case .latest = view else { return view }
        return try pinnedView()
    }

    func open(_ plan: FetchPlan, _ view: ReadView) throws -> any ReadCursor<RowBatch> {
        try store.open(plan, shown(view))
    }

    func openValues(_ plan: FetchPlan, _ view: ReadView) throws -> any ReadCursor<ValueRows> {
        try store.openValues(plan, shown(view))
    }

    func fetch(_ plan: FetchPlan, _ view: ReadView, _ receive: (RowBatch) throws -> FetchStep) throws {
        try store.fetch(plan, shown(view), receive)
    }

    func count(_ plan: FetchPlan, _ view: ReadView) throws -> Int { try store.count(plan, shown(view)) }

    func content(ofFile name: String) throws -> Data { try store.content(ofFile: name) }

    func explanation(of plan: FetchPlan, counts: Bool, _ view: ReadView) throws -> ReadExplanation? {
        try store.explanation(of: plan, counts: counts, shown(view))
    }

    func rows(
        for numbers: [Int64], in root: EntityIndex, _ view: ReadView, _ receive: (RowBatch) throws -> FetchStep
    ) throws {
        try store.rows(for: numbers, in: root, shown(view), receive)
    }

    func members(
        of relationship: RelationshipIndex, owner: RowKey, _ view: ReadView, _ receive: (RowBatch) throws -> FetchStep
    ) throws {
        try store.members(of: relationship, owner: owner, shown(view), receive)
    }

    func memberKeys(of relationship: RelationshipIndex, owner: RowKey, _ view: ReadView) throws -> [RowKey] {
        try store.memberKeys(of: relationship, owner: owner, shown(view))
    }

    func isMember(_ member: RowKey, of relationship: RelationshipIndex, owner: RowKey, _ view: ReadView) throws -> Bool
    {
        try store.isMember(member, of: relationship, owner: owner, shown(view))
    }

    func targets(
        of relationship: RelationshipIndex, from owners: [Int64], _ view: ReadView,
        _ receive: (MemberBatch) throws -> FetchStep
    ) throws {
        try store.targets(of: relationship, from: owners, shown(view), receive)
    }

    func targets(
        of relationship: RelationshipIndex, fromAll owners: [Int64], _ view: ReadView,
        _ receive: (MemberBatch) throws -> FetchStep
    ) throws {
        try store.targets(of: relationship, fromAll: owners, shown(view), receive)
    }
}
