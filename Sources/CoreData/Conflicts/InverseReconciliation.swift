// After a merge: brings the other ends of the merged objects' relationships up to date.

import CoreDataValues
import Foundation

/// After a merge, refreshes related objects until both ends of each relationship match.
///
/// Runs when every object of the save has its written row, so nothing is pending. Members are read again on demand. An
/// object gets the stored row only if one of its to-ones differs in memory and store, and one of the two targets was
/// merged or refreshed here. All others keep the values that they were read with, so that a conflict over them is still
/// detected.
struct InverseReconciliation {
    private let context: NSManagedObjectContext
    private let schema: Schema

    init(_ context: NSManagedObjectContext) {
        self.context = context
        schema = context.runtime.schema
    }

    /// *forget members · find other ends · attach stored rows to those that differ*, repeated for the refreshed ones.
    func run(after merged: Set<NSManagedObject>) {
        var known = merged
        var fresh = merged
        while !fresh.isEmpty {
            let keys = Set(fresh.map(rowKey))
            forgetMembers(keys)
            for object in fresh where !object._state.has(.detached) {
                object.forEachStoredToMany { _, members in members.becomeFault() }
            }
            fresh = attachStoredRows(to: otherEnds(of: fresh, keys).subtracting(known), keys)
            known.formUnion(fresh)
        }
        refaultMissing()
    }

    /// The key of an object's row under the root entity: equal whichever entity of the tree a key names.
    private func rowKey(_ object: NSManagedObject) -> RowKey {
        RowKey(entity: object._state.info.entity.root, number: object._state.pointee.number)
    }

    /// Turns the stored members of to-manys into faults if a refreshed object is, or may be, among them.
    private func forgetMembers(_ keys: Set<RowKey>) {
        let roots = Set(keys.map(\.entity))
        for object in context.allObjects where object._state.pointee.toMany != nil {
            object.forEachStoredToMany { index, members in
                guard roots.contains(schema[object.relationship(toMany: index).destination].root) else { return }
                members.becomeFault()
            }
        }
    }

    // MARK: Other ends

    /// Objects whose to-one points at a refreshed object, or should.
    private func otherEnds(of fresh: Set<NSManagedObject>, _ keys: Set<RowKey>) -> Set<NSManagedObject> {
        var ends: Set<NSManagedObject> = []
        var memberRoots: Set<EntityIndex> = []
        for object in fresh where !object._state.has(.detached) {
            for relationship in object._state.info.relationships {
                guard let inverse = relationship.inverse, schema[inverse].slot != nil else { continue }
                switch relationship.place {
                case .slot(let slot): if let target = object.target(at: slot) { ends.insert(target) }
                case .toMany: memberRoots.insert(schema[relationship.destination].root)
                case .fetched: continue
                }
            }
        }
        for object in context.allObjects
        where memberRoots.contains(object._state.info.entity.root) || names(object, keys) { ends.insert(object) }
        return ends.filter { $0.lastRead != nil && !$0._state.has([.deleted, .detached]) }
    }

    private func names(_ object: NSManagedObject, _ keys: Set<RowKey>) -> Bool {
        guard let row = object.lastRead else { return false }
        return object._state.info.slotInverses.indices.contains { slot in
            target(of: object, slot, row).map(keys.contains) ?? false
        }
    }

    /// The target of a to-one in a row, if the to-one has an inverse.
    private func target(of object: NSManagedObject, _ slot: Int, _ row: RowSnapshot) -> RowKey? {
        guard object._state.info.slotInverses[slot] != nil, let key = object.targetKey(at: slot, of: row) else {
            return nil
        }
        return RowKey(entity: schema[key.entity].root, number: key.number)
    }

    // MARK: Attaching rows

    /// Gives the store's row to objects whose to-ones differ from it, and returns them. If the store cannot be read,
    /// they become faults. So do objects whose rows are gone: a program that reads them is told (4.12).
    private func attachStoredRows(to ends: Set<NSManagedObject>, _ keys: Set<RowKey>) -> Set<NSManagedObject> {
        var refreshed: Set<NSManagedObject> = []
        var gone: Set<RowKey> = []
        for (store, objects) in Dictionary(grouping: ends, by: { $0._state.pointee.store }) {
            guard let rows = context.reader(of: store) else { continue }
            let stored = try? StoredRows(objects.map { $0._state.key.row }, in: rows)
            for object in objects {
                guard let read = object.lastRead else { continue }
                if let row = stored?[object._state.key.row].row {
                    guard differs(object, read, row, keys) else { continue }
                    context.refresh(object, with: row)
                } else {
                    guard names(object, keys) else { continue }
                    object.forgetRowIfClean()
                    context.tracker.addToEvent(object, .eventRefreshed)
                    if stored != nil {
                        gone.insert(rowKey(object))
                        continue
                    }
                }
                refreshed.insert(object)
            }
        }
        if !gone.isEmpty { forgetMembers(gone) }
        return refreshed
    }

    /// Turns objects that were read and have no row back into faults: the save detaches only what it deleted itself.
    private func refaultMissing() {
        for object in context.tracker.dirty where object._state.has(.inaccessible) && !object._state.has(.detached) {
            context.tracker.discard(object)
            object._state.clear(.inaccessible)
            object._state.detachRow()
        }
    }

    /// Whether a to-one differs between the two rows and points at a refreshed object in one of them.
    private func differs(_ object: NSManagedObject, _ read: RowSnapshot, _ row: RowSnapshot, _ keys: Set<RowKey>)
        -> Bool
    {
        object._state.info.slotInverses.indices.contains { slot in
            let (former, present) = (target(of: object, slot, read), target(of: object, slot, row))
            return former != present && (former.map(keys.contains) ?? false || present.map(keys.contains) ?? false)
        }
    }
}
