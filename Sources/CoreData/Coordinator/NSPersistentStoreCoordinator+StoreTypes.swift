// What a type of store can do, stores without a given type, their model copies and histories.

import CoreDataModelFile
import CoreDataSQLite
import CoreDataValues
import Foundation

extension NSPersistentStoreCoordinator {
    /// The metadata of a store that need not be open; without a type the file is inspected to find it.
    ///
    /// - Throws: 134080 if there is no store, or none of a known type.
    @_disfavoredOverload
    public class func metadataForPersistentStore(ofType storeType: String?, at url: URL) throws -> [String: Any] {
        try metadataForPersistentStore(ofType: try storeType ?? typeOfStore(at: url), at: url, options: nil)
    }

    /// Replaces the metadata of a store that need not be open; without a type the file is inspected to find it.
    @_disfavoredOverload
    public class func setMetadata(
        _ metadata: [String: Any]?, forPersistentStoreOfType storeType: String?, at url: URL
    ) throws {
        try setMetadata(
            metadata, forPersistentStoreOfType: try storeType ?? typeOfStore(at: url), at: url, options: nil)
    }

    /// The first type whose metadata can be read: SQLite, then the others by name.
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

    /// Returns the model that a store was written with, from the copy that Core Data keeps in its SQLite files.
    ///
    /// - Throws: 134060 if there is none, 259 if it cannot be read, 134020 for a model that is not supported here;
    ///   134080 if there is no store.
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

    /// The current positions in the histories of stores; nil if none keeps one.
    ///
    /// Takes one short read for each store with a history.
    /// - Parameter stores: the stores to ask; nil for all.
    public final func currentPersistentHistoryToken(fromStores stores: [Any]?) -> NSPersistentHistoryToken? {
        let asked = stores?.compactMap { $0 as? NSPersistentStore } ?? persistentStores
        return NSPersistentHistoryToken(of: asked.filter(\.recordsHistory))
    }
}

/// What happened to the account of a cloud store. There are none here, and no notification has this.
public enum NSPersistentStoreUbiquitousTransitionType: UInt, Sendable {
    case accountAdded = 1
    case accountRemoved = 2
    case contentRemoved = 3
    case initialImportCompleted = 4
}

extension NSPersistentStore {
    /// Refuses a model with uniqueness constraints for a store that cannot enforce them (6.6).
    ///
    /// - Throws: 134020, naming the entity.
    final func refuseConstraints(_ configuration: String?) throws {
        guard !keepsConstraints, let schema = coordinator?.runtime.schema else { return }
        let entities = schema.entities(inConfiguration: configuration) ?? []
        guard let entity = entities.first(where: { !$0.draft.uniquenessConstraints.isEmpty }) else { return }
        throw StoreError(
            134020,
            "The entity \(entity.name) has a uniqueness constraint, which a store of type \(type) cannot keep. "
                + "Remove the constraint or use a SQLite store.",
            path: url?.path, entity: entity.name)
    }
}
