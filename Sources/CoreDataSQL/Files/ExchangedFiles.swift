// The files of large values of a store in whose place another is put.

import CoreDataValues
import Foundation

/// The new files come beside the old ones, then the rows are replaced, then the old files go: whatever ends it, the rows that are there
/// have their files. A note in the name of both stores says which files may be left over, for whoever opens either: of two notes, that of
/// the store which is not there would stay for good.
package final class ExchangedFiles {
    private let source: ExternalFolder
    private let target: ExternalFolder
    /// The files of the store that goes.
    private let former: Set<String>
    /// What lay in the target's folder before, of whichever store.
    private let present: Set<String>
    private var copied: Set<String> = []
    private var note: PendingFiles?

    /// Copies the source's files to the target's folder.
    ///
    /// - Parameters:
    ///   - former: the files of the store in whose place the other is put; nil where nobody knows them. Then they are all that lie in the
    ///     folder, unless another store may have some of them: files that stay for good are better than values that are gone.
    ///   - stores: the identifiers of both stores.
    /// - Throws: 134030 where a file cannot be written, or where both would have the same files; nothing is left then.
    package init(from source: URL, to target: URL, former: Set<String>?, stores: [String]) throws {
        self.source = ExternalFolder(store: source)
        self.target = ExternalFolder(store: target)
        present = try self.target.names()
        self.former = former ?? (ExternalFolder.mayBeShared(target) ? [] : present)
        if isShared {
            if present.isEmpty { return }
            throw StoreError(
                134030,
                "A copy of the store at \(source.path) cannot be put at \(target.path): stores whose names differ by their extension alone have "
                    + "one folder of large values, and what the one removes the other would lose. Choose another name.",
                path: target.path)
        }
        do {
            let names = try self.source.names()
            if !names.isEmpty || !self.former.isEmpty { note = PendingFiles(self.target, stores: stores) }
            try note?.add(self.former.union(names.subtracting(present)).sorted())
            try copy(names)
        } catch {
            undo()
            throw error
        }
    }

    /// Stores whose names differ by their extensions have one folder.
    private var isShared: Bool { source.files.standardizedFileURL == target.files.standardizedFileURL }

    /// The rows are replaced: copies the files that came meanwhile, and removes the former ones. Where that fails the note stays.
    package func complete() throws {
        if isShared { return }
        let late = try source.names().subtracting(copied)
        if !late.isEmpty { try note?.add(late.subtracting(present).sorted()) }
        try copy(late)
        if let note { KeptFiles.of(target).remove(former.subtracting(copied), note) }
        target.removeIfEmpty()
    }

    /// The rows stay as they were.
    package func undo() {
        for name in copied.subtracting(present) { target.remove(name) }
        note?.end()
        target.removeIfEmpty()
    }

    /// A file that goes meanwhile is one that no row refers to any more.
    private func copy(_ names: Set<String>) throws {
        for name in names.sorted() {
            do {
                try target.addCopy(of: source.file(name), as: name)
                copied.insert(name)
            } catch {
                if FileManager.default.fileExists(atPath: source.file(name).path) { throw error }
            }
        }
        if !copied.isEmpty { try target.sync() }
    }
}
