// Opening what a description names.

import CoreDataValues
import Foundation

extension NSPersistentStoreCoordinator {
    /// Adds the store of a description, at once or, if the description says so, on a background queue.
    ///
    /// The block is called once, with the error if there is one.
    public final func addPersistentStore(
        with storeDescription: NSPersistentStoreDescription,
        completionHandler block: @escaping (NSPersistentStoreDescription, (any Error)?) -> Void
    ) {
        nonisolated(unsafe) let described = storeDescription
        nonisolated(unsafe) let completed = block
        let add: @Sendable () -> Void = {
            do {
                try self.addPersistentStore(
                    ofType: described.type, configurationName: described.configuration, at: described.url,
                    options: described.storeOptions)
                completed(described, nil)
            } catch { completed(described, error) }
        }
        if storeDescription.shouldAddStoreAsynchronously {
            DispatchQueue.global().async(execute: add)
        } else {
            add()
        }
    }

    @discardableResult
    public final func addPersistentStore(
        type: NSPersistentStore.StoreType, configuration: String? = nil, at storeURL: URL,
        options: [AnyHashable: Any]? = nil
    ) throws -> NSPersistentStore {
        try addPersistentStore(
            ofType: type.rawValue, configurationName: configuration, at: storeURL, options: options)
    }
}
