// The Swift sources of a model's classes, written into a folder or compared with one.

import CoreDataGeneration
import Foundation

/// The sources that `swift package generate-model-classes` writes, for other tools.
public struct ModelSources {
    private let classes: ModelClasses

    /// Reads a model, and the options of the file beside it (`.coredata.json`).
    ///
    /// - Throws: what describes itself as compilers do, with file, line and column.
    public init(model url: URL) throws { classes = try ModelClasses(at: url) }

    /// The paths in a folder of sources that are not there or say something else. A class that is there is its owner's.
    public func differences(in folder: URL) -> [String] { ClassFolder(classes, in: folder).stale.map(\.path) }

    /// The paths in a folder of sources that were made of the model when it had a class that it has no more.
    public func leftovers(in folder: URL) -> [String] { ClassFolder(classes, in: folder).leftovers.map(\.path) }

    /// Those of the differences in a folder that are files which were made of no model: written by hand, or by Xcode. Nothing is written
    /// while there are some.
    public func obstacles(in folder: URL) -> [String] { ClassFolder(classes, in: folder).obstacles.map(\.path) }

    /// Writes what differs and removes what is left over.
    ///
    /// - Returns: the paths of both.
    /// - Throws: for obstacles, before anything is written, what describes itself as compilers do, with a line for each.
    @discardableResult
    public func write(into folder: URL) throws -> (written: [String], removed: [String]) {
        let changes = try ClassFolder(classes, in: folder).update()
        return (changes.written.map(\.path), changes.removed.map(\.path))
    }
}
