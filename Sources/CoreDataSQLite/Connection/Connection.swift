// One connection to one database file.

import CCoreDataLog
import CCoreDataSQLite
import CoreDataSQL
import CoreDataValues
import Foundation

/// A connection without SQLite's own mutex: whoever holds it (see `Pool`) uses it from one thread at a time.
final class Connection: @unchecked Sendable {
    let handle: OpaquePointer
    let path: String
    let options: SQLiteOptions
    let counter: StatementCounter
    /// What triggers have reported since it was last cleared.
    let touched = TouchedRows()
    let ends = OrderEnds()
    /// Set while the connection works for a task that may be cancelled.
    var watch: Watch?
    /// Which thread uses the connection. Under the lock of the pool.
    var thread: pthread_t = 0
    /// When its present use began, in ticks. Under the lock of the pool, but the writer's.
    var usedSince: UInt64 = 0
    let running = RunningStatement()
    /// Whether it has the function that adds up decimals.
    var hasDecimalSum = false
    /// The log, for a connection that writes.
    let log = LogGauge()
    let isMemory: Bool
    /// Used inside its own use, so that a statement may be running already: the only one of a store in memory, and one of a view.
    var isNested: Bool
    /// Whether it was opened for writing.
    let isWritable: Bool
    /// Looks whether the file still has the model that it was opened with.
    let modelWatch: ModelWatch
    // Not checked for exclusivity, like what changes of a statement.
    @exclusivity(unchecked) var cache = StatementCache()
    /// By root entity.
    @exclusivity(unchecked) var rowStatements: ContiguousArray<Statement?> = []
    @exclusivity(unchecked) private var beginning: Statement?
    @exclusivity(unchecked) private var committing: Statement?
    @exclusivity(unchecked) private var rollingBack: Statement?

    /// Without the memory statistics an insert costs 0.91. Works only before SQLite is first used in the process;
    /// later it changes nothing. The one setting of the whole process that is made: the memory itself is the host's.
    private static let statistics: Int32 = coredata_sqlite_config_memstatus(0)

    enum Access { case create, write, read, immutable, memory }

    init(path: String, access: Access, options: SQLiteOptions, counter: StatementCounter) throws {
        _ = Self.statistics
        let base = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
        let (name, flags): (String, Int32) =
            switch access {
            case .create: (path, base | SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE)
            case .write: (path, base | SQLITE_OPEN_READWRITE)
            case .read: (path, base | SQLITE_OPEN_READONLY)
            case .memory: (":memory:", base | SQLITE_OPEN_READWRITE)
            case .immutable: (Self.immutableURI(path), base | SQLITE_OPEN_READONLY | SQLITE_OPEN_URI)
            }
        isWritable = [.create, .write, .memory].contains(access)
        var opened: OpaquePointer?
        let code = sqlite3_open_v2(name, &opened, flags, isWritable ? coredata_log_vfs() : nil)
        guard code == SQLITE_OK, let opened else {
            let message = opened.map { String(cString: sqlite3_errmsg($0)) } ?? "out of memory"
            sqlite3_close_v2(opened)
            throw SQLiteError.make(code, message: message, doing: "Opening the file", path: path)
        }
        handle = opened
        self.path = path
        self.options = options
        self.counter = counter
        isMemory = access == .memory
        modelWatch = ModelWatch(path: path)
        isNested = isMemory
        setBusyTimeout(options.timeout)
        _ = coredata_sqlite_defensive(opened, 1)
        _ = coredata_sqlite_trusted_schema(opened, 0)
        if !isMemory { modelWatch.install(on: opened) }
        TextFunctions.register(on: opened, for: self)
        ValueFunctions.register(on: opened, path: path)
    }

    deinit { close() }

    private var isOpen = true

