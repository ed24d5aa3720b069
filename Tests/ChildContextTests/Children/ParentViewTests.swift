// Which state of its parent a child reads.

import CoreDataTestSupport
import CoreDataValues
import Foundation
import Testing

@testable import CoreData

@Suite struct ParentViewTests {
    @Test("A parent, read as a store, has its latest state alone: every read that names a pinned view is refused")
    func refused() throws {
        let stack = try Stack(NSInMemoryStoreType, model: NSManagedObjectModel(draft: Hub.draft()))
        let (store, child) = (stack.coordinator.persistentStores[0], stack.context.child())
        guard case .pinned(let pinned) = try store.rows.pinnedView() else { throw CancellationError() }
        let (rows, view) = (try #require(child.link.reader(of: store.number, child)), ReadView.pinned(pinned))
        let hub = try #require(rows.schema.entity(named: "Hub"))
        let toMany = try #require(hub.toMany.first)
        let (plan, key) = (FetchPlan(entity: hub.index), RowKey(entity: hub.index, number: 1))
        let reads: [() throws -> Void] = [
            { _ = try rows.open(plan, view) }, { _ = try rows.count(plan, view) },
            { try rows.rows(for: [1], in: hub.index, view) { _ in .stop } },
            { try rows.members(of: toMany, owner: key, view) { _ in .stop } },
            { _ = try rows.isMember(key, of: toMany, owner: key, view) },
            { try rows.targets(of: toMany, from: [1], view) { _ in .stop } },
            { try rows.targets(of: toMany, fromAll: [1], view) { _ in .stop } },
        ]
        for read in reads { #expect((#expect(throws: StoreError.self) { try read() })?.code == 134060) }
    }
}
