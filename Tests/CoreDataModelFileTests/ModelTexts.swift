// Models as texts, and folders for them.

import CoreDataValues
import Foundation

@testable import CoreDataModelFile

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
