// How long the write-ahead log is, and how it starts anew.

import CCoreDataSQLite
import CoreDataValues
import Foundation

/// What the writing connection knows of its log.
///
/// From `leastPages` on each commit copies pages from the log into the file as far as readers let it, which is what SQLite
/// does by itself (`SQLITE_CHECKPOINT_PASSIVE`). A log that is copied as a whole while nobody reads from it is overwritten
/// from its start. With readers that overlap this never comes to pass; see `Pool.restartLogIfLong`.
final class LogGauge {
    static var leastPages: Int { 1000 }

    /// Pages in the log after the last commit.
    fileprivate(set) var pages = 0
    /// From how many pages on it is tried again to empty the log, after it failed.
    fileprivate var nextAttempt = 0
    fileprivate var pageSize = 0
    /// Counts the commits.
    fileprivate var counter: StatementCounter?

    private func note(_ count: Int) {
        counter?.committed()
        // It was overwritten from its start.
        if count < pages { nextAttempt = 0 }
        pages = count
    }

    /// `PRAGMA wal_autocheckpoint` puts SQLite's own rule in the place of this one.
    func watch(_ handle: OpaquePointer) {
        sqlite3_wal_hook(
            handle,
            { gauge, handle, database, pages in
                if let gauge { Unmanaged<LogGauge>.fromOpaque(gauge).takeUnretainedValue().note(Int(pages)) }
                // A checkpoint that cannot be made now is made later: the rows are safe in the log.
                if pages >= LogGauge.leastPages { sqlite3_wal_checkpoint(handle, database) }
                return SQLITE_OK
            }, Unmanaged.passUnretained(self).toOpaque())
    }
}

extension Pool {
    /// How long readers are held back, and other processes waited for, until the log can start anew.
    private static var patience: Double { 0.1 }

    /// Empties a log that has grown over `SQLiteOptions.logLimit`. Called with the writing place.
    ///
    /// Waits for running reads, and lets no new ones begin, for a tenth of a second at most. If a read takes longer the log
    /// grows: the last reader to leave empties it, and another attempt is made when it has grown by as much again.
    func restartLogIfLong(_ writer: Connection, isLastReader: Bool = false) {
        let log = writer.log
        if log.pageSize == 0 { log.pageSize = writer.pageSize }
        let limit = max(options.logLimit / max(log.pageSize, 1), LogGauge.leastPages)
        guard isLastReader || log.pages >= max(limit, log.nextAttempt) else { return }
        // While a view is pinned it would be in vain; when the last one goes the log is emptied.
        guard state.withLock({ $0.views == 0 }) else { return }
        let quiet = Waiter()
        let isQuiet = state.withLock { state in
            state.isHeldBack = true
            if state.reading > 0 { state.quiet = quiet }
            return state.reading == 0
        }
        let isAlone = isQuiet || quiet.wait(seconds: Self.patience)
        let isEmpty = isAlone && writer.emptyLog(patience: Self.patience)
        log.nextAttempt = isEmpty ? 0 : log.pages + limit
        if isEmpty { log.pages = 0 }
        let woken = state.withLock { state in
            state.quiet = nil
            state.isHeldBack = false
            // A reader of another process leaves unnoticed.
            state.isLogLong = !isAlone && state.reading > 0
            return state.admitReaders(limit: options.readerLimit)
        }
        for waiter in woken { waiter.wake() }
    }
}

extension Connection {
    /// Copies the whole log into the file and cuts it to nothing; false when somebody's read stands in the way.
    fileprivate func emptyLog(patience: Double) -> Bool {
        setBusyTimeout(min(patience, options.timeout))
        defer { setBusyTimeout(options.timeout) }
        counter.emptiedLog()
        return sqlite3_wal_checkpoint_v2(handle, "main", SQLITE_CHECKPOINT_TRUNCATE, nil, nil) == SQLITE_OK
    }

    fileprivate var pageSize: Int {
        var prepared: OpaquePointer?
        guard sqlite3_prepare_v2(handle, "PRAGMA page_size", -1, &prepared, nil) == SQLITE_OK else { return 4096 }
        defer { sqlite3_finalize(prepared) }
        return sqlite3_step(prepared) == SQLITE_ROW ? Int(sqlite3_column_int64(prepared, 0)) : 4096
    }
}

extension Connection {
    /// Has what a single long transaction leaves of the log cut when the log is overwritten.
    func limitsLog() throws {
        if keepsLog { try run("PRAGMA journal_size_limit = \(max(options.logLimit, 0))") }
    }

    /// Watches the log of the connection that writes.
    func watchesLog() {
        guard keepsLog else { return }
        log.counter = counter
        log.watch(handle)
    }

    /// Whether the log is this connection's business: it may write, and the program has no rule of its own.
    private var keepsLog: Bool {
        isWritable && !isMemory && !options.isReadOnly
            && !options.pragmas.keys.contains { $0.lowercased() == "wal_autocheckpoint" }
    }
}
