// The sources of a model's classes in a folder with files of others.

import Foundation
import Testing

@testable import CoreDataGeneration

@Suite struct ClassFolderTests {
    private let url = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    private var properties: URL { url.appendingPathComponent("A+CoreDataProperties.swift") }

    /// The folder of a model with one class.
    private func folder() throws -> ClassFolder {
        let entity = "<entity name=\"A\" representedClassName=\"A\" codeGenerationType=\"class\"/>"
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        return ClassFolder(try classes(entity), in: url)
    }

    private func names() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: url.path).sorted() }

    /// Puts a text into the place of the properties, and tells whether they were written there.
    private func isWrittenOver(_ text: String) throws -> Bool {
        try Data(text.utf8).write(to: properties)
        do { return try folder().update().written.map(\.path).contains(properties.path) } catch let error
            as ForeignFiles
        {
            #expect(error.description.hasPrefix("\(properties.path): error: ") && error.files.count == 1)
            #expect(try String(contentsOf: properties, encoding: .utf8) == text)
            return false
        }
    }

    @Test("Hand-written files in the places of classes and of their list survive, and nothing else is written")
    func handWritten() throws {
        defer { try? FileManager.default.removeItem(at: url) }
        let folder = try folder()
        let all = ["A+CoreDataProperties.swift", "M+CoreDataClasses.swift"]
        for name in all { try Data("// \(name)".utf8).write(to: url.appendingPathComponent(name)) }
        #expect(folder.obstacles.map(\.lastPathComponent) == all)
        #expect(folder.stale.map(\.lastPathComponent) == ["A+CoreDataClass.swift"] + all)
        let error = #expect(throws: ForeignFiles.self) { try folder.update() }
        #expect(error?.files.map(\.lastPathComponent) == all)
        #expect(try names() == all)
        for name in all {
            #expect(try String(contentsOf: url.appendingPathComponent(name), encoding: .utf8) == "// \(name)")
        }
    }

    @Test(
        "A made file is known by its first line, also one of the model's former name; a class is its owner's, whatever it says"
    )
    func made() throws {
        defer { try? FileManager.default.removeItem(at: url) }
        #expect(try folder().update().written.count == 3)
        let text = try String(contentsOf: properties, encoding: .utf8)
        #expect(try isWrittenOver(text + "// more\n"))
        #expect(try isWrittenOver(text.replacingOccurrences(of: "the model M:", with: "the model Former:")))
        #expect(try isWrittenOver(text.replacingOccurrences(of: "\n", with: "\r\n")))
        #expect(try !isWrittenOver(""))
        #expect(try !isWrittenOver("// Made from the model M by hand.\n"))
        #expect(try !isWrittenOver(text.split(separator: "\n").dropFirst().joined(separator: "\n")))
        try Data(text.utf8).write(to: properties)
        let own = url.appendingPathComponent("A+CoreDataClass.swift")
        try Data("// mine".utf8).write(to: own)
        #expect(try folder().obstacles.isEmpty && folder().stale.isEmpty)
    }
}
