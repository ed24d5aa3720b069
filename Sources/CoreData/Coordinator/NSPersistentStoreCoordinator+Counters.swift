// Counters of a coordinator's work.

import CoreDataSQLite
import CoreDataValues
import Synchronization

extension NSPersistentStoreCoordinator {
    /// Totals over a coordinator's stores since each was added, and its pinned views. Ours, beside Core Data's API.
    public struct Counters: Sendable, Hashable {
        /// SQL statements run.
        public var statements = 0
        /// SQL statements compiled; the others were reused.
        public var preparedStatements = 0
        /// Rows read for objects and written by saves.
        public var rows = 0
        /// How often a read or a save had to wait for a connection.
        public var poolWaits = 0
        /// How often an overlong write-ahead log was to be emptied (`SQLiteLogLimitOption`).
        public var logRestarts = 0
        /// Pinned views at this moment, each with its own connection (`SQLitePinnedViewLimitOption`).
        public var pinnedViews = 0
        /// Faults and look-ups by ID whose row was in the row cache.
        public var cacheHits = 0
        /// Faults and look-ups by ID whose row was not; it was read from the store, or is gone.
        public var cacheMisses = 0
        /// Faults of objects and of to-manys that were read from a store.
        public var faults = 0
    }

    /// The counters at this moment. Costs a few loads; may be read on any thread.
    ///
    /// Only SQLite stores run and count statements.
    public final var counters: Counters {
        var counters = Counters()
        for store in persistentStores {
            guard let counts = (store.rows as? SQLiteStore)?.counts else { continue }
            counters.statements += counts.run
            counters.preparedStatements += counts.prepared
            counters.rows += counts.rows
            counters.poolWaits += counts.waits
            counters.logRestarts += counts.logRestarts
            counters.pinnedViews += counts.pinnedViews
        }
        counters.faults = faultCount.load(ordering: .relaxed)
        let cache = rowCache.counts
        counters.cacheHits = cache.hits
        counters.cacheMisses = cache.misses
        return counters
    }
}
