// Statements that end when the task that waits for them is cancelled.

import CCoreDataSQLite
import CoreDataValues
import Foundation

/// What SQLite asks while a connection works for a task.
final class Watch {
    let cancellation: Cancellation
    private let timeout: Double
    private var end = Date.distantPast
    /// Whether texts were no longer compared since the task was cancelled, so that an order means nothing. SQLite asks nothing while it
    /// sorts, and a collation cannot fail.
    private(set) var hasSkipped = false

    init(_ cancellation: Cancellation, timeout: Double) {
        self.cancellation = cancellation
        self.timeout = timeout
    }

    /// Whether the task is cancelled, so that a collation need not compare.
    func skips() -> Bool {
        guard cancellation.isCancelled else { return false }
        hasSkipped = true
        return true
    }

    /// Waits a moment for another connection's lock; false when that was long enough.
    func waits(for turn: Int32) -> Bool {
        if turn == 0 { end = Date(timeIntervalSinceNow: timeout) }
        guard !cancellation.isCancelled, Date() < end else { return false }
        usleep(UInt32(min(1 << min(turn, 5), 25)) * 1000)
        return !cancellation.isCancelled
    }
}

extension Connection {
    /// Runs work that a cancelled task breaks off: SQLite asks every thousand steps of a statement, and between two looks at
    /// another connection's lock.
    ///
    /// - Throws: `CancellationError` when that happened, or when the task was cancelled before. Nothing was written then.
    func cancellable<R>(by cancellation: Cancellation, _ body: () throws -> R) throws -> R {
        try cancellation.throwIfCancelled()
        let watch = Watch(cancellation, timeout: options.timeout)
        beginWatch(watch)
        defer { endWatch() }
        do {
            let result = try body()
            if watch.hasSkipped { throw CancellationError() }
            return result
        } catch let error as StoreError where cancellation.isCancelled && error.isBrokenOff {
            throw CancellationError()
        }
    }

    private func beginWatch(_ watch: Watch) {
        self.watch = watch
        let pointer = Unmanaged.passUnretained(watch).toOpaque()
        sqlite3_progress_handler(
            handle, 1000,
            { pointer in
                guard let pointer else { return 0 }
                return Unmanaged<Watch>.fromOpaque(pointer).takeUnretainedValue().cancellation.isCancelled ? 1 : 0
            }, pointer)
        // A time set by a PRAGMA stays SQLite's business.
        guard !options.pragmas.keys.contains(where: { $0.lowercased() == "busy_timeout" }) else { return }
        sqlite3_busy_handler(
            handle,
            { pointer, turn in
                guard let pointer else { return 0 }
                return Unmanaged<Watch>.fromOpaque(pointer).takeUnretainedValue().waits(for: turn) ? 1 : 0
            }, pointer)
    }

    /// From here on nothing is broken off.
    func endWatch() {
        guard watch != nil else { return }
        sqlite3_progress_handler(handle, 0, nil, nil)
        if !options.pragmas.keys.contains(where: { $0.lowercased() == "busy_timeout" }) {
            setBusyTimeout(options.timeout)
        }
        watch = nil
    }

    /// The last moment at which a transaction is broken off: a commit runs to its end.
    func endBeforeCommit(_ watch: Watch) throws {
        endWatch()
        try watch.cancellation.throwIfCancelled()
    }
}

extension StoreError {
    /// Whether SQLite stopped because it was told to.
    fileprivate var isBrokenOff: Bool {
        guard let sqliteCode else { return false }
        return [SQLITE_INTERRUPT, SQLITE_BUSY].contains(sqliteCode & 0xff)
    }
}
