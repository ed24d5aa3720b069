// The files of large values of a copy of a store.

import CoreDataValues
import Foundation

/// First linked, in the moment that the copy shows, so that no save removes them; then made files of the copy's own.
package struct CopiedFiles {
    private let source: URL
    private let target: URL
    package let folder: ExternalFolder

    package init(from source: URL, to target: URL) {
        (self.source, self.target) = (source, target)
        folder = ExternalFolder(store: target)
    }

    /// Links every file that a row of the session's state refers to, and answers their names.
    package func link(_ externals: ExternalColumns, _ session: any SQLReading) throws -> [String] {
        let names = try externals.names(session)
        if !names.isEmpty { try folder.make() }
        for name in names {
            let (from, to) = (externals.folder.file(name), folder.file(name))
            if Foundation.link(from.path, to.path) == 0 { continue }
            // Another file system, or one without links.
            do { try FileManager.default.copyItem(at: from, to: to) } catch { throw lack(from, error) }
        }
        return names
    }

    /// Turns the links into files of the copy's own, written to the disk.
    package func separate(_ names: [String]) throws {
        for name in names {
            let (file, own) = (folder.file(name), folder.file(name + ".copy"))
            do { try FileManager.default.copyItem(at: file, to: own) } catch { throw lack(file, error) }
            try ExternalFolder.flush(own)
            guard rename(own.path, file.path) == 0 else { throw lack(file, CocoaError(.fileWriteUnknown)) }
        }
        if !names.isEmpty { try folder.sync() }
    }

    package func remove() { try? ExternalFolder.remove(for: target) }

    private func lack(_ file: URL, _ error: any Error) -> StoreError {
        StoreError(
            134030,
            "The copy \(target.path) of the store at \(source.path) lacks \(file.path): \(error). Choose another place; nothing was left.",
            path: target.path)
    }
}
