// Answers a child's reads. The caller holds the context and all its ancestors.

import CoreDataValues
import Foundation

extension NSManagedObjectContext {
    /// Replaces temporary keys among a to-many's stored members by the permanent keys that they have now.
    final func replaceTemporaryKeys(of members: ToMany, store: UInt16) {
        link.replaceTemporaryKeys(of: members, store: store, self)
    }

    /// Returns the rows that a fetch over one store finds in this context.
    final func batches(of plan: FetchPlan, from number: UInt16) throws -> [RowBatch] {
        let fetch = bound(plan)
        guard let store = stores(for: fetch).first(where: { $0.number == number }) else { return [] }
        guard let overlay = try overlay(for: fetch, over: [store]) else {
            var batches: [RowBatch] = []
            try store.rows.fetch(plan, .latest) { batch in
                batches += try asHeld(batch, store: number)
                return .more
            }
            return batches
        }
        return try pack(overlay.objects(from: [store]))
    }

    final func count(of plan: FetchPlan, from number: UInt16) throws -> Int {
        let fetch = bound(plan)
        guard let store = stores(for: fetch).first(where: { $0.number == number }) else { return 0 }
        return try overlay(for: fetch, over: [store])?.count(from: [store]) ?? store.rows.count(plan, .latest)
    }

    /// Makes a request of a plan that covers all pending changes here, with values, as results are packed.
    final func bound(_ plan: FetchPlan) -> BoundFetch {
        var plan = plan
        plan.includesValues = true
        return BoundFetch(
            info: runtime.infos[plan.entity.value], plan: plan, includesPendingChanges: true, asFaults: true,
            stores: nil)
    }

    /// Returns the rows of keys: packed objects that have values here, else rows from below.
    final func batches(for numbers: [Int64], in root: EntityIndex, from store: UInt16) throws -> [RowBatch] {
        var packer = ChildRows(room: numbers.count)
        var others: [UInt16: [Int64]] = [:]
        for number in numbers {
            let key = currentKey(ObjectKey(number: number, entity: root, store: number < 0 ? 0 : store))
            let found = registered(key)
            if let found, key.number <= 0 || found._state.hasValues || found._state.has([.deleted, .detached]) {
                try packer.add(found, in: self)
            } else if key.number > 0 {
                others[key.store, default: []].append(key.number)
            } else if key.number <= 0, let read = try link.readUnsaved(key, self) {
                try packer.add(read, in: self)
            }
        }
        var batches = packer.finish()
        for (store, numbers) in others {
            try requiredReader(of: store)?.rows(for: numbers, in: root, .latest) { batch in
                batches.append(batch)
                return .more
            }
        }
        return batches
    }

    /// Returns the rows of a to-many's members, in order.
    final func batches(of relationship: RelationshipIndex, owner: ObjectKey) throws -> [RowBatch] {
        if let index = runtime.schema[relationship].toManyIndex, let owner = knowing(owner) {
            let members = owner.members(at: index)
            try faulting.throwReadError()
            return try pack(members)
        }
        guard let rows = try requiredReader(of: owner.store) else { return [] }
        var batches: [RowBatch] = []
        try rows.members(of: relationship, owner: owner.row, .latest) { batch in
            batches += try asHeld(batch, store: owner.store)
            return .more
        }
        return batches
    }

    /// The registered owner, if it may have members that its row does not have.
    final func knowing(_ owner: ObjectKey) -> NSManagedObject? {
        guard let object = registered(owner) else { return nil }
        return object._state.pointee.toMany != nil || object._state.pointee.number < 0 ? object : nil
    }

    /// Returns a batch from below, packed anew if registered objects have other values.
    final func asHeld(_ batch: RowBatch, store: UInt16) throws -> [RowBatch] {
        guard batch.chunks.contains(where: { holdsOtherwise($0, store: store) }) else { return [batch] }
        return try pack(faulting.materialize([batch], store: store))
    }

    /// Whether a row of the chunk has a registered object with other values.
    final func holdsOtherwise(_ chunk: RowChunk, store: UInt16) -> Bool {
        let layout = chunk.layout
        for index in 0..<chunk.count {
            let row = chunk.row(index)
            let key = ObjectKey(number: row.key(layout), entity: layout.entity, store: store)
            guard let object = registered(key) else { continue }
            let state = object._state
            if state.has([.deleted, .detached]) || state.pointee.overlay != nil { return true }
            guard let read = object.lastRead else { continue }
            // Unsaved changes of a parent do not change the version.
            let isOther =
                link.givesUnsavedRows
                ? !read.agrees(with: RowSnapshot(chunk: chunk, row: row)) : read.version != row.version(layout)
            if isOther { return true }
        }
        return false
    }

    final func pack(_ objects: [NSManagedObject]) throws -> [RowBatch] {
        let read = try readRows(of: objects.filter { !$0._state.hasValues }.map(\._state.key))
        defer { withExtendedLifetime(read) {} }
        var packer = ChildRows(room: objects.count)
        for object in objects { try packer.add(object, in: self) }
        return packer.finish()
    }
}

extension UnsafeMutablePointer<ObjectState> {
    /// Whether there is a row or an overlay.
    var hasValues: Bool { pointee.row != nil || pointee.overlay != nil }
}
