// The sources of a model's classes in a folder: written, compared, and taken away when the model has no such class any more. What others
// wrote there is not written over.

import Foundation

/// A folder that the sources of a model's classes are written into. Files of other names stay as they are.
package struct ClassFolder {
    private let classes: ModelClasses
    private let url: URL

    package init(_ classes: ModelClasses, in url: URL) {
        self.classes = classes
        self.url = url
    }

    /// The sources that are not there or say something else. A class that is there is its owner's.
    package var stale: [URL] { staleSources.map { url.appendingPathComponent($0.name) } }

    private var staleSources: [ModelClasses.Source] {
        classes.sources.filter { source in
            guard let present = try? Data(contentsOf: url.appendingPathComponent(source.name)) else { return true }
            return !source.isOwned && present != Data(source.text.utf8)
        }
    }

    /// Files that were made of the model and are none of its sources now: a class went, or has another name. They are known by their
    /// first line, since nothing else of what was there once is known.
    package var leftovers: [URL] {
        let made = Set(classes.sources.map(\.name))
        let names = (try? FileManager.default.contentsOfDirectory(atPath: url.path)) ?? []
        return names.sorted().filter { $0.hasSuffix(".swift") && !made.contains($0) }.map {
            url.appendingPathComponent($0)
        }
        .filter { file in (try? String(contentsOf: file, encoding: .utf8)).map(classes.hasMade) ?? false }
    }

    /// Files in the places of what is stale that were made of no model: written by hand, or by Xcode. Their first line tells, so that
    /// one whose first line was taken away counts too, and one that was made of the model when it had another name does not.
    package var obstacles: [URL] {
        stale.filter { file in
            guard FileManager.default.fileExists(atPath: file.path) else { return false }
            return (try? String(contentsOf: file, encoding: .utf8)).map(ModelClasses.isMade) != true
        }
    }

    /// Writes what is stale and removes what is left over.
    ///
    /// - Throws: `ForeignFiles` before anything is written, if some of it would take the place of what nobody made of a model.
    package func update() throws -> (written: [URL], removed: [URL]) {
        let foreign = obstacles
        guard foreign.isEmpty else { throw ForeignFiles(files: foreign) }
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        let written = try staleSources.map { source in
            let file = url.appendingPathComponent(source.name)
            try Data(source.text.utf8).write(to: file, options: .atomic)
            return file
        }
        let removed = leftovers
        for file in removed { try FileManager.default.removeItem(at: file) }
        return (written, removed)
    }
}

/// Files that no tool may write over. Describes itself as compilers do, a line each.
package struct ForeignFiles: Error, CustomStringConvertible {
    package let files: [URL]

    package var description: String {
        files.map { file in
            "\(file.path): error: this file was not made of a model, and classes that are made of one would take its place. Nothing was "
                + "written. If it is yours, move it away or give it another name; if it is not needed, delete it"
        }.joined(separator: "\n")
    }
}
