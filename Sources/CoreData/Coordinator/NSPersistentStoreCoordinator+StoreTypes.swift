// Stores whose type the caller does not say, and what stores keep beside rows.

import CoreDataModelFile
import CoreDataSQLite
import CoreDataValues
import Foundation

extension NSPersistentStoreCoordinator {
    /// The metadata of a store that need not be open; without a type the file is looked at to find it.
    ///
    /// - Throws: 134080 where no store is, or none of a known type.
    @_disfavoredOverload
    public class func metadataForPersistentStore(ofType storeType: String?, at url: URL) throws -> [String: Any] {
        try metadataForPersistentStore(ofType: try storeType ?? typeOfStore(at: url), at: url, options: nil)
    }

    /// Replaces the metadata of a store that need not be open; without a type the file is looked at to find it.
    @_disfavoredOverload
    public class func setMetadata(
        _ metadata: [String: Any]?, forPersistentStoreOfType storeType: String?, at url: URL
    ) throws {
        try setMetadata(
            metadata, forPersistentStoreOfType: try storeType ?? typeOfStore(at: url), at: url, options: nil)
    }

    /// The first type whose metadata can be read there: SQLite, then the others by name.
    private class func typeOfStore(at url: URL) throws -> String {
        do {
            _ = try metadataForPersistentStore(ofType: NSSQLiteStoreType, at: url, options: nil)
            return NSSQLiteStoreType
        } catch {
            let others = StoreClasses.types.filter { $0 != NSSQLiteStoreType && $0 != NSInMemoryStoreType }
            let found = others.first {
                (try? metadataForPersistentStore(ofType: $0, at: url, options: nil))?[NSStoreUUIDKey] != nil
            }
            guard let found else { throw error }
            return found
        }
    }

    /// The model that a store was written with, from the copy that Core Data keeps in its SQLite files.
    ///
    /// - Throws: 134060 where there is none, 259 for one that cannot be read, 134020 for a model that cannot be said here; 134080 where no
    ///   store is.
    public class func cachedModelForPersistentStore(
        at url: URL, options: [AnyHashable: Any]? = nil
    ) throws -> NSManagedObjectModel {
        do {
            guard let copy = try StoreFile(url: url).modelCopy() else {
                throw CocoaError.coreData(
                    134060, "The store at \(url.path) keeps no copy of its model. Load the model from its own file.",
                    [NSFilePathErrorKey: url.path])
            }
            let draft = try ModelFile.draft(modelCache: copy, path: url.path)
            _ = try Schema(checking: draft)
            return NSManagedObjectModel(draft: draft)
        } catch { throw CocoaError.presenting(error) }
    }

    /// Where the histories of stores are now; nil when none of them keeps one.
    ///
    /// One short read for each store with a history.
    /// - Parameter stores: the stores to ask; nil for all.
    public final func currentPersistentHistoryToken(fromStores stores: [Any]?) -> NSPersistentHistoryToken? {
        let asked = stores?.compactMap { $0 as? NSPersistentStore } ?? persistentStores
        return NSPersistentHistoryToken(of: asked.filter(\.recordsHistory))
    }
}

/// What happened to an account that a store belonged to. There are no such stores here; no notification carries it.
public enum NSPersistentStoreUbiquitousTransitionType: UInt, Sendable {
    case accountAdded = 1
    case accountRemoved = 2
    case contentRemoved = 3
    case initialImportCompleted = 4
}
