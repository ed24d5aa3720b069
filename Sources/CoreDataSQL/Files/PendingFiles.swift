// A note of the files that a running save adds and gives up, for the case that its process does not live to
// see the end.

import CoreDataValues
import Foundation

/// A file `<store>-<UUID>.pending` in the store's support folder, a name a line, locked while its save runs; `<store>-<store>-<UUID>.pending`
/// where one store takes another's place, for whoever opens either.
///
/// Whoever opens the store takes the lock of each note: if it is free, the save's process is gone, and files
/// of the note that no row refers to are removed. A note that is lost with the power leaves orphans, which
/// nothing reads.
///
/// Used by one thread at a time: whoever makes the change, then whoever removes what it gave up.
package final class PendingFiles: @unchecked Sendable {
    private let folder: ExternalFolder
    private let url: URL
    private var handle: Int32 = -1

    package convenience init(_ folder: ExternalFolder, store: String) { self.init(folder, stores: [store]) }

    init(_ folder: ExternalFolder, stores: [String]) {
        self.folder = folder
        let store = stores.joined(separator: "-")
        url = folder.support.appendingPathComponent("\(store)-\(UUID().uuidString).pending")
    }

    deinit { if handle >= 0 { close(handle) } }

    package func add(_ names: [String]) throws {
        if handle < 0 {
            try folder.make()
            handle = open(url.path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0o644)
            if handle >= 0 { flock(handle, LOCK_EX) }
        }
        let text = Array((names.joined(separator: "\n") + "\n").utf8)
        guard handle >= 0, write(handle, text, text.count) == text.count else {
            let reason = String(cString: strerror(errno))
            throw StoreError(
                134030,
                "A large value cannot be saved: writing \(url.path) failed (\(reason)). Make room or change the "
                    + "permissions of the folder; nothing of this save was written.", path: url.path)
        }
    }

    /// The save is done, one way or the other, and so is everything it noted.
    package func end() {
        guard handle >= 0 else { return }
        unlink(url.path)
        close(handle)
        handle = -1
    }

    // MARK: Of others

    /// A note whose writer is gone.
    struct Abandoned {
        let names: [String]
        fileprivate let url: URL
        fileprivate let handle: Int32

        func end() {
            unlink(url.path)
            close(handle)
        }
    }

    /// Notes of a store that nobody holds. Costs the listing of one folder, or a failed look-up when there is
    /// none.
    static func abandoned(in folder: ExternalFolder, store: String) -> [Abandoned] {
        guard let files = try? FileManager.default.contentsOfDirectory(atPath: folder.support.path) else { return [] }
        return files.filter { ("-" + $0).contains("-\(store)-") && $0.hasSuffix(".pending") }.compactMap { file in
            let url = folder.support.appendingPathComponent(file)
            let handle = open(url.path, O_RDONLY | O_CLOEXEC)
            guard handle >= 0 else { return nil }
            guard flock(handle, LOCK_EX | LOCK_NB) == 0,
                let text = try? String(contentsOf: url, encoding: .utf8)
            else {
                close(handle)
                return nil
            }
            let names = text.split(separator: "\n").map(String.init).filter { UUID(uuidString: $0) != nil }
            return Abandoned(names: names, url: url, handle: handle)
        }
    }
}