    /// Closes the file now, whoever still holds the connection; nobody may use it any more.
    func close() {
        guard isOpen else { return }
        isOpen = false
        cache.removeAll()
        rowStatements = []
        (beginning, committing, rollingBack) = (nil, nil, nil)
        sqlite3_close_v2(handle)
    }

    private static func immutableURI(_ path: String) -> String {
        let escaped = path.replacing("%", with: "%25").replacing("?", with: "%3f").replacing("#", with: "%23")
        return "file:\(escaped)?immutable=1"
    }

    /// Whether closing this connection as the last one moves the log into the file.
    func checkpointsOnClose(_ flag: Bool) { _ = coredata_sqlite_checkpoint_on_close(handle, flag ? 1 : 0) }

    /// Why the R-trees of a map cannot be made; nil where they can.
    func missingRTrees(of map: StoreMap) throws -> String? {
        if map.rTrees.isEmpty { return nil }
        let count = try run("SELECT COUNT(*) FROM pragma_module_list WHERE name = 'rtree'")
        return count == "0" ? "the SQLite of this system is built without R-trees" : nil
    }

    /// Whether the file has R-trees, of its model's or of an earlier one's.
    func hasRTrees() throws -> Bool {
        try run("SELECT COUNT(*) FROM sqlite_master WHERE type = 'table' AND name GLOB 'Z_RT_*'") != "0"
    }

    /// Lets triggers write to R-trees, which SQLite (3.40 at least) takes for unsafe. Our own functions stay out of their reach: all
    /// but the innocuous ones are DIRECTONLY.
    func trustsTriggers() { _ = coredata_sqlite_trusted_schema(handle, 1) }

    /// How long a statement waits for another connection's lock.
    func setBusyTimeout(_ seconds: Double) {
        sqlite3_busy_timeout(handle, Int32(clamping: Int64((seconds * 1000).clamped(to: 0...2_000_000_000))))
    }

    /// Runs a statement for its effect and answers its first value, as text.
    @discardableResult
    func run(_ sql: String) throws -> String? {
        let statement = try Statement(sql, on: self)
        defer { statement.finish() }
        var first: String?
        while try statement.step() { first = first ?? statement.text(0) }
        return first
    }

    var isInTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }

    /// Rows that the last statement changed.
    var changes: Int { Int(sqlite3_changes(handle)) }

    /// Runs `body` in a transaction: committed when it returns true, rolled back when it returns false or throws.
    ///
    /// Always as a whole: after a failed read too, since the log may have learned in it that pages could not be written
    /// (`CCoreDataLog`). So `body` lets no error of a statement pass.
    func transaction(_ body: () throws -> Bool) throws {
        try run(&beginning, "BEGIN IMMEDIATE")
        do {
            let isWanted = try body()
            if let watch { try endBeforeCommit(watch) }
            if isWanted {
                try run(&committing, "COMMIT")
            } else {
                try run(&rollingBack, "ROLLBACK")
            }
        } catch {
            endWatch()
            // A full disk or an I/O error has ended the transaction already.
            if isInTransaction { try? run(&rollingBack, "ROLLBACK") }
            throw error
        }
    }

    private func run(_ kept: inout Statement?, _ sql: String) throws {
        let statement = try kept ?? Statement(sql, on: self)
        kept = statement
        defer { statement.finish(clears: false) }
        _ = try statement.step()
    }

    func error(_ code: Int32, doing what: String, sql: String?) -> StoreError {
        // Of a definition that was not let through SQLite says that the schema is another one.
        if [SQLITE_AUTH, SQLITE_SCHEMA].contains(code & 0xff), let refusal = modelWatch.refusal { return refusal }
        return SQLiteError.make(
            code, message: String(cString: sqlite3_errmsg(handle)), doing: what, path: path, sql: sql)
    }
}

extension Double {
    fileprivate func clamped(to range: ClosedRange<Double>) -> Double {
        isNaN ? range.lowerBound : min(max(self, range.lowerBound), range.upperBound)
    }
}
