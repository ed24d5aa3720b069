// One writes a file at a time.

import CoreDataValues
import Foundation
import Synchronization

/// The lock of a file that is exchanged, never changed in place: that of the file which lies there at the moment. Nothing is left behind.
///
/// Whoever waits for it finds another file under the name, and waits for that one. Those who only read need none. Where there is no file
/// there is no lock: whoever makes one does not replace what somebody else made meanwhile. Nor is there one where the file system has none.
struct FileLock: ~Copyable {
    private let handle: Int32
    private let file: Identity?
    /// Which threads of this process have locked a file.
    private static let threads = Mutex<[Identity: UInt]>([:])

    private struct Identity: Hashable {
        let device: UInt
        let node: UInt

        init?(of handle: Int32) {
            var facts = stat()
            guard fstat(handle, &facts) == 0 else { return nil }
            (device, node) = (UInt(facts.st_dev), UInt(facts.st_ino))
        }

        init?(at path: String) {
            var facts = stat()
            guard stat(path, &facts) == 0 else { return nil }
            (device, node) = (UInt(facts.st_dev), UInt(facts.st_ino))
        }
    }

    /// - Parameter seconds: how long others are waited for; nil for as long as it takes.
    /// - Throws: 134090 when others took longer, 134110 inside a migration of the file.
    init(_ path: String, waiting seconds: Double?) throws(StoreError) {
        let end = seconds.map { Date().addingTimeInterval($0) }
        while true {
            let handle = open(path, O_RDONLY | O_CLOEXEC)
            guard handle >= 0, let file = Identity(of: handle) else {
                if handle >= 0 { close(handle) }
                (self.handle, file) = (-1, nil)
                return
            }
            do throws(StoreError) {
                try Self.requireOutside(file, path)
                try Self.lock(handle, until: end, seconds, path)
            } catch {
                close(handle)
                throw error
            }
            if Identity(at: path) == file {
                (self.handle, self.file) = (handle, file)
                Self.threads.withLock { $0[file] = UInt(pthread_self()) }
                return
            }
            close(handle)
        }
    }

    deinit {
        guard handle >= 0 else { return }
        if let file { _ = Self.threads.withLock { $0.removeValue(forKey: file) } }
        close(handle)
    }

    private static func lock(_ handle: Int32, until end: Date?, _ seconds: Double?, _ path: String) throws(StoreError) {
        while flock(handle, end == nil ? LOCK_EX : LOCK_EX | LOCK_NB) != 0 {
            guard errno == EINTR || errno == EWOULDBLOCK else { return }
            if let end, Date() >= end {
                throw StoreError(
                    134090,
                    "The store at \(path) is being written elsewhere, which takes longer than \(seconds ?? 0) seconds; nothing was "
                        + "changed. Try again, or wait longer with SQLiteConnectionTimeoutOption.", path: path)
            }
            usleep(1000)
        }
    }

    /// A thread would wait for itself.
    private static func requireOutside(_ file: Identity, _ path: String) throws(StoreError) {
        guard threads.withLock({ $0[file] }) == UInt(pthread_self()) else { return }
        throw StoreError(
            134110,
            "The store at \(path) is being migrated by this thread; a policy of it cannot write to the store as well. Nothing was changed.",
            path: path)
    }
}

extension AtomicFile {
    /// How often what is made of a file is made anew.
    private static let attempts = 8

    /// Makes something of the file and puts it in its place, while all who ask for its lock wait.
    ///
    /// Begins anew where somebody who asks for none has exchanged the file meanwhile.
    /// - Parameters:
    ///   - isLocked: false for a file that a program's own class writes, which may have locks of its own.
    ///   - seconds: how long others are waited for; nil for as long as it takes.
    /// - Throws: 134110 where the file is changed each time; what both blocks throw.
    func exchange<Made>(
        isLocked: Bool = true, waiting seconds: Double?, _ make: () throws -> Made, by put: (Made) throws -> Void
    ) throws {
        for _ in 0..<Self.attempts {
            let lock = isLocked ? try FileLock(url.path, waiting: seconds) : nil
            defer { extendLifetime(lock) }
            let stamp = FileStamp(url.path)
            let made = try make()
            if FileStamp(url.path) == stamp { return try put(made) }
        }
        throw StoreError(
            134110,
            "The store at \(url.path) was changed elsewhere \(Self.attempts) times while it was read; nothing was changed. Close it "
                + "elsewhere and open it again.", path: url.path)
    }
}
