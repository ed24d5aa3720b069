// How a store is opened.

import CCoreDataRuntime
import CoreDataValues
import Foundation

/// Everything that may be asked of a store when it is opened.
package struct SQLiteOptions: Sendable {
    package var isReadOnly = false
    /// Opens a store whose version hashes differ from the model's, and records the model's hashes in it.
    package var ignoresVersionHashes = false
    /// Rewrites the file without gaps when the store is opened.
    package var vacuums = false
    /// Gathers the statistics that SQLite chooses indexes by when the store is opened.
    package var analyzes = false
    /// Records every commit in the history, whose tables are made if they are missing. Without it a store that has a history
    /// takes no changes.
    package var recordsHistory = false
    /// Opens the store to migrate it: a history that is there goes along, whether or not commits are to be recorded.
    package var isMigrating = false
    /// Opens the store to be read in the state that it has now, whatever is written meanwhile.
    package var readsOneState = false
    /// Has a migration leave what nobody needs any more for later.
    package var defersCleanup = false
    /// Keeps what rows had before each commit that is recorded, in a table of our own.
    package var keepsFormerValues = false
    /// How long a statement waits for another connection's lock, in seconds.
    package var timeout = 5.0
    /// How long a read or a write waits for a connection of the pool, in seconds.
    package var connectionTimeout = 240.0
    /// How many reads run at once; further ones wait.
    package var readerLimit = 64
    /// How many views are pinned at once; who wants a further one waits. Each has a connection of its own.
    package var pinnedViewLimit = 64
    /// Bytes of the write-ahead log from which on readers are held back for a moment, so that it can start anew.
    package var logLimit = 16 << 20
    /// PRAGMAs by name, as `NSSQLitePragmasOption` gives them. Names SQLite does not know are refused.
    package var pragmas: [String: String] = [:]
    /// Readers kept open when nobody uses them; more are opened as needed. As many as blocks run at once, up to 16: opening a file costs
    /// more than most reads.
    package var idleReaders = Self.usualIdleReaders
    /// Foundation reads files of the system to count processors (28,000 instructions).
    private static let usualIdleReaders = min(16, 4 + 2 * ProcessInfo.processInfo.activeProcessorCount)
    /// Receives every statement; nil costs nothing.
    package var observer: StatementObserver? { didSet { mark = observer.map { _ in ObservationMark() } } }
    private var mark: ObservationMark?
    /// Told of statements and waits while it listens.
    package var listener: (any StoreListener)?
    /// Whether events carry the bound values.
    package var observesBindings = false

    package init() {}

    /// The same for a migration: many who write may leave it no gap for a while.
    var patient: SQLiteOptions {
        var options = self
        options.timeout = max(timeout, connectionTimeout)
        return options
    }
}

/// Counts somebody who is to be told what stores do, for as long as it is held.
package final class ObservationMark: Sendable {
    package init() { coredata_observe(1) }
    deinit { coredata_observe(-1) }
}
