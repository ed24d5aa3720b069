// Migrates a store's objects to another file or another type of store.

import CoreDataSQL
import CoreDataValues
import Foundation

extension NSPersistentStoreCoordinator {
    /// Copies a store's objects into a new store, of any type, and removes the old one from the coordinator.
    ///
    /// The new store has a new UUID, posted as `NSUUIDChangedPersistentStoresKey` of
    /// `NSPersistentStoreCoordinatorStoresDidChange`, and its objects have other URIs. The old file stays. Registered
    /// objects belong to the new store from then on, with their IDs and pending changes, unless one of the two is a
    /// program's own `NSAtomicStore` or `NSIncrementalStore`, which number their rows themselves: the objects then
    /// belong to the removed store, and saving them throws 134070. Saves on other threads wait and go to the new store;
    /// those of other coordinators and processes still go to the old one. Costs memory for all objects.
    /// - Throws: 134030 if a store with objects is at the URL; what opening and writing throw. Then nothing changes.
    @discardableResult
    public final func migratePersistentStore(
        _ store: NSPersistentStore, to URL: URL, options: [AnyHashable: Any]? = nil, withType storeType: String
    ) throws -> NSPersistentStore {
        try requireOwn(store)
        let isNew = !FileManager.default.fileExists(atPath: URL.path)
        let isDefault = runtime.schema.configurations[store.configurationName] == nil
        let made = try makeStore(
            storeType, isDefault ? nil : store.configurationName, URL, options ?? store.migrationOptions)
        let follows = !store.numbersObjects && !made.numbersObjects
        let ids: [NSManagedObjectID]
        do {
            identities.add(made, number: made.number)
            ids = try writes.move { try move(store, to: made, follows: follows) }
        } catch {
            identities.remove(made.number)
            try? made.rows.close()
            if isNew { removeFiles(of: URL) }
            throw CocoaError.presenting(error)
        }
        postStoresDidChange([NSAddedPersistentStoresKey: [made]])
        postStoresDidChange([NSUUIDChangedPersistentStoresKey: [store, made, ids] as [Any]])
        announceRemoval(of: store)
        if follows { try close(removed: store) } else { try release(store) }
        return made
    }

    @discardableResult
    public final func migratePersistentStore(
        _ store: NSPersistentStore, to storeURL: URL, options: [AnyHashable: Any]? = nil,
        type storeType: NSPersistentStore.StoreType
    ) throws -> NSPersistentStore {
        try migratePersistentStore(store, to: storeURL, options: options, withType: storeType.rawValue)
    }

    /// Copies the rows and replaces the old store by the new one. Returns each object's old and new ID.
    ///
    /// - Parameter follows: Whether registered objects belong to the new store afterwards.
    private func move(_ store: NSPersistentStore, to made: NSPersistentStore, follows: Bool) throws
        -> [NSManagedObjectID]
    {
        try requireOwn(store)
        let keys = try StoreCopy(schema: runtime.schema, from: store, to: made, keepsNumbers: follows).run()
        carryMetadata(from: store, to: made)
        if follows {
            exchange(store, for: made)
        } else {
            attach(made)
            _ = detach(store)
        }
        return keys.flatMap { [id($0.old, store), id($0.new, made)] }
    }

    private func id(_ key: RowKey, _ store: NSPersistentStore) -> NSManagedObjectID {
        NSManagedObjectID(
            key: ObjectKey(number: key.number, entity: key.entity, store: store.number), identity: identities,
            info: runtime.infos[key.entity.value])
    }

    /// Copies the application's own metadata. Nothing of a copy was put off.
    private func carryMetadata(from store: NSPersistentStore, to made: NSPersistentStore) {
        let library = [
            NSPersistentStoreDeferredLightweightMigrationOptionKey, NSStoreTypeKey, NSStoreUUIDKey,
            NSStoreModelVersionHashesKey, NSStoreModelVersionIdentifiersKey,
        ]
        let own = (store.metadata ?? [:]).filter { !library.contains($0.key) }
        guard !own.isEmpty else { return }
        made.metadata = (made.metadata ?? [:]).merging(own) { _, carried in carried }
    }

    /// Removes a store that nobody has open.
    final func removeFiles(of url: URL) {
        for suffix in ["", "-wal", "-shm", "-journal"] {
            try? FileManager.default.removeItem(atPath: url.path + suffix)
        }
        try? ExternalFolder.remove(for: url)
    }
}

extension NSPersistentStore {
    /// The options without read-only, as a copy is writable.
    fileprivate final var migrationOptions: [AnyHashable: Any]? {
        options?.filter { ($0.key as? String) != NSReadOnlyPersistentStoreOption }
    }
}
