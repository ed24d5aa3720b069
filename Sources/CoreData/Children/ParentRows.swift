// A parent context as a store for its child, with rows that are not saved yet.

import CoreDataValues
import Foundation

/// Answers a child's reads from the parent's objects, including their unsaved changes.
///
/// A row that the parent has not changed is passed on from below as it is; a registered object with other values is
/// packed. Unsaved objects have numbers below zero; a fetch finds them in the store that they will be saved in. Each
/// call holds the parent and all its ancestors. The topmost one decides which view of the stores is read, so a pinned
/// view is refused as one of another store.
final class ParentRows: StoreReader, @unchecked Sendable {
    private unowned let child: NSManagedObjectContext
    private unowned let link: ParentLink
    /// The store's number in the coordinator, from which it may have been removed; 0 for unsaved objects alone.
    private let number: UInt16
    private let below: (any StoreReader)?
    let schema: Schema

    init(child: NSManagedObjectContext, _ link: ParentLink, number: UInt16, below: (any StoreReader)?) {
        self.child = child
        self.link = link
        self.number = number
        self.below = below
        schema = child.runtime.schema
    }

    /// The capabilities of the store that remain through the parent.
    var capabilities: StoreCapabilities { below?.capabilities.intersection(.membership) ?? [] }

    /// Opens a cursor that holds the parent only while it reads the next rows.
    func open(_ plan: FetchPlan, _ view: ReadView) throws -> any ReadCursor<RowBatch> {
        try view.requireLatest()
        let cursor = try withParent { try ParentCursor($0, plan, from: number) }
        return StepCursor { try self.withParent { _ in try cursor.next() } }
    }

    /// Reads all rows of a fetch while it holds the parent.
    func fetch(_ plan: FetchPlan, _ view: ReadView, _ receive: (RowBatch) throws -> FetchStep) throws {
        try view.requireLatest()
        try hand(withParent { try $0.batches(of: plan, from: number) }, receive)
    }

    func count(_ plan: FetchPlan, _ view: ReadView) throws -> Int {
        try view.requireLatest()
        return try withParent { try $0.count(of: plan, from: number) }
    }

    func rows(
        for numbers: [Int64], in root: EntityIndex, _ view: ReadView, _ receive: (RowBatch) throws -> FetchStep
    ) throws {
        try view.requireLatest()
        try hand(withParent { try $0.batches(for: numbers, in: root, from: number) }, receive)
    }

    func members(
        of relationship: RelationshipIndex, owner: RowKey, _ view: ReadView, _ receive: (RowBatch) throws -> FetchStep
    ) throws {
        try view.requireLatest()
        let batches = try withParent { parent in
            let key = child.currentKey(ObjectKey(number: owner.number, entity: owner.entity, store: number))
            return try parent.batches(of: relationship, owner: key)
        }
        try hand(batches, receive)
    }

    func isMember(_ member: RowKey, of relationship: RelationshipIndex, owner: RowKey, _ view: ReadView) throws -> Bool
    {
        try view.requireLatest()
        return try withParent { parent in
            try parent.isMember(
                ObjectKey(number: member.number, entity: member.entity, store: number), of: relationship,
                owner: ObjectKey(number: owner.number, entity: owner.entity, store: number))
        }
    }

    func targets(
        of relationship: RelationshipIndex, from owners: [Int64], _ view: ReadView,
        _ receive: (MemberBatch) throws -> FetchStep
    ) throws {
        try view.requireLatest()
        try targets(of: relationship, owners, areAll: false, receive)
    }

    func targets(
        of relationship: RelationshipIndex, fromAll owners: [Int64], _ view: ReadView,
        _ receive: (MemberBatch) throws -> FetchStep
    ) throws {
        try view.requireLatest()
        try targets(of: relationship, owners, areAll: true, receive)
    }

    private func targets(
        of relationship: RelationshipIndex, _ owners: [Int64], areAll: Bool,
        _ receive: (MemberBatch) throws -> FetchStep
    ) throws {
        let entity = schema[relationship].owner
        let batches = try withParent { parent in
            let asked = owners.map { owner in
                AskedOwner(key: child.currentKey(ObjectKey(number: owner, entity: entity, store: number)), name: owner)
            }
            return try parent.batches(of: relationship, owners: asked, areAll: areAll)
        }
        for batch in batches where batch.rows.count > 0 {
            if try receive(batch) == .stop { return }
        }
    }

    private func withParent<T>(_ body: (NSManagedObjectContext) throws -> T) rethrows -> T {
        try link.withParent(of: child, body)
    }

    private func hand(_ batches: [RowBatch], _ receive: (RowBatch) throws -> FetchStep) throws {
        for batch in batches where batch.count > 0 {
            if try receive(batch) == .stop { return }
        }
    }
}
