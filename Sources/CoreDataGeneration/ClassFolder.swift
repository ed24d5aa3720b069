// The sources of a model's classes in a folder: written, compared, and taken away when the model has no such class any more.

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

    /// Writes what is stale and removes what is left over.
    package func update() throws -> (written: [URL], removed: [URL]) {
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
