// The log whose pages are written at once: whoever else reads it must not see a difference.

import CCoreDataLog
import CCoreDataSQLite
import CoreDataSeeds
import Foundation
import Testing

@Suite("Log")
struct LogTests {
    let folder: Folder

    init() throws { folder = try Folder() }

    @Test(
        "After each of many random transactions a reader with SQLite's own VFS, and who finds the files after a crash, have its rows",
        arguments: 0..<16)
    func transactions(_ seed: Int) throws {
        var random = SplitMix(UInt64(seed))
        let path = folder.url.appendingPathComponent("log.sqlite").path
        let pageSize = [512, 1024, 4096, 4096, 16384, 65536][random.below(6)]
        let writer = try Database(path, isJoined: true)
        try writer.run("PRAGMA page_size=\(pageSize)")
        try writer.run("PRAGMA journal_mode=WAL")
        // A small cache writes pages of a transaction that is still open, and some of them twice.
        try writer.run("PRAGMA cache_size=\(1 + random.below(8))")
        try writer.run("PRAGMA synchronous=\(1 + random.below(2))")
        try writer.run("PRAGMA wal_autocheckpoint=\([0, 5, 40][random.below(3)])")
        try writer.run("PRAGMA journal_size_limit=\([-1, 0, 20_000][random.below(3)])")
        try writer.run("CREATE TABLE t(id INTEGER PRIMARY KEY, value BLOB)")
        let other = try Database(path, isJoined: false)
        let files = try Files(path)
        var rows: [Int: Int] = [:]
        // No savepoints: SQLite 3.40.1 itself, without us, loses a commit after a crash when a savepoint was rolled back whose pages
        // did not fit the cache. Nothing of ours uses one.
        for _ in 0..<40 {
            // Now and then somebody else writes, or empties the log.
            if random.below(8) == 0 {
                try other.run("PRAGMA wal_checkpoint(\(["PASSIVE", "TRUNCATE"][random.below(2)]))")
            }
            let database = random.below(6) == 0 ? other : writer
            try database.run("BEGIN IMMEDIATE")
            var changed = rows
            try change(&changed, database, &random, pageSize)
            try expectFound(rows, files, other === database ? nil : other)
            if random.below(5) == 0 {
                try database.run("ROLLBACK")
            } else {
                try database.run("COMMIT")
                rows = changed
            }
            try expectFound(rows, files, other)
        }
        #expect(try writer.rows() == rows)
    }

    private func change(
        _ rows: inout [Int: Int], _ database: Database, _ random: inout SplitMix, _ pageSize: Int
    ) throws {
        for _ in 0...random.below(12) {
            let id = random.below(40)
            if random.below(4) == 0 {
                try database.run("DELETE FROM t WHERE id=\(id)")
                rows[id] = nil
            } else {
                let size = random.below(2) == 0 ? random.below(100) : random.below(3 * pageSize)
                try database.run("INSERT OR REPLACE INTO t VALUES(\(id), zeroblob(\(size)))")
                rows[id] = size
            }
        }
    }

    /// What another connection reads, and what a machine finds that stopped at this moment.
    private func expectFound(_ rows: [Int: Int], _ files: Files, _ reader: Database?) throws {
        if let reader { #expect(try reader.rows() == rows) }
        let copy = folder.url.appendingPathComponent("crashed.sqlite").path
        for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: copy + suffix) }
        try files.write(to: copy)
        let found = try Database(copy, isJoined: false)
        #expect(try found.rows() == rows)
        #expect(try found.run("PRAGMA integrity_check") == "ok")
    }
}

/// A database and its log as they lie there. Closing a file would drop the locks that this process has on it, so they stay open.
private final class Files {
    private let files: [FileHandle]

    init(_ path: String) throws {
        files = try ["", "-wal"].map { try FileHandle(forReadingFrom: URL(fileURLWithPath: path + $0)) }
    }

    func write(to path: String) throws {
        for (file, suffix) in zip(files, ["", "-wal"]) {
            try file.seek(toOffset: 0)
            try (file.readToEnd() ?? Data()).write(to: URL(fileURLWithPath: path + suffix))
        }
    }
}

/// A connection of SQLite's own.
private final class Database {
    private let handle: OpaquePointer

    struct Failure: Error { let message: String }

    init(_ path: String, isJoined: Bool) throws {
        var opened: OpaquePointer?
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
        guard sqlite3_open_v2(path, &opened, flags, isJoined ? coredata_log_vfs() : nil) == SQLITE_OK, let opened else {
            throw Failure(message: "cannot open \(path)")
        }
        handle = opened
        sqlite3_busy_timeout(handle, 2000)
    }

    deinit { sqlite3_close_v2(handle) }

    /// Answers the first value of the first row.
    @discardableResult
    func run(_ sql: String) throws -> String? {
        var first: String?
        try forEachRow(sql) { statement in
            if first == nil, let text = sqlite3_column_text(statement, 0) { first = String(cString: text) }
        }
        return first
    }

    /// How long each blob is.
    func rows() throws -> [Int: Int] {
        var rows: [Int: Int] = [:]
        try forEachRow("SELECT id, length(value) FROM t") { statement in
            rows[Int(sqlite3_column_int64(statement, 0))] = Int(sqlite3_column_int64(statement, 1))
        }
        return rows
    }

    private func forEachRow(_ sql: String, _ body: (OpaquePointer) -> Void) throws {
        var prepared: OpaquePointer?
        guard sqlite3_prepare_v2(handle, sql, -1, &prepared, nil) == SQLITE_OK, let statement = prepared else {
            throw failure(sql)
        }
        defer { sqlite3_finalize(statement) }
        var code = sqlite3_step(statement)
        while code == SQLITE_ROW {
            body(statement)
            code = sqlite3_step(statement)
        }
        guard code == SQLITE_DONE else { throw failure(sql) }
    }

    private func failure(_ sql: String) -> Failure {
        Failure(message: "\(sql): \(String(cString: sqlite3_errmsg(handle)))")
    }
}
