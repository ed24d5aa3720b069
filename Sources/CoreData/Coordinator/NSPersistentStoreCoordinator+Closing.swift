// The end of a coordinator's work, and copies of its stores.

import CoreDataSQLite
import CoreDataValues
import Foundation

extension NSPersistentStoreCoordinator {
    /// Ends the work with all stores and closes their files. Ours; Core Data leaves that to the end of the process.
    ///
    /// A fetch or a save's transaction that has begun is completed. Whatever comes later throws 134070, adding stores
    /// included; changes that were not saved stay in their contexts. A SQLite store moves its write-ahead log into the file, so
    /// that nothing but the file remains if no other process has it open. May be called again.
    /// - Throws: 134090 when work that had begun did not end within the time to wait for a connection
    ///   (`SQLiteConnectionTimeoutOption`); the file is then closed when that work ends.
    public final func close() throws {
        let isFirst = !isClosed.exchange(true, ordering: .acquiringAndReleasing)
        var failure: (any Error)?
        for store in persistentStores where isOwn(store) {
            if isFirst {
                store.willRemove(from: self)
                if store.postsRemoteChanges { RemoteChanges.remove(store) }
            }
            do { try store.rows.close() } catch { failure = failure ?? error }
        }
        RemoteChanges.wake()
        if let failure { throw CocoaError.presenting(failure) }
    }

    /// - Throws: 134070 after `close()`.
    final func requireOpen() throws {
        guard isClosed.load(ordering: .acquiring) else { return }
        throw CocoaError.coreData(134070, "The coordinator is closed and takes no stores any more. Make a new one.")
    }

    /// Copies the coordinator's only store; see `NSPersistentStore.backup(to:)`.
    ///
    /// - Throws: 134070 if there are several stores or none.
    public final func backup(to url: URL) throws {
        let stores = persistentStores
        guard stores.count == 1, let store = stores.first else {
            throw CocoaError.coreData(
                134070, "The coordinator has \(stores.count) stores, not one. Copy each with its own backup(to:).")
        }
        try store.backup(to: url)
    }
}

extension NSPersistentStore {
    /// Copies the store, as it is at one moment, to a new file. Ours; Core Data has no such method.
    ///
    /// The store may be in use, by other processes too: reads and saves go on, but a save waits while the files of large values
    /// are linked. The copy has the store's UUID and holds the values that are kept in files; it appears under its name when it is
    /// complete. Costs the time to read and write the whole file. For SQLite stores, those at `/dev/null` included.
    /// - Throws: 134030 if something lies at the URL already or the copy cannot be written; `unsupported` for stores of other
    ///   types.
    public final func backup(to url: URL) throws {
        do {
            guard let copier = rows.copier else {
                throw StoreError(
                    134060,
                    "unsupported: a copy of an open store that is not SQLite. Copy its file, or use migratePersistentStore."
                )
            }
            try copier.backup(to: url)
        } catch { throw CocoaError.presenting(error) }
    }
}

extension NSPersistentContainer {
    /// Ends the work with all stores and closes their files; see `NSPersistentStoreCoordinator.close()`.
    public final func close() throws { try persistentStoreCoordinator.close() }

    /// Copies the container's only store; see `NSPersistentStore.backup(to:)`.
    public final func backup(to url: URL) throws { try persistentStoreCoordinator.backup(to: url) }
}
