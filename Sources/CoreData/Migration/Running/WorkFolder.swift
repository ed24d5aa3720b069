// Where a store is made before it takes its place.

import Foundation

/// A folder beside a store, removed at the end; one that a process left behind when it was killed is removed by the next migration.
final class WorkFolder {
    let url: URL
    private let lock: Int32
    private static let mark = ".migration-"

    /// - Throws: 134160 where nothing can be written.
    init(beside store: URL) throws {
        let name = ".\(store.lastPathComponent)\(Self.mark)"
        let parent = store.deletingLastPathComponent()
        Self.removeLeftovers(name, in: parent)
        url = parent.appendingPathComponent(name + UUID().uuidString)
        do { try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false) } catch {
            throw CocoaError.coreData(
                134160, "Nothing can be written beside the store at \(store.path): \(error.localizedDescription)",
                [NSFilePathErrorKey: store.path, NSUnderlyingErrorKey: error])
        }
        lock = open(url.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        _ = flock(lock, LOCK_EX | LOCK_NB)
    }

    deinit {
        try? FileManager.default.removeItem(at: url)
        close(lock)
    }

    /// Folders that nobody holds.
    private static func removeLeftovers(_ name: String, in parent: URL) {
        for other in (try? FileManager.default.contentsOfDirectory(atPath: parent.path)) ?? [] where other.hasPrefix(name) {
            let place = parent.appendingPathComponent(other)
            let held = open(place.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
            guard held >= 0 else { continue }
            if flock(held, LOCK_EX | LOCK_NB) == 0 { try? FileManager.default.removeItem(at: place) }
            close(held)
        }
    }
}
