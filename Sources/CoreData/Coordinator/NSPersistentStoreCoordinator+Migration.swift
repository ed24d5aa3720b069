// Moving a store's objects to another file or another type of store.

import CoreDataValues
import Foundation

extension NSPersistentStoreCoordinator {
    /// Copies a store's objects into a new store, of another type if asked, and takes the old one out of the coordinator.
    ///
    /// The new store has a new UUID and its objects new IDs; `NSPersistentStoreCoordinatorStoresDidChange` tells them under
    /// `NSUUIDChangedPersistentStoresKey`. The old file stays. Objects of contexts keep their values but belong to the old store:
    /// reset the contexts. Costs memory for all objects.
    /// - Throws: 134030 if a store with objects is at the URL already; what opening and writing throw. All is then as before.
    @discardableResult
    public final func migratePersistentStore(
        _ store: NSPersistentStore, to URL: URL, options: [AnyHashable: Any]? = nil, withType storeType: String
    ) throws -> NSPersistentStore {
        guard rowStore(store.number) === store.rows else {
            throw CocoaError.coreData(134070, "The store \(store.identifier ?? "") is not one of this coordinator's.")
        }
        let isNew = !FileManager.default.fileExists(atPath: URL.path)
        let isDefault = runtime.schema.configurations[store.configurationName] == nil
        let made = try makeStore(storeType, isDefault ? nil : store.configurationName, URL, options ?? store.migrationOptions)
        let keys: [(old: RowKey, new: RowKey)]
        do {
            identities.add(made, number: made.number)
            keys = try StoreCopy(schema: runtime.schema, from: store, to: made).run()
        } catch {
            identities.remove(made.number)
            try? made.rows.close()
            if isNew { removeFiles(of: URL) }
            throw CocoaError.presenting(error)
        }
        carryMetadata(from: store, to: made)
        attach(made)
        post(.NSPersistentStoreCoordinatorStoresDidChange, [NSAddedPersistentStoresKey: [made]])
        let ids = keys.flatMap { [id($0.old, store), id($0.new, made)] }
        post(
            .NSPersistentStoreCoordinatorStoresDidChange,
            [NSUUIDChangedPersistentStoresKey: [store, made, ids] as [Any]])
        try remove(store)
        return made
    }

    @discardableResult
    public final func migratePersistentStore(
        _ store: NSPersistentStore, to storeURL: URL, options: [AnyHashable: Any]? = nil,
        type storeType: NSPersistentStore.StoreType
    ) throws -> NSPersistentStore {
        try migratePersistentStore(store, to: storeURL, options: options, withType: storeType.rawValue)
    }

    private func id(_ key: RowKey, _ store: NSPersistentStore) -> NSManagedObjectID {
        NSManagedObjectID(
            key: ObjectKey(number: key.number, entity: key.entity, store: store.number), identity: identities,
            info: runtime.infos[key.entity.value])
    }

    /// The application's own keys go with the objects.
    private func carryMetadata(from store: NSPersistentStore, to made: NSPersistentStore) {
        let library = [
            NSStoreTypeKey, NSStoreUUIDKey, NSStoreModelVersionHashesKey, NSStoreModelVersionIdentifiersKey,
        ]
        let own = (store.metadata ?? [:]).filter { !library.contains($0.key) }
        guard !own.isEmpty else { return }
        made.metadata = (made.metadata ?? [:]).merging(own) { _, carried in carried }
    }

    private func removeFiles(of url: URL) {
        for suffix in ["", "-wal", "-shm", "-journal"] {
            try? FileManager.default.removeItem(atPath: url.path + suffix)
        }
        try? SupportFolder(store: url).remove()
    }
}

extension NSPersistentStore {
    /// A copy is writable, whatever the original is.
    fileprivate final var migrationOptions: [AnyHashable: Any]? {
        options?.filter { ($0.key as? String) != NSReadOnlyPersistentStoreOption }
    }
}

/// Copies all rows of one store into an empty other one.
struct StoreCopy {
    private let schema: Schema
    private let source: NSPersistentStore
    private let target: NSPersistentStore

    init(schema: Schema, from source: NSPersistentStore, to target: NSPersistentStore) {
        self.schema = schema
        self.source = source
        self.target = target
    }

