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
    private var linked: Set<String> = []
    private var note: PendingFiles?

    /// - Parameters:
    ///   - former: the files of the store in whose place the other is put; nil where nobody knows them. Then they are all that lie in the
    ///     folder, unless another store may have some of them: files that stay for good are better than values that are gone.
    ///   - stores: the identifiers of both stores.
    /// - Throws: 134030 where both would have the same files.
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
        note = PendingFiles(self.target, stores: stores)
    }

    /// Whether there is nothing to copy, so that nobody's saves need be kept out.
    package var isEmpty: Bool { (try? source.names().isEmpty) ?? false }

    /// Stores whose names differ by their extensions have one folder.
    private var isShared: Bool { source.files.standardizedFileURL == target.files.standardizedFileURL }

    /// Links the source's files, while nobody can save to it: a file that goes meanwhile is one that no row refers to any more, and all
    /// others stay, whoever gives them up later.
    ///
    /// - Throws: 134030 where a file cannot be written.
    package func link() throws {
        if isShared { return }
        let names = try source.names()
        let noted = former.union(names.subtracting(present)).sorted()
        if !noted.isEmpty { try note?.add(noted) }
        if !names.isEmpty { try target.make() }
        for name in names.sorted() {
            do {
                try target.addLink(to: source.file(name), as: name)
                linked.insert(name)
            } catch {
                if FileManager.default.fileExists(atPath: source.file(name).path) { throw error }
            }
        }
    }

    /// Turns the links into files of the target's own, written to the disk.
    package func separate() throws {
        for name in linked.sorted() { try target.addCopy(of: target.file(name), as: name) }
        if !linked.isEmpty { try target.sync() }
    }

    /// The rows are replaced: removes the former files.
    package func complete() {
        if isShared { return }
        if let note { KeptFiles.of(target).remove(former.subtracting(linked), note) }
        target.removeIfEmpty()
    }

    /// The rows stay as they were.
    package func undo() {
        for name in linked.subtracting(present) { target.remove(name) }
        note?.end()
        target.removeIfEmpty()
    }
}
