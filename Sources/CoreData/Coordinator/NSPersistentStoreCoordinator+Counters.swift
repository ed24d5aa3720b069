// What a coordinator has done so far, in numbers.

import CoreDataSQLite
import CoreDataValues
import Synchronization

extension NSPersistentStoreCoordinator {
    /// Sums over all stores of a coordinator since each was added, and how many views are pinned. Ours; Core Data has nothing like it.
    public struct Counters: Sendable, Hashable {
        /// SQL statements run.
        public var statements = 0
        /// SQL statements translated; the rest were kept from before.
        public var preparedStatements = 0
        /// Rows read for objects and rows of objects written by saves.
        public var rows = 0
        /// How often a read or a save had to wait for a connection.
        public var poolWaits = 0
        /// How often a long write-ahead log was to be emptied (`SQLiteLogLimitOption`).
        public var logRestarts = 0
        /// Views that are pinned now, each with a connection of its own (`SQLitePinnedViewLimitOption`).
        public var pinnedViews = 0
        /// Faults and look-ups by ID that found their row in the coordinator's row cache.
        public var cacheHits = 0
        /// Faults and look-ups by ID that did not; the row was read from its store, or is gone.
        public var cacheMisses = 0
        /// Faults of objects and of to-many relationships that were fired and read from a store.
        public var faults = 0
    }

    /// The counters at this moment. Costs a few loads; may be read from any thread.
    ///
    /// Stores other than SQLite run no statements and count none.
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
