// The file system's side of opening a store.

import CCoreDataSQLite
import CoreDataValues
import Foundation

/// Looks at a store's path before SQLite does, so that errors name the cause and no file is made in vain.
struct FilePlace {
    let url: URL
    /// Asked for once: a URL works it out each time, for 9,000 instructions.
    let path: String

    init(url: URL) {
        self.url = url
        path = url.path
    }

    /// Whether the store has no file and lives as long as it is open.
    var isMemory: Bool { url.isFileURL && path == "/dev/null" }

    /// The file that the path leads to: SQLite puts the log beside that, not beside a link.
    var filePath: String {
        guard let found = realpath(path, nil) else { return path }
        defer { free(found) }
        return String(cString: found)
    }

    /// Whether there is a log beside the file, whose pages a refusal must leave where they are.
    var hasLog: Bool { access(filePath + "-wal", F_OK) == 0 }

    /// Whether the file is there.
    func check(mustExist: Bool) throws -> Bool {
        guard url.isFileURL else {
            throw error("The store's URL \(url.absoluteString) is no file URL. Use URL(fileURLWithPath:).")
        }
        var isFolder: ObjCBool = false
        if FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) {
            if isFolder.boolValue {
                throw error(
                    "The store's path \(path) is a folder. Name a file in it, for example Model.sqlite.")
            }
            return true
        }
        if mustExist {
            throw error("There is no store at \(path), and a store that is opened read-only is not created.")
        }
        let folder = url.deletingLastPathComponent().path
        if !FileManager.default.fileExists(atPath: folder, isDirectory: &isFolder) {
            throw error(
                "The folder \(folder) of the store \(url.lastPathComponent) does not exist. Create it first.")
        }
        if !isFolder.boolValue {
            throw error(
                "\(folder), the folder of the store \(url.lastPathComponent), is a file. Choose another path."
            )
        }
        return false
    }

    /// Gives this file the permissions of another one and, where this process may, its owner: a copy is seen by nobody who cannot see the
    /// original.
    func takeAccess(of other: FilePlace) {
        var facts = stat()
        guard stat(other.path, &facts) == 0 else { return }
        _ = chown(path, facts.st_uid, facts.st_gid)
        chmod(path, facts.st_mode & 0o777 | 0o600)
    }

    /// Removes what a failed creation left: a file without tables. A store another process made meanwhile
    /// stays.
    func removeIfNotStore() {
        guard !isMemory, let size = try? FileManager.default.attributesOfItem(atPath: path)[.size] as? Int else {
            return
        }
        let isHeaderOnly = size <= 65536
        guard size == 0 || (isHeaderOnly && hasNoTables()) else { return }
        for suffix in ["", "-wal", "-shm", "-journal"] {
            try? FileManager.default.removeItem(atPath: path + suffix)
        }
    }

    private func hasNoTables() -> Bool {
        var options = SQLiteOptions()
        options.timeout = 0
        guard
            let connection = try? Connection(
                path: path, access: .write, options: options, counter: StatementCounter())
        else { return false }
        return (try? connection.run("SELECT COUNT(*) FROM sqlite_master")) == "0"
    }

    /// Whether a read-only opening failed only because SQLite could not make its side files, and no log holds
    /// newer rows.
    func mayBeReadAsItIs(_ error: StoreError) -> Bool {
        guard let code = error.sqliteCode.map({ $0 & 0xff }),
            [SQLITE_CANTOPEN, SQLITE_READONLY].contains(code)
        else { return false }
        let log = try? FileManager.default.attributesOfItem(atPath: filePath + "-wal")[.size] as? Int
        return FileManager.default.isReadableFile(atPath: path) && (log ?? 0) == 0
    }

    private func error(_ sentence: String) -> StoreError { StoreError(134080, sentence, path: path) }
}
