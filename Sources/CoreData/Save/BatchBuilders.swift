// The batches of one save: which store and which key each object gets.

import CoreDataValues
import Foundation

/// The batch builders of a save, one for each store.
struct BatchBuilders {
    let context: NSManagedObjectContext
    /// How many objects the save inserts and updates.
    private let inserts: Int
    private let updates: Int
    private var first: BatchBuilder?
    private var others: [BatchBuilder] = []

    init(_ context: NSManagedObjectContext, inserts: Int, updates: Int) {
        self.context = context
        self.inserts = inserts
        self.updates = updates
    }

    /// Gives every new object its key: from its store's block for the root entity, in order of insertion.
    func assignKeys(_ inserted: ContiguousArray<NSManagedObject>) throws {
        guard let first = inserted.first else { return }
        let infos = context.runtime.infos
        let entity = first._state.pointee.entity
        if context.requiredCoordinator.asksObjectsForKeys || context.assignments != nil {
            return try assignKeysOneByOne(inserted)
        }
        if inserted.count < 64, inserted.allSatisfy({ $0._state.pointee.entity == entity }) {
            return try assignKeys(inserted, of: infos[Int(entity)])
        }
        var homes: [NumberedStore?] = Array(repeating: nil, count: infos.count)
        var counts: [Family: Int] = [:]
        try inserted.borrowEach { object in
            let entity = Int(object._state.pointee.entity)
            if homes[entity] == nil { homes[entity] = try context.requiredCoordinator.store(for: infos[entity]) }
        }
        let families = homes.enumerated().map { entity, home in
            home.map { Family(store: $0.number, root: infos[entity].entity.root) }
        }
        let perEntity = inserted.reduce(into: Array(repeating: 0, count: infos.count)) { counts, object in
            counts[Int(object._state.pointee.entity)] += 1
        }
        for (entity, family) in families.enumerated() {
            if let family { counts[family, default: 0] += perEntity[entity] }
        }
        var next = try counts.reduce(into: [Family: Int64]()) { next, entry in
            next[entry.key] = try firstKey(entry.value, in: entry.key)
        }
        var open: (family: Family, next: Int64)?
        inserted.borrowEach { object in
            let state = object._state
            guard let family = families[Int(state.pointee.entity)] else { return }
            if open?.family != family {
                if let open { next[open.family] = open.next }
                open = (family, next[family] ?? 0)
            }
            state.pointee.assigned = open?.next ?? 0
            state.pointee.assignedStore = family.store
            open?.next += 1
        }
    }

    /// Assigns keys in the common case of a small save with objects of one entity.
    private func assignKeys(_ inserted: ContiguousArray<NSManagedObject>, of info: EntityInfo) throws {
        let home = try context.requiredCoordinator.store(for: info)
        var next: Int64
        do {
            next = try home.writer.allocateKeys(inserted.count, in: info.entity.root).lowerBound
        } catch { throw CocoaError.saving(error) }
        inserted.borrowEach { object in
            object._state.pointee.assigned = next
            object._state.pointee.assignedStore = home.number
            next += 1
        }
    }

    /// Entities that share a table and so its keys, in one store.
    private struct Family: Hashable {
        var store: UInt16
        var root: EntityIndex
    }

    private func firstKey(_ count: Int, in family: Family) throws -> Int64 {
        guard let store = context.requiredCoordinator.numberedStore(family.store) else { return 0 }
        do {
            return try store.writer.allocateKeys(count, in: family.root).lowerBound
        } catch { throw CocoaError.saving(error) }
    }

    mutating func builder(for object: NSManagedObject) throws -> BatchBuilder {
        let state = object._state
        let number = state.pointee.assigned != 0 ? state.pointee.assignedStore : state.pointee.store
        if let first, first.store.number == number { return first }
        if let known = others.first(where: { $0.store.number == number }) { return known }
        guard let store = context.requiredCoordinator.numberedStore(number) else {
            throw CocoaError.removedStore(context.requiredCoordinator.identities.uuid(of: number), of: object)
        }
        let builder = BatchBuilder(
            store, context.runtime, inserts: inserts, updates: updates, comparesOwners: context.comparesOwners)
        if first == nil { first = builder } else { others.append(builder) }
        return builder
    }

    func finish() -> [StoreBatch] {
        guard let first else { return [] }
        if others.isEmpty { return [first.finish()] }
        return ([first] + others).sorted { $0.store.number < $1.store.number }.map { $0.finish() }
    }
}
