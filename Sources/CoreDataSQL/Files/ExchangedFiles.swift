// The files of large values of a store in whose place another is put.

import CoreDataValues
import Foundation

/// The new files come beside the old ones, then the rows are replaced, then the old files go: whatever ends it, the rows that are there
/// have their files. Notes in the name of both stores say which files may be left over, for whoever opens either.
package final class ExchangedFiles {
    private let source: ExternalFolder
    private let target: ExternalFolder
    private let former: Set<String>
    private var copied: Set<String> = []
    private var notes: [PendingFiles] = []

    /// Copies the source's files to the target's folder.
    ///
    /// - Parameter stores: the identifiers of both stores, the source's first.
    /// - Throws: 134030 where a file cannot be written; nothing is left then.
    package init(from source: URL, to target: URL, stores: [String]) throws {
        self.source = ExternalFolder(store: source)
        self.target = ExternalFolder(store: target)
        former = try self.target.names()
        if isShared { return }
        do {
            let names = try self.source.names()
            if !names.isEmpty || !former.isEmpty { notes = stores.map { PendingFiles(self.target, store: $0) } }
            try note(former.union(names))
            try copy(names)
        } catch {
            undo()
            throw error
        }
    }

    /// Stores whose names differ by their extensions have one folder.
    private var isShared: Bool { source.files.standardizedFileURL == target.files.standardizedFileURL }

    /// The rows are replaced: copies the files that came meanwhile, and removes the former ones. Where that fails the notes stay.
    package func complete() throws {
        if isShared { return }
        let late = try source.names().subtracting(copied)
        try note(late)
        try copy(late)
        for note in notes.dropFirst() { note.end() }
        if let note = notes.first { KeptFiles.of(target).remove(former.subtracting(copied), note) }
        target.removeIfEmpty()
    }

    /// The rows stay as they were.
    package func undo() {
        for name in copied.subtracting(former) { target.remove(name) }
        for note in notes { note.end() }
        target.removeIfEmpty()
    }

    private func note(_ names: Set<String>) throws {
        if names.isEmpty { return }
        for note in notes { try note.add(names.sorted()) }
    }

    /// A file that goes meanwhile is one that no row refers to any more.
    private func copy(_ names: Set<String>) throws {
        for name in names.sorted() {
            do {
                try target.take(source.file(name), as: name)
                copied.insert(name)
            } catch {
                if FileManager.default.fileExists(atPath: source.file(name).path) { throw error }
            }
        }
        if !copied.isEmpty { try target.sync() }
    }
}
