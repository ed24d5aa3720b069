// The folder beside a store where large values lie in files of their own.

import CoreDataValues
import Foundation

/// `.<name>_SUPPORT/_EXTERNAL_DATA` next to the store's file; `<name>` is the file's name without extension
/// (Documentation/StoreFormat.md).
package struct ExternalFolder: ValueFiles {
    /// `.<name>_SUPPORT`, which other things of the store may share.
    package let support: URL
    package let files: URL
    private let path: String

    package init(store: URL) {
        let store = store.linkTarget
        path = store.path
        let name = store.deletingPathExtension().lastPathComponent
        support = store.deletingLastPathComponent().appendingPathComponent(".\(name)_SUPPORT", isDirectory: true)
        files = support.appendingPathComponent("_EXTERNAL_DATA", isDirectory: true)
    }

    /// A store without a place of its own keeps everything in its rows.
    package static func isPossible(for store: URL) -> Bool { store.isFileURL && store.path != "/dev/null" }

    package func file(_ name: String) -> URL { files.appendingPathComponent(name) }

    // MARK: Files

    /// Reads a file whole.
    package func read(_ name: String) throws -> Data {
        do {
            return try Data(contentsOf: file(name))
        } catch {
            throw StoreError(
                134060,
                "The file \(file(name).path), which holds a value of the store at \(path), cannot be read. Restore the "
                    + "folder \(support.lastPathComponent) from a copy of the store.", path: path)
        }
    }

    package func size(_ name: String) -> Int? {
        var facts = stat()
        return stat(file(name).path, &facts) == 0 ? Int(facts.st_size) : nil
    }

    /// Writes a new file and waits until it is on the disk: a row that refers to it may be there after a
    /// power failure.
    package func write(_ bytes: UnsafeRawBufferPointer, to name: String) throws {
        let handle = open(file(name).path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o644)
        guard handle >= 0 else { throw failure("creating", name) }
        defer { close(handle) }
        var done = 0
        while done < bytes.count {
            guard let base = bytes.baseAddress else { break }
            let count = Foundation.write(handle, base + done, bytes.count - done)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw failure("writing", name) }
            done += count
        }
        guard fsync(handle) == 0 else { throw failure("writing", name) }
    }

    /// Makes the names of new files as lasting as the files.
    package func sync() throws {
        do { try Self.flush(files) } catch { throw failure("writing", "") }
    }

    /// Writes a file, or the names in a folder, to the disk.
    package static func flush(_ url: URL) throws(POSIXError) {
        let handle = open(url.path, O_RDONLY | O_CLOEXEC)
        guard handle >= 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
        defer { close(handle) }
        guard fsync(handle) == 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
    }

    package func remove(_ name: String) { unlink(file(name).path) }

    /// A copy of a file that is not complete yet.
    package static func draft(_ name: String) -> String { name + ".copy" }

    /// Puts a copy of a file here under its name, written to the disk before it has it.
    func addCopy(of file: URL, as name: String) throws {
        let draft = self.file(ExternalFolder.draft(name))
        unlink(draft.path)
        do {
            try FileManager.default.copyItem(at: file, to: draft)
            try ExternalFolder.flush(draft)
            guard rename(draft.path, self.file(name).path) == 0 else { throw CocoaError(.fileWriteUnknown) }
        } catch {
            unlink(draft.path)
            guard let error = error as? POSIXError else {
                throw StoreError(
                    134030,
                    "The file \(file.path) of a large value cannot be copied to \(self.file(name).path): \(error.localizedDescription)",
                    path: path)
            }
            throw failure("writing", name, error.code.rawValue)
        }
    }

    /// Gives a file a name here as well, in place of a file that has it; copies it where the file system has no links.
    func addLink(to file: URL, as name: String) throws {
        let draft = self.file(ExternalFolder.draft(name))
        unlink(draft.path)
        do {
            if link(file.path, draft.path) != 0 { try FileManager.default.copyItem(at: file, to: draft) }
            guard rename(draft.path, self.file(name).path) == 0 else { throw failure("writing", name) }
        } catch {
            unlink(draft.path)
            throw error
        }
    }

    /// The names of all files of values that are here, of whichever store.
    func names() throws -> Set<String> {
        do {
            return Set(
                try FileManager.default.contentsOfDirectory(atPath: files.path).filter { UUID(uuidString: $0) != nil })
        } catch let error as CocoaError where error.code == .fileReadNoSuchFile || error.code == .fileNoSuchFile {
            return []
        }
    }

    func removeIfEmpty() {
        for place in [files, support] { rmdir(place.path) }
    }

    package func make() throws {
        do {
            try FileManager.default.createDirectory(at: files, withIntermediateDirectories: true)
        } catch { throw failure("creating", "") }
    }

    private func failure(_ what: String, _ name: String, _ code: Int32 = errno) -> StoreError {
        let reason = String(cString: strerror(code))
        return StoreError(
            134030,
            "A large value cannot be saved: \(what) \(file(name).path) failed (\(reason)). Make room or change the "
                + "permissions of the folder; nothing of this save was written.", path: path)
    }

    // MARK: Whole stores

    /// Whether a file lies beside a store whose name differs from its name by the extension alone: a store of that name has the same
    /// folder. Nobody opens it to see, since closing a file gives up all locks that the process has on it.
    static func mayBeShared(_ store: URL) -> Bool {
        let (own, name) = (store.lastPathComponent, store.deletingPathExtension().lastPathComponent)
        let place = store.deletingLastPathComponent()
        let names = (try? FileManager.default.contentsOfDirectory(atPath: place.path)) ?? []
        return names.contains { other in
            guard other != own, !other.hasPrefix(own + "-"), other == name || other.hasPrefix(name + ".") else {
                return false
            }
            var facts = stat()
            let url = place.appendingPathComponent(other)
            return url.deletingPathExtension().lastPathComponent == name && stat(url.path, &facts) == 0
                && facts.st_mode & S_IFMT == S_IFREG
        }
    }

    /// Removes the folder of a store that is destroyed, unless another store may have its files there too.
    package static func remove(for store: URL) throws {
        let folder = ExternalFolder(store: store)
        guard FileManager.default.fileExists(atPath: folder.support.path), !mayBeShared(store) else { return }
        try FileManager.default.removeItem(at: folder.support)
    }
}
