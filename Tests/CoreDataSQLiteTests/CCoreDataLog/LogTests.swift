// The log whose pages are written at once: whoever else reads it must not see a difference.

import CCoreDataLog
import CoreDataSeeds
import CoreDataTestSupport
import Foundation
import Testing

@Suite("Log")
struct LogTests {
    let folder = Folder()

    @Test(
        "After each of many random transactions a reader with SQLite's own VFS, and who finds the files after a crash, have its rows",
        arguments: 0..<16)
    func transactions(_ seed: Int) throws {
        var random = SplitMix(UInt64(seed))
        let file = folder.file("log.sqlite")
        let pageSize = [512, 1024, 4096, 4096, 16384, 65536][random.below(6)]
        let writer = try SQLiteFile(file, for: .making, vfs: coredata_log_vfs())
        try writer.run("PRAGMA busy_timeout=2000")
        try writer.run("PRAGMA page_size=\(pageSize)")
        try writer.run("PRAGMA journal_mode=WAL")
        // A small cache writes pages of a transaction that is still open, and some of them twice.
        try writer.run("PRAGMA cache_size=\(1 + random.below(8))")
        try writer.run("PRAGMA synchronous=\(1 + random.below(2))")
        try writer.run("PRAGMA wal_autocheckpoint=\([0, 5, 40][random.below(3)])")
        try writer.run("PRAGMA journal_size_limit=\([-1, 0, 20_000][random.below(3)])")
        try writer.run("CREATE TABLE t(id INTEGER PRIMARY KEY, value BLOB)")
        let other = try SQLiteFile(file)
        try other.run("PRAGMA busy_timeout=2000")
        let files = try Files(file.path)
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
        #expect(try writer.lengths() == rows)
    }

    private func change(
        _ rows: inout [Int: Int], _ database: SQLiteFile, _ random: inout SplitMix, _ pageSize: Int
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
    private func expectFound(_ rows: [Int: Int], _ files: Files, _ reader: SQLiteFile?) throws {
        if let reader { #expect(try reader.lengths() == rows) }
        let copy = folder.file("crashed.sqlite")
        for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: copy.path + suffix) }
        try files.write(to: copy.path)
        let found = try SQLiteFile(copy)
        #expect(try found.lengths() == rows)
        #expect(try found.rows("PRAGMA integrity_check") == ["ok"])
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

extension SQLiteFile {
    /// How long each blob is.
    fileprivate func lengths() throws -> [Int: Int] {
        let rows = try rows("SELECT id, length(value) FROM t").map { $0.split(separator: "|").compactMap { Int($0) } }
        return Dictionary(uniqueKeysWithValues: rows.map { ($0[0], $0[1]) })
    }
}
