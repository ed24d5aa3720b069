// Fetch plans as requests to an incremental store, and what it answers.

import CoreDataFoundation
import CoreDataValues
import Foundation

/// One fetch of an incremental store.
struct IncrementalRequest {
    /// Of the type that a program can cast to without knowing which entity is asked for: Swift casts no generics.
    private let request = NSFetchRequest<any NSFetchRequestResult>()
    private let context: NSManagedObjectContext

    init(_ plan: FetchPlan, schema: Schema, context: NSManagedObjectContext) {
        self.context = context
        request.entity = context.runtime.infos[plan.entity.value].description
        request.includesSubentities = plan.includesSubentities
        request.predicate = plan.predicate.map { NSPredicate.made(of: $0) { context.object(for: $0) } }
        if !plan.sort.isEmpty { request.sortDescriptors = plan.sort.map { NSSortDescriptor.made(of: $0) } }
        request.fetchLimit = plan.limit
        request.fetchOffset = plan.offset
        request.includesPropertyValues = plan.includesValues
    }

    func ids(from store: NSIncrementalStore) throws -> [NSManagedObjectID] {
        IncrementalRequest.ids(in: try store.execute(request, with: context))
    }

    func count(from store: NSIncrementalStore) throws -> Int {
        request.resultType = .countResultType
        let answer = try store.execute(request, with: context)
        if let number = answer as? NSNumber ?? (answer as? [NSNumber])?.first { return number.intValue }
        if let number = answer as? Int ?? (answer as? [Int])?.first { return number }
        throw StoreError(
            134060,
            "\(store.type) answered \(Swift.type(of: answer)) where a count was asked; it must be an array of one number."
        )
    }

    /// Objects or IDs in any collection.
    static func ids(in answer: Any) -> [NSManagedObjectID] {
        let members: [Any]
        switch answer {
        case let array as [Any]: members = array
        case let set as NSOrderedSet: members = set.array
        case let set as NSSet: members = set.allObjects
        case let set as Set<NSManagedObjectID>: members = Array(set)
        case let array as NSArray: members = array.map { $0 }
        default: members = []
        }
        return members.compactMap { ($0 as? NSManagedObjectID) ?? ($0 as? NSManagedObject)?.objectID }
    }
}

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
        updated += try touched.compactMap { try context.read(key($0)) }
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
