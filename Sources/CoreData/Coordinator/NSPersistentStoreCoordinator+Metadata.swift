// The metadata of stores.

import CoreDataSQLite
import CoreDataValues
import Foundation

extension NSPersistentStoreCoordinator {
    /// A store's metadata: `NSStoreTypeKey`, `NSStoreUUIDKey`, version hashes and identifiers, and the application's own keys.
    public final func metadata(for store: NSPersistentStore) -> [String: Any] { store.metadata ?? [:] }

    /// Replaces a store's metadata; its type and those of the library's keys that are left out are kept.
    public final func setMetadata(_ metadata: [String: Any]?, for store: NSPersistentStore) {
        store.metadata = metadata ?? [:]
    }

    /// Has metadata written that was set since the last save: those of programs' own stores, and those that could not be written at once.
    final func saveNewMetadata() throws {
        guard asksObjectsForKeys || hasUnwrittenMetadata.load(ordering: .acquiring) else { return }
        try writes.write { for store in persistentStores { try store.saveNewMetadata() } }
    }

    final func noteUnwrittenMetadata() { hasUnwrittenMetadata.store(true, ordering: .releasing) }

    /// The metadata of a store that need not be open, whatever its model.
    ///
    /// - Throws: 134080 if there is no store of the type, 134000 for an unknown type.
    public class func metadataForPersistentStore(
        ofType storeType: String, at url: URL, options: [AnyHashable: Any]? = nil
    ) throws -> [String: Any] {
        if let storeClass = StoreClasses.named(storeType) {
            return try storeClass.metadataForPersistentStore(with: url)
        }
        try requireFile(storeType)
        do {
            return StoreMetadata.dictionary(try StoreFile(url: url).metadata())
        } catch { throw CocoaError.presenting(error) }
    }

    /// Replaces the metadata of a store that need not be open.
    public class func setMetadata(
        _ metadata: [String: Any]?, forPersistentStoreOfType storeType: String, at url: URL,
        options: [AnyHashable: Any]? = nil
    ) throws {
        if let storeClass = StoreClasses.named(storeType) {
            return try storeClass.setMetadata(metadata, forPersistentStoreAt: url)
        }
        try requireFile(storeType)
        do {
            let file = StoreFile(url: url)
            try file.setMetadata(try StoreMetadata(metadata ?? [:], over: try file.metadata()))
        } catch { throw CocoaError.presenting(error) }
    }

    public class func metadataForPersistentStore(
        type storeType: NSPersistentStore.StoreType, at storeURL: URL, options: [AnyHashable: Any]? = nil
    ) throws -> [String: Any] {
        try metadataForPersistentStore(ofType: storeType.rawValue, at: storeURL, options: options)
    }

    public class func setMetadata(
        _ metadata: [String: Any]?, type storeType: NSPersistentStore.StoreType, at storeURL: URL,
        options: [AnyHashable: Any]? = nil
    ) throws {
        try setMetadata(metadata, forPersistentStoreOfType: storeType.rawValue, at: storeURL, options: options)
    }

    /// - Throws: 134000 for a type without files.
    class func requireFile(_ type: String) throws {
        guard type != NSSQLiteStoreType else { return }
        throw CocoaError.coreData(
            134000, "A store of type \(type) has no file; the types with files are SQLite and the registered ones.")
    }

    /// Sets the URL of a store. The file is not moved: move it there before, or the next save to a binary, XML or
    /// property-list store writes a new one. A save onto another store's file throws 134030.
    ///
    /// A SQLite store keeps the file that it has open, so this only returns false for it; remove and add the store.
    public final func setURL(_ url: URL, for store: NSPersistentStore) -> Bool {
        guard isOwn(store), store is NSAtomicStore || store is NSIncrementalStore else { return false }
        store.url = url
        return true
    }
}
