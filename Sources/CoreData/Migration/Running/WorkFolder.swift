// Where a store is made before it takes its place.

import CoreDataValues
import Foundation
import Synchronization

/// The one folder beside a store in which it is migrated, removed at the end: whoever has it migrates, all others wait.
///
/// It is locked while its process lives. What a killed process left is removed by whoever opens the store next, or migrates it.
final class WorkFolder {
    let url: URL
    private let path: String
    private let lock: Int32
    /// Whether somebody else had it first.
    let hasWaited: Bool
    private static let mark = ".OpenCoreData-migration"
    /// Which threads of this process migrate, by folder.
    private static let threads = Mutex<[String: UInt]>([:])

    /// - Parameters:
    ///   - seconds: how long another migration of the store is waited for; nil for as long as it takes.
    ///   - check: asked while waiting; ends it by what it throws.
    /// - Throws: 134030 where nothing can be written, 134090 when another migration took longer, 134110 inside a migration of the store.
    init(beside store: URL, waiting seconds: Double? = nil, _ check: () throws -> Void = {}) throws {
        path = Self.place(beside: store.path)
        url = URL(fileURLWithPath: path, isDirectory: true)
        try Self.requireOutside(path, store)
        let end = seconds.map { Date().addingTimeInterval($0) }
        var waits = false
        while true {
            guard mkdir(path, 0o777) == 0 || errno == EEXIST else { throw Self.failure(store) }
            let handle = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
            if handle < 0, errno == ENOENT { continue }
            guard handle >= 0 else { throw Self.failure(store) }
            if flock(handle, LOCK_EX | LOCK_NB) == 0, Self.isStill(handle, path) {
                lock = handle
                hasWaited = waits
                Self.empty(url)
                Self.threads.withLock { $0[path] = UInt(pthread_self()) }
                return
            }
            close(handle)
            waits = true
            if let end, Date() >= end {
                throw StoreError(
                    134090,
                    "The store at \(store.path) is being migrated elsewhere, which takes longer than \(seconds ?? 0) seconds. Open "
                        + "it again, or wait longer with SQLiteConnectionTimeoutOption.", path: store.path)
            }
            try check()
            usleep(10_000)
        }
    }

    deinit {
        _ = Self.threads.withLock { $0.removeValue(forKey: path) }
        try? FileManager.default.removeItem(at: url)
        close(lock)
    }

    /// Removes what a killed process left beside a store. Costs one look-up of a name.
    static func removeLeftovers(beside store: URL) {
        let path = place(beside: store.path)
        guard access(path, F_OK) == 0 else { return }
        let handle = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard handle >= 0 else { return }
        if flock(handle, LOCK_EX | LOCK_NB) == 0, Self.isStill(handle, path) {
            try? FileManager.default.removeItem(atPath: path)
        }
        close(handle)
    }

    private static func place(beside path: String) -> String {
        let store = path.linkTarget
        // By bytes, which a character's bounds are not looked for in.
        let start = store.utf8.lastIndex(of: UInt8(ascii: "/")).map(store.utf8.index(after:)) ?? store.startIndex
        return "\(store[..<start]).\(store[start...])\(mark)"
    }

    /// A thread that migrates would wait for itself.
    private static func requireOutside(_ path: String, _ store: URL) throws {
        guard threads.withLock({ $0[path] }) == UInt(pthread_self()) else { return }
        throw StoreError(
            134110,
            "The store at \(store.path) is being migrated by this thread; a policy or a handler of it cannot migrate it as well.",
            path: store.path)
    }

    /// Whoever had the folder before may have removed it meanwhile.
    private static func isStill(_ handle: Int32, _ path: String) -> Bool {
        var (mine, present) = (stat(), stat())
        return fstat(handle, &mine) == 0 && stat(path, &present) == 0 && mine.st_ino == present.st_ino
            && mine.st_dev == present.st_dev
    }

    private static func empty(_ url: URL) {
        for name in (try? FileManager.default.contentsOfDirectory(atPath: url.path)) ?? [] {
            try? FileManager.default.removeItem(at: url.appendingPathComponent(name))
        }
    }

    private static func failure(_ store: URL) -> StoreError {
        StoreError(
            134030, "Nothing can be written beside the store at \(store.path): \(String(cString: strerror(errno))).",
            path: store.path)
    }
}
