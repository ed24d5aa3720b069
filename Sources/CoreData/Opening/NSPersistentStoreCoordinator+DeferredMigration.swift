// What a lightweight migration has left to do.

import CoreDataValues
import Foundation

extension NSPersistentStoreCoordinator {
    /// Does what lightweight migrations of the coordinator's stores have put off: columns, tables and indexes that the model has no use for
    /// any more are removed, with the files of their values.
    ///
    /// Each is a transaction of its own, between which others read and write. The metadata of a store have
    /// `NSPersistentStoreDeferredLightweightMigrationOptionKey` until all of it is done. Where nothing was put off here, that key alone goes
    /// if it is there: what Core Data itself has put off in a file stays in it.
    /// - Throws: 134030 for a store that was opened read-only and has something to do; what the store throws. What was done stays done.
    public final func finishDeferredLightweightMigration() throws {
        for store in persistentStores { while try store.cleanUp() {} }
    }

    /// Does one step of what `finishDeferredLightweightMigration()` does: one column, table or index of one store.
    ///
    /// A column takes as long as writing its table anew.
    /// - Throws: as `finishDeferredLightweightMigration()`.
    public final func finishDeferredLightweightMigrationTask() throws {
        for store in persistentStores where try store.cleanUp() { return }
    }
}

extension NSPersistentStore {
    /// Answers whether there was something to do.
    fileprivate final func cleanUp() throws -> Bool {
        do {
            guard let cleaner = rows.cleaner else {
                try forgetDeferral()
                return false
            }
            guard let omitted = try cleaner.cleanUp() else { return false }
            if let url { CoreDataWarning.tell(removed: omitted, from: url) }
            return true
        } catch { throw CocoaError.presenting(error) }
    }

    /// A store that puts nothing off has the key from elsewhere.
    private func forgetDeferral() throws {
        let key = NSPersistentStoreDeferredLightweightMigrationOptionKey
        guard var rest = metadata, rest[key] as? Bool == true else { return }
        if isReadOnly {
            throw StoreError(
                134030,
                "\(key) cannot be taken from the metadata: the store \(identifier ?? "") was opened read-only. Open it without that option."
            )
        }
        (rest[key], rest[NSStoreUUIDKey]) = (nil, nil)
        try writeMetadata(rest)
        try coordinator?.saveNewMetadata()
    }
}
