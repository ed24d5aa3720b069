// Where files of published programs lie, which tests read in place.

import Foundation

/// Models, stores and predicates of published programs, in a folder beside the project. They are not part of it: tests skip what needs
/// them where the folder is not there.
public enum Corpus {
    /// The folder of this package.
    public static let package = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    /// The folder beside it.
    public static let shared = package.deletingLastPathComponent().appendingPathComponent("shared")
    public static let root = shared.appendingPathComponent("corpus")
    public static let models = root.appendingPathComponent("models")

    /// Whether the folder is there; says so where not.
    public static var isPresent: Bool {
        let isPresent = FileManager.default.fileExists(atPath: models.path)
        if !isPresent { print("skipped: there are no files of other programs at \(root.path)") }
        return isPresent
    }

    /// Stores that Core Data wrote; nil where they are not.
    public static var stores: URL? { isPresent ? root.appendingPathComponent("stores") : nil }

    /// The files below a folder of the corpus whose relative paths are wanted, in the order of these.
    public static func files(below folder: String, _ isWanted: (String) -> Bool) throws -> [URL] {
        let place = root.appendingPathComponent(folder)
        return try FileManager.default.subpathsOfDirectory(atPath: place.path).filter(isWanted).sorted().map {
            place.appendingPathComponent($0)
        }
    }

    /// The rows of a table beside the project, split at tabs, without comments; nil where it is not.
    public static func rows(_ path: String) -> [[String]]? {
        guard let text = try? String(contentsOf: shared.appendingPathComponent(path), encoding: .utf8) else {
            print("skipped: \(path) is not beside the project")
            return nil
        }
        return text.split(separator: "\n").filter { !$0.hasPrefix("#") }
            .map { $0.split(separator: "\t", omittingEmptySubsequences: false).map(String.init) }
    }
}
