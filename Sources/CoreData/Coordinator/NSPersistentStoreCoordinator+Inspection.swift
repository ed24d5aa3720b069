// Inspects a store: the first step of opening it.

import CoreDataSQLite
import CoreDataValues
import Foundation

extension NSPersistentStoreCoordinator {
    /// Finds out which model wrote the store at a URL, and whether the coordinator's model fits it.
    ///
    /// A model that does not fit is a result; `addPersistentStore` throws it as 134100. Nothing is opened, created or
    /// changed. A program's own class is asked for its metadata; metadata without version hashes fit any model.
    /// - Throws: 134000 for an unknown type, 134020 for an unknown configuration, 134080 for a file that is no store or
    ///   cannot be read.
    package final func inspectStore(
        ofType type: String, configurationName configuration: String?, at url: URL
    ) throws -> StoreInspection {
        let schema = runtime.schema
        guard schema.entities(inConfiguration: configuration) != nil else { throw unknownConfiguration(configuration) }
        if type == NSInMemoryStoreType { return StoreInspection(nothingAt: url.path) }
        do {
            if type == NSSQLiteStoreType {
                return try SQLiteStore.inspect(url: url, plan: runtime.storePlan(configuration))
            }
        } catch { throw CocoaError.presenting(error) }
        guard StoreClasses.named(type) != nil else { throw unknownType(type) }
        guard FileManager.default.fileExists(atPath: url.path) else { return StoreInspection(nothingAt: url.path) }
        let found = try Self.metadataForPersistentStore(ofType: type, at: url, options: nil)
        let new = StoreMetadata(newStoreOf: schema, configuration: configuration, type: type)
        let recorded = try StoreMetadata(found, over: new, isForeign: true)
        return StoreInspection(path: url.path, metadata: recorded, schema: schema, configuration: configuration)
    }

    final func unknownConfiguration(_ name: String?) -> CocoaError {
        CocoaError.coreData(134020, "The model has no configuration \(name ?? "").")
    }

    final func unknownType(_ type: String) -> CocoaError {
        CocoaError.coreData(
            134000,
            "The store type \(type) is not known; it is none of \(StoreClasses.types.joined(separator: ", ")). "
                + "Register its class with registerStoreClass(_:forStoreType:) first.")
    }
}
