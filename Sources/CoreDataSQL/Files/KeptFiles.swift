// Files of values that no row refers to any more, kept for those who read an earlier state.

import Synchronization

/// The files of one folder that pinned views may still ask for: each goes with the last view that was pinned before it was given up.
///
/// One a folder in the whole process, so that several stores of one file look after each other's views; writers in other processes do
/// not. While files wait, the note that names them stays, so that whoever opens the store after a crash removes them.
package final class KeptFiles: Sendable {
    private struct State {
        /// How often files were given up while there were views.
        var moment = 0
        /// How many views there are of each moment.
        var views: [Int: Int] = [:]
        /// In the order of their moments.
        var waiting: [(moment: Int, names: Set<String>, note: PendingFiles)] = []
    }
    private struct Known: Sendable { weak var files: KeptFiles? }

    private static let known = Mutex<[String: Known]>([:])
    private let folder: ExternalFolder
    private let state = Mutex(State())

    private init(_ folder: ExternalFolder) { self.folder = folder }

    deinit {
        Self.known.withLock { known in
            if known[folder.files.path]?.files == nil { known[folder.files.path] = nil }
        }
    }

    package static func of(_ folder: ExternalFolder) -> KeptFiles {
        known.withLock { known in
            if let files = known[folder.files.path]?.files { return files }
            let files = KeptFiles(folder)
            known[folder.files.path] = Known(files: files)
            return files
        }
    }

    /// Held by a view, from before it is pinned until it is let go.
    package final class Hold: Sendable {
        private let files: KeptFiles
        private let moment: Int

        fileprivate init(_ files: KeptFiles) {
            self.files = files
            moment = files.state.withLock { state in
                state.views[state.moment, default: 0] += 1
                return state.moment
            }
        }

        deinit { files.end(moment) }
    }

    package func hold() -> Hold { Hold(self) }

    /// Removes files that no row of the latest state refers to, now or when the last view has gone that may see such a row.
    ///
    /// - Parameter note: names these files.
    package func remove(_ names: Set<String>, _ note: PendingFiles) {
        let waits =
            !names.isEmpty
            && state.withLock { state in
                if state.views.isEmpty { return false }
                state.waiting.append((state.moment, names, note))
                state.moment += 1
                return true
            }
        if waits { return }
        for name in names { folder.remove(name) }
        note.end()
    }

    private func end(_ moment: Int) {
        let free = state.withLock { state in
            let left = (state.views[moment] ?? 1) - 1
            state.views[moment] = left == 0 ? nil : left
            let oldest = state.views.keys.min() ?? .max
            let free = state.waiting.prefix { $0.moment < oldest }
            state.waiting.removeFirst(free.count)
            return Array(free)
        }
        for files in free {
            for name in files.names { folder.remove(name) }
            files.note.end()
        }
    }
}
