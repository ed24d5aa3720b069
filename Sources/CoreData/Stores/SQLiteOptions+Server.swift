// Options of SQLite stores for processes that serve many at once. Ours; Core Data has none of them.

import CoreDataSQLite
import CoreDataValues
import Foundation

/// How many reads of a SQLite store run at once, 64 unless set; further ones wait for a connection.
public let SQLiteReaderLimitOption = "OpenCoreDataSQLiteReaderLimitOption"
/// How many connections for reading stay open while nobody uses them; unless set, 4 and 2 for each processor, 16 at most.
public let SQLiteIdleReadersOption = "OpenCoreDataSQLiteIdleReadersOption"
/// How many views of a SQLite store are pinned at once, 64 unless set; who wants a further one waits for a connection. They are
/// beyond the limit of reads.
public let SQLitePinnedViewLimitOption = "OpenCoreDataSQLitePinnedViewLimitOption"
/// Seconds that a read or a save waits for a connection of its own store's pool before it throws 134090; unless set,
/// `NSPersistentStoreTimeoutOption`, or 240 without either.
public let SQLiteConnectionTimeoutOption = "OpenCoreDataSQLiteConnectionTimeoutOption"
/// Bytes of the write-ahead log from which on reads are held back for a moment so that it can start anew, 16 MB unless set and
/// at least a thousand pages.
public let SQLiteLogLimitOption = "OpenCoreDataSQLiteLogLimitOption"

extension SQLiteOptions {
    /// Takes an option over; false when it is none of these.
    ///
    /// - Throws: 134060 for a value that does not fit.
    mutating func read(_ key: String, _ value: Any) throws -> Bool {
        switch key {
        case SQLiteReaderLimitOption: readerLimit = try Self.count(key, value, least: 1)
        case SQLitePinnedViewLimitOption: pinnedViewLimit = try Self.count(key, value, least: 1)
        case SQLiteIdleReadersOption: idleReaders = try Self.count(key, value, least: 0)
        case SQLiteLogLimitOption: logLimit = try Self.count(key, value, least: 0)
        case SQLiteConnectionTimeoutOption:
            guard let seconds = (value as? NSNumber)?.doubleValue ?? value as? Double, seconds >= 0 else {
                throw CocoaError.coreData(134060, "The store option \(key) takes a number of seconds.")
            }
            connectionTimeout = seconds
        default: return false
        }
        return true
    }

    private static func count(_ key: String, _ value: Any, least: Int) throws -> Int {
        guard let count = (value as? NSNumber)?.intValue ?? value as? Int, count >= least else {
            throw CocoaError.coreData(134060, "The store option \(key) takes a whole number from \(least) on.")
        }
        return count
    }
}
