// The objects of a save, made for the store that writes them.

import CoreDataFoundation
import CoreDataValues
import Foundation

/// The objects of a save, made for the store that writes them.
struct SavedObjects {
    private let pending: PendingRows
    private let store: UInt16
    private let context: NSManagedObjectContext

    init(_ pending: PendingRows, store: UInt16, context: NSManagedObjectContext) {
        self.pending = pending
        self.store = store
        self.context = context
    }

    /// - Parameter touched: rows that the batch touches only by their relationships.
    func request(_ touched: Set<RowKey>) throws -> NSSaveChangesRequest {
        let inserted = pending.inserted.map { object($0) }
        for object in inserted {
            object.fire()
            context.tracker.mark(object, .inserted)
        }
        var updated: [NSManagedObject] = []
        for (row, slots) in pending.former { updated.append(try changed(row, slots)) }
        // A row that is gone is not handed over: a store that writes what it is given would bring it back.
        updated += try touched.compactMap { try context.faulting.read(key($0)) }
        for object in updated { context.tracker.mark(object, .updated) }
        let deleted = pending.deleted.map { object($0.key) }
        for object in deleted { context.tracker.mark(object, .deleted) }
        return NSSaveChangesRequest(
            inserted: Set(inserted), updated: Set(updated), deleted: Set(deleted), locked: nil)
    }

    private func object(_ key: RowKey) -> NSManagedObject { context.object(for: self.key(key)) }

    private func key(_ key: RowKey) -> ObjectKey { ObjectKey(number: key.number, entity: key.entity, store: store) }

    /// An object with its former row and the new values over it, so that `changedValues()` tells what the save writes.
    private func changed(_ former: MemoryRow, _ slots: [Int]) throws -> NSManagedObject {
        let object = object(former.key)
        let state = object._state
        guard let new = pending.rows[RowKey(entity: state.info.entity.root, number: former.key.number)] else {
            return object
        }
        let chunk = RowChunk(layout: state.info.layout, capacity: 1)
        try chunk.append(key: former.key.number, version: former.version, values: former.values)
        state.attach(chunk, row: chunk.row(0))
        let overlay = state.makeOverlay()
        let foreign = ForeignValues(schema: pending.schema, entity: state.info.entity)
        for slot in slots {
            switch state.info.kinds[slot] {
            case .toOne:
                guard let target = target(new, slot, state.info) else {
                    overlay.setNull(slot, .toOne)
                    continue
                }
                overlay.set(slot, self.object(target) as AnyObject)
            case .entityTag: continue
            case .int, .bool, .double, .float, .date, .text, .data, .externalData, .uuid, .uri, .decimal,
                .transformable:
                object.store(foreign.plain(new.values[slot], slot: slot), in: overlay, slot)
            }
        }
        return object
    }

    private func target(_ row: MemoryRow, _ slot: Int, _ info: EntityInfo) -> RowKey? {
        guard case .int(let number) = row.values[slot], let relationship = info.slotRelationships[slot] else {
            return nil
        }
        var entity = relationship.destination
        if relationship.hasEntityTag, case .int(let tag) = row.values[slot + 1], tag > 0 {
            entity = EntityIndex(Int(tag) - 1)
        }
        return RowKey(entity: entity, number: number)
    }
}
