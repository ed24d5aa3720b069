// SQLite's refusals as store errors.

import CCoreDataSQLite
import CoreDataValues

/// Says what SQLite could not do: Core Data's code, a sentence with the cause and the cure, SQLite's own code
/// and message.
enum SQLiteError {
    /// The name under which errors carry SQLite's code and message.
    static let engine = "SQLite"

    static func make(
        _ code: Int32, message: String, doing what: String, path: String, sql: String? = nil
    ) -> StoreError {
        let (coreDataCode, reason) = meaning(code & 0xff, message)
        return StoreError(
            coreDataCode, "\(what) failed for the store at \(path): \(reason)", path: path,
            engine: EngineError(name: engine, code: String(code), message: message), sql: sql)
    }

    /// Whether a constraint of uniqueness was broken.
    static func isUniqueness(_ error: StoreError) -> Bool { error.sqliteCode == SQLITE_CONSTRAINT | (8 << 8) }

    private static func meaning(_ code: Int32, _ message: String) -> (Int, String) {
        switch code {
        case SQLITE_BUSY, SQLITE_LOCKED:
            (134090, "another connection holds the lock. Try again, or wait longer with a larger timeout.")
        case SQLITE_INTERRUPT:
            (134070, "it was interrupted. Nothing of it was written.")
        case SQLITE_NOTADB:
            (134080, "the file is not a SQLite database. Check the path; nothing in the file was changed.")
        case SQLITE_CANTOPEN:
            (134080, "the file cannot be opened or created. Check that its folder exists and may be written.")
        case SQLITE_CORRUPT:
            (134180, "the file is damaged (\(message)). Restore it from a copy.")
        case SQLITE_FULL:
            (134180, "the disk or the database is full. Make room; nothing of this change was written.")
        case SQLITE_READONLY, SQLITE_PERM:
            (
                134030,
                "the file or its folder may not be written. Change its permissions or open it read-only."
            )
        case SQLITE_IOERR:
            (134180, "reading or writing the file went wrong (\(message)).")
        default:
            (134180, "SQLite said: \(message) (code \(code)).")
        }
    }

    static func noConnection(_ path: String, _ purpose: String, _ seconds: Double) -> StoreError {
        StoreError(
            134090,
            "No connection to \(purpose) with became free within \(seconds) seconds for the store at \(path). Let fewer "
                + "\(purpose == "read" ? "reads run at once, or raise SQLiteReaderLimitOption" : "saves wait for each other")"
                + ", or raise SQLiteConnectionTimeoutOption.", path: path)
    }

    static func tooManyViews(_ path: String, _ limit: Int, _ seconds: Double) -> StoreError {
        StoreError(
            134090,
            "\(limit) views of the store at \(path) are pinned, and none was let go within \(seconds) seconds. Let go of those that "
                + "are read no more, raise SQLitePinnedViewLimitOption or SQLiteConnectionTimeoutOption.", path: path)
    }

    static func viewInUse(_ path: String, _ seconds: Double) -> StoreError {
        StoreError(
            134090,
            "Another thread did not leave the view, or the cursor, of the store at \(path) within \(seconds) seconds. Let reads of one view "
                + "end before another is read, or pin a view for each thread.", path: path)
    }

    static func stillUsed(_ path: String, _ seconds: Double) -> StoreError {
        StoreError(
            134090,
            "The store at \(path) takes no more work, but reads or saves that had begun did not end within \(seconds) "
                + "seconds. Its file is closed when they end; close it again to wait for that.", path: path)
    }

    static func closed(_ path: String) -> StoreError {
        StoreError(134070, "The store at \(path) is closed. Open it again before using it.", path: path)
    }
}

extension StoreError {
    /// SQLite's extended code; nil where SQLite did not say anything.
    package var sqliteCode: Int32? {
        guard let engine, engine.name == SQLiteError.engine else { return nil }
        return Int32(engine.code)
    }
}
