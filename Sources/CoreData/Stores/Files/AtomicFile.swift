// Writing a file whole: the old content or the new one, whatever happens.

import CoreDataValues
import Foundation

/// What tells one state of a file from another.
struct FileStamp: Equatable {
    let node: UInt
    let size: Int
    let seconds: Int
    let nanoseconds: Int

    /// nil when there is no such file.
    init?(_ path: String) {
        var facts = stat()
        guard stat(path, &facts) == 0 else { return nil }
        self.init(facts)
    }

    init(_ facts: stat) {
        node = UInt(facts.st_ino)
        size = Int(facts.st_size)
        seconds = Int(facts.st_mtim.tv_sec)
        nanoseconds = Int(facts.st_mtim.tv_nsec)
    }
}

/// A file that is replaced, never changed in place.
struct AtomicFile {
    let url: URL
    private var path: String { url.path }

    /// A link stays: the file that it leads to is replaced.
    init(url: URL) { self.url = url.linkTarget }

    func read() throws(StoreError) -> Data {
        do {
            return try Data(contentsOf: url)
        } catch {
            throw StoreError(134080, "The store at \(path) cannot be read: \(error.localizedDescription)", path: path)
        }
    }

    /// *write beside it · flush · rename · flush the folder*
    ///
    /// - Parameters:
    ///   - isNew: whether a file that somebody else made there meanwhile is kept, and 134030 thrown.
    ///   - original: whose permissions and owner a file gets that was not there before.
    /// - Returns: the file as it was written, whoever wrote another one since.
    @discardableResult
    func write(_ data: Data, isNew: Bool = false, as original: URL? = nil) throws(StoreError) -> FileStamp {
        let folder = url.deletingLastPathComponent().path
        let draft = folder + "/." + url.lastPathComponent + "." + UUID().uuidString
        let stamp: FileStamp
        do throws(StoreError) {
            stamp = try fill(draft, data, as: original)
            guard isNew ? place(draft) : rename(draft, path) == 0 else { throw failure(isNew ? "created" : "replaced") }
        } catch {
            unlink(draft)
            throw error
        }
        let handle = open(folder, O_RDONLY)
        if handle >= 0 {
            fsync(handle)
            close(handle)
        }
        return stamp
    }

    /// Gives a draft its name, if nobody has it. Some file systems can only replace.
    private func place(_ draft: String) -> Bool {
        if link(draft, path) == 0 { return unlink(draft) == 0 }
        return errno != EEXIST && rename(draft, path) == 0
    }

    private func fill(_ draft: String, _ data: Data, as original: URL?) throws(StoreError) -> FileStamp {
        var facts = stat()
        let exists = stat(path, &facts) == 0 || original.map { stat($0.path, &facts) == 0 } ?? false
        let handle = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, exists ? facts.st_mode & 0o777 : 0o644)
        guard handle >= 0 else { throw failure("created") }
        defer { close(handle) }
        // Who may not give a file away keeps it.
        if exists, fchown(handle, facts.st_uid, facts.st_gid) == 0 { fchmod(handle, facts.st_mode & 0o777) }
        let isWritten = data.withUnsafeBytes { bytes in
            var rest = bytes
            while !rest.isEmpty {
                let count = Foundation.write(handle, rest.baseAddress, rest.count)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { return false }
                rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(count))
            }
            return true
        }
        guard isWritten, fsync(handle) == 0, fstat(handle, &facts) == 0 else { throw failure("written") }
        return FileStamp(facts)
    }

    private func failure(_ what: String) -> StoreError {
        StoreError(
            134030,
            "The store at \(path) could not be \(what): \(String(cString: strerror(errno))). "
                + "It is as it was before.", path: path)
    }
}
