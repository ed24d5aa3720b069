// Destroys and replaces the files of stores.

import CoreDataSQL
import CoreDataSQLite
import CoreDataValues
import Foundation

extension NSPersistentStoreCoordinator {
    /// Empties a store. A SQLite file stays, without tables, and is emptied under SQLite's lock, so that others who
    /// have it open find an empty database instead of no file; other files and the folder of external data are removed.
    ///
    /// Does nothing if there is no file.
    /// - Throws: 134080 for a file that is no store, unless `NSPersistentStoreForceDestroyOption` is true; 134000 for
    ///   a type without files.
    public final func destroyPersistentStore(
        at url: URL, ofType storeType: String, options: [AnyHashable: Any]? = nil
    ) throws {
        let force = (options?[NSPersistentStoreForceDestroyOption] as? NSNumber)?.boolValue
        let isForced = force ?? (options?[NSPersistentStoreForceDestroyOption] as? Bool) ?? false
        do {
            if StoreClasses.named(storeType) == nil {
                try NSPersistentStoreCoordinator.requireFile(storeType)
                try StoreFile(url: url).destroy(force: isForced)
            } else if FileManager.default.fileExists(atPath: url.path) {
                if !isForced {
                    _ = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: storeType, at: url)
                }
                let lock = try Self.lock(url, storeType)
                defer { extendLifetime(lock) }
                try FileManager.default.removeItem(at: url)
            }
            try ExternalFolder.remove(for: url)
        } catch { throw CocoaError.presenting(error) }
    }

    public final func destroyPersistentStore(
        at url: URL, type storeType: NSPersistentStore.StoreType, options: [AnyHashable: Any]? = nil
    ) throws {
        try destroyPersistentStore(at: url, ofType: storeType.rawValue, options: options)
    }

    /// Replaces a store by a copy of another, with external data. The copy has the source's UUID. If it fails at any
    /// point, the destination is either the former or the new store, with its files.
    ///
    /// The source may be in use; a SQLite source is copied consistently while others write. Whoever has the destination
    /// open reads the new content from then on; remove and add the store to learn its UUID and row versions.
    /// - Throws: 134080 if the source is no store of the type; the destination is then unchanged.
    public final func replacePersistentStore(
        at destinationURL: URL, destinationOptions: [AnyHashable: Any]? = nil, withPersistentStoreFrom sourceURL: URL,
        sourceOptions: [AnyHashable: Any]? = nil, ofType storeType: String
    ) throws {
        guard destinationURL.standardizedFileURL != sourceURL.standardizedFileURL else { return }
        do {
            let lock = try Self.lock(destinationURL, storeType)
            defer { extendLifetime(lock) }
            try Self.exchange(destinationURL, by: sourceURL, ofType: storeType)
        } catch { throw CocoaError.presenting(error) }
    }

    /// The lock of a file that this library writes whole; nil for other stores.
    private class func lock(_ url: URL, _ type: String) throws -> FileLock? {
        StoreClasses.isFile(type) ? try FileLock(url.path, waiting: nil) : nil
    }

    /// Replaces a store whose lock the caller has, if it is one.
    ///
    /// - Parameter isHeld: whether the caller keeps writers out of the source as well.
    class func exchange(_ destinationURL: URL, by sourceURL: URL, ofType storeType: String, isHeld: Bool = false) throws
    {
        do {
            let isDatabase = StoreClasses.named(storeType) == nil
            if isDatabase { try NSPersistentStoreCoordinator.requireFile(storeType) }
            func identifier(_ url: URL) throws -> String? {
                try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: storeType, at: url)[NSStoreUUIDKey]
                    as? String
            }
            let new = try identifier(sourceURL)
            let former = try? identifier(destinationURL)
            let files = try ExchangedFiles(
                from: sourceURL, to: destinationURL, former: former == nil ? [] : nil,
                stores: (new == former ? [new] : [new, former]).compactMap { $0 })
            do {
                if isDatabase {
                    try StoreFile(url: destinationURL).replace(
                        with: StoreFile(url: sourceURL), files: files, isHeld: isHeld)
                } else {
                    try files.link()
                    try files.separate()
                    try AtomicFile(url: destinationURL).write(try AtomicFile(url: sourceURL).read(), as: sourceURL)
                }
            } catch {
                files.undo()
                throw error
            }
            files.complete()
        } catch { throw CocoaError.presenting(error) }
    }

    public final func replacePersistentStore(
        at destinationURL: URL, destinationOptions: [AnyHashable: Any]? = nil, withPersistentStoreFrom sourceURL: URL,
        sourceOptions: [AnyHashable: Any]? = nil, type sourceType: NSPersistentStore.StoreType
    ) throws {
        try replacePersistentStore(
            at: destinationURL, destinationOptions: destinationOptions, withPersistentStoreFrom: sourceURL,
            sourceOptions: sourceOptions, ofType: sourceType.rawValue)
    }
}
