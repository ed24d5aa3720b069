// The files of large values of a copy of a store.

import CoreDataValues
import Foundation

/// First linked, in the moment that the copy shows, so that no save removes them; then made files of the copy's own. A note names them
/// until the copy is complete, so that the next copy to this place removes what a killed process left.
package final class CopiedFiles {
    private var names: [String] = []
    private let note: PendingFiles
    private let source: URL
    private let target: URL
    package let folder: ExternalFolder

    package init(from source: URL, to target: URL) {
        (self.source, self.target) = (source, target)
        folder = ExternalFolder(store: target)
        note = PendingFiles(folder, store: CopiedFiles.noteName(target))
    }

    private static func noteName(_ target: URL) -> String { "copy of " + target.lastPathComponent }

    /// Removes what a copy to this place has left whose process is gone. For a target that is not there.
    ///
    /// - Parameter wasLeft: whether there was such a copy; it may have made an empty folder and no more.
    package func sweep(wasLeft: Bool) {
        let left = PendingFiles.abandoned(in: folder, store: CopiedFiles.noteName(target))
        for note in left {
            remove(note.names)
            note.end()
        }
        if wasLeft || !left.isEmpty { folder.removeIfEmpty() }
    }

    private func remove(_ names: [String]) {
        for name in names { for file in [name, ExternalFolder.draft(name)] { folder.remove(file) } }
    }

    /// Links every file that a row of the session's state refers to.
    package func link(_ externals: ExternalColumns, _ session: any SQLReading) throws {
        names = try externals.names(session)
        if !names.isEmpty { try note.add(names) }
        for name in names {
            let file = externals.folder.file(name)
            do { try folder.addLink(to: file, as: name) } catch { throw lack(file, error) }
        }
    }

    /// Turns the links into files of the copy's own, written to the disk.
    package func separate() throws {
        for name in names {
            do { try folder.addCopy(of: folder.file(name), as: name) } catch { throw lack(folder.file(name), error) }
        }
        if !names.isEmpty { try folder.sync() }
    }

    /// The copy is complete.
    package func end() { note.end() }

    /// There will be no copy. Folders in which others have files stay.
    package func remove() {
        remove(names)
        note.end()
        folder.removeIfEmpty()
    }

    private func lack(_ file: URL, _ error: any Error) -> StoreError {
        StoreError(
            134030,
            "The copy \(target.path) of the store at \(source.path) lacks \(file.path): \(error). Choose another place; nothing was left.",
            path: target.path)
    }
}