    /// *read the keys · number them anew · read the rows and point them at the new numbers · collect members · write all at once*
    func run() throws -> [(old: RowKey, new: RowKey)] {
        let roots = schema.entities.filter { $0.parent == nil && isHeld($0) }
        var keys: [(old: RowKey, new: RowKey)] = []
        for root in roots { keys += try number(root) }
        let numbers = Dictionary(keys.map { (place($0.old), $0.new) }, uniquingKeysWith: { a, _ in a })
        var batch = ChangeBatch()
        for root in roots { try copyRows(root, numbers, &batch) }
        for (old, new) in keys { try copyMembers(old, new, numbers, &batch) }
        guard case .committed = try target.rows.commit(batch) else {
            throw StoreError(134110, "The store's objects conflict with what the new store holds already.")
        }
        return keys
    }

    private func isHeld(_ root: Entity) -> Bool {
        guard let coordinator = source.coordinator else { return false }
        return (root.index.value...root.last.value).contains { source.holds(coordinator.runtime.infos[$0]) }
    }

    private func place(_ key: RowKey) -> RowKey { RowKey(entity: schema[key.entity].root, number: key.number) }

    private func number(_ root: Entity) throws -> [(old: RowKey, new: RowKey)] {
        var plan = FetchPlan(entity: root.index)
        plan.includesValues = false
        guard try target.rows.count(plan) == 0 else {
            throw StoreError(
                134030,
                "There is a store with objects of \(root.name) at \(target.url?.path ?? "") already. Destroy it first or choose "
                    + "another place.", path: target.url?.path, entity: root.name)
        }
        var old: [RowKey] = []
        try source.rows.fetch(plan) { batch in
            old += batch.keys(inStore: 0).map(\.row)
            return .more
        }
        let numbers = try target.rows.allocateKeys(old.count, in: root.index)
        return zip(old, numbers).map { ($0, RowKey(entity: $0.entity, number: $1)) }
    }

    private func copyRows(_ root: Entity, _ numbers: [RowKey: RowKey], _ batch: inout ChangeBatch) throws {
        try source.rows.fetch(FetchPlan(entity: root.index)) { rows in
            for chunk in rows.chunks where chunk.count > 0 {
                let copy = RowChunk(layout: chunk.layout, capacity: chunk.count)
                for index in 0..<chunk.count {
                    let old = RowKey(entity: chunk.layout.entity, number: chunk.row(index).key(chunk.layout))
                    guard let new = numbers[place(old)] else { continue }
                    let values = pointed(chunk.values(row: index), schema[old.entity], numbers)
                    try copy.append(key: new.number, version: 1, values: values)
                }
                if copy.count > 0 { batch.inserts.append(copy) }
            }
            return .more
        }
    }

    /// A to-one whose target is gone becomes nil.
    private func pointed(_ values: [Value], _ entity: Entity, _ numbers: [RowKey: RowKey]) -> [Value] {
        var values = values
        let foreign = ForeignValues(schema: schema, entity: entity)
        for relationship in foreign.toOnes {
            guard let slot = relationship.slot, case .int(let number) = values[slot] else { continue }
            let root = schema[relationship.destination].root
            foreign.point(&values, relationship, at: numbers[RowKey(entity: root, number: number)])
        }
        return values
    }

    private func copyMembers(
        _ old: RowKey, _ new: RowKey, _ numbers: [RowKey: RowKey], _ batch: inout ChangeBatch
    ) throws {
        for index in schema[old.entity].toMany {
            let relationship = schema[index]
            let inverse = relationship.inverse.map { schema[$0] }
            let isManyToMany = inverse?.isToMany == true
            guard inverse == nil || isManyToMany || relationship.isOrdered else { continue }
            var members: [RowKey] = []
            try source.rows.members(of: index, owner: old) { rows in
                members += rows.keys(inStore: 0).compactMap { numbers[place($0.row)] }
                return .more
            }
            guard !members.isEmpty else { continue }
            if inverse == nil {
                batch.adoptions.append(
                    AdoptionChange(relationship: index, owner: new, added: members, removed: []))
            }
            if let inverse, isManyToMany, index.rawValue <= inverse.index.rawValue {
                let named = index == inverse.index ? members.filter { new.number <= $0.number } : members
                if !named.isEmpty {
                    batch.links.append(LinkChange(relationship: index, owner: new, added: named, removed: []))
                }
            }
            if relationship.isOrdered {
                batch.orders.append(OrderChange(relationship: index, owner: new, members: members))
            }
        }
    }
}
