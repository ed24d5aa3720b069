// Where the models that these tests read lie.

import CoreDataValues
import Foundation

@testable import CoreDataModelFile

enum Corpus {
    static let package = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    static let shared = package.deletingLastPathComponent().appendingPathComponent("shared")
    static let root = shared.appendingPathComponent("corpus")

    /// The models of other projects are read in place and are not part of this one.
    static var isPresent: Bool {
        let present = FileManager.default.fileExists(atPath: root.appendingPathComponent("models").path)
        if !present { print("skipped: there is no model collection at \(root.path)") }
        return present
    }

    /// Every file of that name among the models, in the order of their paths.
    static func files(named name: String) throws -> [URL] {
        let models = root.appendingPathComponent("models")
        let paths = try FileManager.default.subpathsOfDirectory(atPath: models.path)
        return paths.filter { $0.hasSuffix("/" + name) }.sorted().map { models.appendingPathComponent($0) }
    }
}

/// A folder for one test, removed at its end.
func withFolder<Answer>(_ body: (URL) throws -> Answer) throws -> Answer {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("model-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    return try body(folder)
}

extension URL {
    /// Writes a file below this folder, with the folders it needs.
    func write(_ text: String, to path: String) throws {
        let file = appendingPathComponent(path)
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: file)
    }
}

/// Reads and checks a model given as text.
func schema(_ text: String) throws(SchemaError) -> Schema { try Schema(checking: draft(text)) }

func draft(_ text: String) throws(SchemaError) -> SchemaDraft {
    try ModelFile.draft(contents: Array(text.utf8), path: "M")
}
