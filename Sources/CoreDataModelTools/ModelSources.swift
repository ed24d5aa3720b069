// The Swift sources of a model's classes, written into a folder or compared with one.

import CoreDataGeneration
import Foundation

/// The sources that `swift package generate-model-classes` writes, for other tools.
public struct ModelSources {
    private let sources: [ModelClasses.Source]

    /// Reads a model, and the options of the file beside it (`.coredata.json`).
    ///
    /// - Throws: what describes itself as compilers do, with file, line and column.
    public init(model url: URL) throws { sources = try ModelClasses(at: url).sources }

    /// The paths in a folder of sources that are not there or say something else. A class that is there is its owner's.
    public func differences(in folder: URL) -> [String] { stale(folder).map { folder.appendingPathComponent($0.name).path } }

    /// Writes what differs.
    ///
    /// - Returns: the paths that were written.
    public func write(into folder: URL) throws -> [String] {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        return try stale(folder).map { source in
            let file = folder.appendingPathComponent(source.name)
            try Data(source.text.utf8).write(to: file, options: .atomic)
            return file.path
        }
    }

    private func stale(_ folder: URL) -> [ModelClasses.Source] {
        sources.filter { source in
            guard let present = try? Data(contentsOf: folder.appendingPathComponent(source.name)) else { return true }
            return !source.isOwned && present != Data(source.text.utf8)
        }
    }
}
