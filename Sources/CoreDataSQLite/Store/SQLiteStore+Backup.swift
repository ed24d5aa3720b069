// A copy of a store that is in use.

import CCoreDataSQLite
import CoreDataSQL
import CoreDataValues
import Foundation

extension SQLiteStore {
    /// Copies the store as it is at one moment, files of large values included; reads and writes go on meanwhile.
    ///
    /// - Throws: 134030 when something lies at the target already or the copy cannot be written; nothing of it is left.
    package func backup(to target: URL) throws { try StoreBackup(store: self, target: target).run() }
}

/// *take the place · fix the moment and its files · copy the pages · make the files our own · give the copy its name*
///
/// Until then it is a draft whose maker has a lock: what a killed process left goes with the next copy to this place.
private struct StoreBackup {
    let store: SQLiteStore
    let target: URL
    private let draft: URL
    private let files: CopiedFiles

    init(store: SQLiteStore, target: URL) {
        self.store = store
        self.target = target
        draft = target.deletingLastPathComponent().appendingPathComponent(".\(target.lastPathComponent).copy")
        files = CopiedFiles(from: store.url, to: target)
    }

    func run() throws {
        try requireFree(target)
        let (lock, wasLeft) = try lockDraft()
        defer { unlockDraft(lock) }
        files.sweep(wasLeft: wasLeft)
        try requireFree(files.folder.support)
        do {
            try store.pool.read { reader in
                try reader.run("BEGIN")
                defer { _ = try? reader.run("COMMIT") }
                try fixMoment(reader)
                try copyPages(from: reader)
                try files.separate()
            }
            try publish()
            files.end()
        } catch {
            files.remove()
            throw error
        }
    }

    private func requireFree(_ place: URL) throws {
        guard target.isFileURL else { throw refusal("is no file URL") }
        if FileManager.default.fileExists(atPath: place.path) {
            throw refusal("cannot be written: \(place.path) exists already")
        }
        do { _ = try FilePlace(url: target).check(mustExist: false) } catch let error as StoreError {
            throw StoreError(134030, error.sentence, path: target.path)
        }
    }

    // MARK: The draft

    /// A file of its own: closing one that SQLite has open as well would end SQLite's locks.
    private var lockFile: String { draft.path + "-lock" }

    /// Answers the lock, and whether a process that is gone had it before.
    private func lockDraft() throws -> (lock: Int32, wasLeft: Bool) {
        while true {
            var handle = open(lockFile, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o644)
            let wasLeft = handle < 0 && errno == EEXIST
            if wasLeft { handle = open(lockFile, O_RDWR | O_CLOEXEC) }
            if handle < 0, wasLeft, errno == ENOENT { continue }
            guard handle >= 0 else { throw refusal("cannot be written: \(String(cString: strerror(errno)))") }
            guard flock(handle, LOCK_EX | LOCK_NB) == 0 else {
                close(handle)
                throw refusal("is being written by somebody else")
            }
            // Who had it before may have removed it meanwhile.
            var (mine, present) = (stat(), stat())
            if fstat(handle, &mine) == 0, stat(lockFile, &present) == 0, mine.st_ino == present.st_ino,
                mine.st_dev == present.st_dev
            {
                removeDraft()
                return (handle, wasLeft)
            }
            close(handle)
        }
    }

    private func unlockDraft(_ lock: Int32) {
        removeDraft()
        unlink(lockFile)
        close(lock)
    }

    private func removeDraft() {
        for suffix in ["-wal", "-shm", "-journal", ""] { unlink(draft.path + suffix) }
    }

    // MARK: Steps

    /// From here on the reader sees the rows of one moment. No save can end while the files of that moment are linked, so
    /// that none of them is removed before.
    private func fixMoment(_ reader: Connection) throws {
        guard let externals = store.externals else {
            try reader.run("SELECT COUNT(*) FROM sqlite_master")
            return
        }
        if store.options.isReadOnly { return try files.link(externals, reader) }
        try store.pool.write { writer in
            try writer.transaction {
                try files.link(externals, reader)
                return false
            }
        }
    }

    private func copyPages(from reader: Connection) throws {
        let copy = try Connection(
            path: draft.path, access: .create, options: SQLiteOptions(), counter: StatementCounter())
        FilePlace(url: draft).takeAccess(of: FilePlace(url: store.url))
        _ = coredata_sqlite_defensive(copy.handle, 0)
        guard let backup = sqlite3_backup_init(copy.handle, "main", reader.handle, "main") else {
            throw copy.error(sqlite3_errcode(copy.handle), doing: "Copying the store", sql: nil)
        }
        let code = sqlite3_backup_step(backup, -1)
        let end = sqlite3_backup_finish(backup)
        guard code == SQLITE_DONE, end == SQLITE_OK else {
            throw copy.error(code == SQLITE_DONE ? end : code, doing: "Copying the store", sql: nil)
        }
    }

    /// The copy appears under its name when it is complete.
    private func publish() throws {
        guard Foundation.link(draft.path, target.path) == 0 || renamed() else {
            throw refusal("cannot be written: \(String(cString: strerror(errno)))")
        }
        do { try ExternalFolder.flush(target.deletingLastPathComponent()) } catch { throw refusal("cannot be flushed") }
    }

    /// Where the file system has no links.
    private func renamed() -> Bool { errno != EEXIST && rename(draft.path, target.path) == 0 }

    private func refusal(_ what: String) -> StoreError {
        StoreError(
            134030,
            "The copy \(target.path) of the store at \(store.url.path) \(what). Choose another place; nothing was left.",
            path: target.path)
    }
}
