// Closing a coordinator, and copying its stores.

import CoreDataSQLite
import CoreDataValues
import Foundation

extension NSPersistentStoreCoordinator {
    /// Closes all stores and their files. Ours; Core Data leaves that to the end of the process.
    ///
    /// A running fetch or save transaction is completed. Everything later throws 134070, also adding stores; unsaved
    /// changes stay in their contexts. A SQLite store moves its write-ahead log into the file, so that only the file
    /// remains if no other process has it open. May be called again.
    /// - Throws: 134090 if running work did not end within the time to wait for a connection
    ///   (`SQLiteConnectionTimeoutOption`); the file is then closed when it ends.
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
    /// Copies the store's state at one moment to a new file. Ours; Core Data has no such method.
    ///
    /// The store may be in use, also by other processes: reads and saves go on, but a save waits while the files of
    /// large values are linked. The copy has the store's UUID and includes external values; it appears under its name
    /// when it is complete. Costs reading and writing the whole file. For SQLite stores, also those at `/dev/null`.
    /// - Throws: 134030 if something is at the URL already or the copy cannot be written; `unsupported` for stores of
    ///   other types.
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
    /// Closes all stores and their files; see `NSPersistentStoreCoordinator.close()`.
    public final func close() throws { try persistentStoreCoordinator.close() }

    /// Copies the container's only store; see `NSPersistentStore.backup(to:)`.
    public final func backup(to url: URL) throws { try persistentStoreCoordinator.backup(to: url) }
}
