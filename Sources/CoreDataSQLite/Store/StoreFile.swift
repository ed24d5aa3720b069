// A store's file that nobody here has opened as a store.

import CCoreDataSQLite
import CoreDataSQL
import CoreDataValues
import Foundation

/// What can be done to a SQLite store without a model.
package struct StoreFile {
    private let url: URL
    private var path: String { url.path }

    package init(url: URL) { self.url = url }

    private func connect(_ access: Connection.Access) throws -> Connection {
        try Connection(path: path, access: access, options: SQLiteOptions(), counter: StatementCounter())
    }

    /// - Throws: 134080 where no store is.
    package func metadata() throws -> StoreMetadata { try facts().metadata }

    /// Answers whether there is a history.
    static let historyCount = "SELECT COUNT(*) FROM sqlite_master WHERE name = 'ATRANSACTION'"

    /// The metadata, and whether there is a history.
    ///
    /// - Throws: 134080 where no store is.
    func facts() throws -> (metadata: StoreMetadata, hasHistory: Bool) {
        guard try FilePlace(url: url).check(mustExist: true) else { throw notAStore() }
        return try facts(try reader())
    }

    /// A connection that reads, also where nothing may be written beside the file.
    private func reader() throws -> Connection {
        do {
            let connection = try connect(.read)
            try connection.run("SELECT COUNT(*) FROM sqlite_master")
            return connection
        } catch let error as StoreError where FilePlace(url: url).mayBeReadAsItIs(error) {
            return try connect(.immutable)
        }
    }

    private func facts(_ connection: Connection) throws -> (StoreMetadata, Bool) {
        (try metadata(connection), try connection.run(Self.historyCount) != "0")
    }

    private func metadata(_ connection: Connection) throws -> StoreMetadata {
        let tables = try connection.run("SELECT COUNT(*) FROM sqlite_master WHERE name = 'Z_METADATA'")
        guard tables == "1", let metadata = try MetadataRecord.read(connection) else { throw notAStore() }
        return metadata
    }

    /// Calls a block with the statement at each row that a query answers.
    func eachRow(_ sql: String, _ body: (OpaquePointer) throws -> Void) throws {
        let connection = try connect(.read)
        let statement = try Statement(sql, on: connection)
        while true {
            switch sqlite3_step(statement.handle) {
            case SQLITE_ROW: try body(statement.handle)
            case SQLITE_DONE: return
            case let code: throw connection.error(code, doing: "Reading the file", sql: sql)
            }
        }
    }

    /// The copy of the model that the file was written with, compressed as Core Data does; nil for a file without one.
    package func modelCopy() throws -> Data? {
        _ = try metadata()
        let connection = try connect(.read)
        guard try connection.run("SELECT COUNT(*) FROM sqlite_master WHERE name = 'Z_MODELCACHE'") == "1" else {
            return nil
        }
        let statement = try Statement("SELECT Z_CONTENT FROM Z_MODELCACHE WHERE Z_CONTENT IS NOT NULL", on: connection)
        defer { statement.finish() }
        return try statement.step() ? statement.data(0) : nil
    }

    /// Writes metadata; the figures over the model stay as they are.
    package func setMetadata(_ metadata: StoreMetadata) throws {
        _ = try self.metadata()
        let connection = try connect(.write)
        try connection.transaction {
            try MetadataRecord.rewrite(metadata, to: connection)
            return true
        }
    }

    /// Empties the database under its lock. The file stays.
    package func destroy(force: Bool) throws {
        guard !FilePlace(url: url).isMemory, FileManager.default.fileExists(atPath: path) else { return }
        if !force { _ = try destructible() }
        let connection = try connect(.write)
        // A connection that has read the schema knows that there is a log. Any other empties the file as one with a
        // rollback journal, for which every reader would have to leave first.
        _ = try? connection.run("SELECT COUNT(*) FROM sqlite_master")
        _ = coredata_sqlite_defensive(connection.handle, 0)
        guard coredata_sqlite_reset(connection.handle, 1) == SQLITE_OK else {
            throw connection.error(SQLITE_MISUSE, doing: "Emptying the file", sql: nil)
        }
        defer { _ = coredata_sqlite_reset(connection.handle, 0) }
        try connection.run("VACUUM")
        _ = try? connection.run("PRAGMA wal_checkpoint(TRUNCATE)")
    }

    /// A store, or a database without tables, as destroying leaves it.
    private func destructible() throws -> Bool {
        _ = try FilePlace(url: url).check(mustExist: true)
        let connection = try connect(.write)
        if try connection.run("SELECT COUNT(*) FROM sqlite_master") == "0" { return true }
        _ = try metadata(connection)
        return true
    }

    /// Copies another store's content over this file, page by page under both files' locks, and its files of large values before: those of
    /// the very state that is copied.
    ///
    /// - Parameter isHeld: whether the caller keeps writers out of the source already.
    package func replace(with source: StoreFile, files: ExchangedFiles, isHeld: Bool) throws {
        _ = try source.metadata()
        guard !FilePlace(url: url).isMemory else { throw notAStore() }
        let exists = try FilePlace(url: url).check(mustExist: false)
        let from = try source.reader()
        try source.fixState(of: from, isHeld: isHeld || files.isEmpty) { try files.link() }
        try files.separate()
        do {
            let to = try connect(exists ? .write : .create)
            if !exists { FilePlace(url: url).takeAccess(of: FilePlace(url: source.url)) }
            _ = coredata_sqlite_defensive(to.handle, 0)
            guard let backup = sqlite3_backup_init(to.handle, "main", from.handle, "main") else {
                throw to.error(sqlite3_errcode(to.handle), doing: "Replacing the file", sql: nil)
            }
            var code = sqlite3_backup_step(backup, -1)
            var waits = 0
            while code == SQLITE_BUSY || code == SQLITE_LOCKED, waits < 500 {
                sqlite3_sleep(10)
                waits += 1
                code = sqlite3_backup_step(backup, -1)
            }
            let end = sqlite3_backup_finish(backup)
            guard code == SQLITE_DONE, end == SQLITE_OK else {
                throw to.error(code == SQLITE_DONE ? end : code, doing: "Replacing the file", sql: nil)
            }
        } catch {
            if !exists { FilePlace(url: url).removeIfNotStore() }
            throw error
        }
    }

    /// What a connection reads from here on is the state of this moment, in which nobody can save while a block runs. Where nobody here may
    /// write, others still can.
    private func fixState(of reader: Connection, isHeld: Bool, _ body: () throws -> Void) throws {
        let writer = isHeld ? nil : try? connect(.write)
        defer { _ = try? writer?.run("ROLLBACK") }
        do { try writer?.run("BEGIN IMMEDIATE") } catch let error as StoreError {
            guard let code = error.sqliteCode, [SQLITE_READONLY, SQLITE_CANTOPEN].contains(code & 0xff) else {
                throw error
            }
        }
        try reader.run("BEGIN")
        try reader.run("SELECT COUNT(*) FROM sqlite_master")
        try body()
    }

    private func notAStore() -> StoreError {
        StoreError(
            134080, "The file at \(path) is no Core Data store. Check the path; nothing was changed.", path: path)
    }
}
