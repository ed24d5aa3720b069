// Runs the built examples as a person would, each in a folder of its own.

import CoreDataTestSupport
import Foundation
import Testing

/// Where things are. `Scripts/test` builds the examples and says where they lie.
enum Place {
    static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    static let programs = ProcessInfo.processInfo.environment["OPENCOREDATA_EXAMPLES"].map(URL.init(fileURLWithPath:))
    static let model = root.appendingPathComponent("Models/FooTriage.xcdatamodeld")
    static let whySkipped: Comment = "the examples are not built: run Scripts/test instead of swift test"

    static func text(_ path: String) throws -> String {
        try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
    }

    /// README, every page of the documentation, and the articles of the reference.
    static func pages() throws -> [String] {
        let folders = ["Documentation", "Sources/CoreData/CoreData.docc"]
        return try ["README.md"]
            + folders.flatMap { folder in
                try FileManager.default.subpathsOfDirectory(atPath: root.appendingPathComponent(folder).path)
                    .filter { $0.hasSuffix(".md") }.sorted().map { "\(folder)/\($0)" }
            }
    }
}

/// What a program left behind.
struct Outcome {
    let status: Int32
    let output: String
    let errors: String

    /// The output with every store's identifier replaced, since each new store has its own.
    var comparable: String { withoutIdentifiers(output) }
}

func withoutIdentifiers(_ text: String) -> String {
    text.replacing(/[0-9A-F]{8}(-[0-9A-F]{4}){3}-[0-9A-F]{12}/, with: "UUID")
}

/// A folder in which examples run.
extension Folder {
    func exists(_ name: String) -> Bool { FileManager.default.fileExists(atPath: file(name).path) }

    /// Runs an example here, to its end.
    func run(_ program: String, _ arguments: String...) throws -> Outcome {
        try run(program, arguments: arguments)
    }

    func run(_ program: String, arguments: [String]) throws -> Outcome {
        try run(try #require(Place.programs).appendingPathComponent(program), arguments)
    }

    /// Runs a command of the system here, to its end.
    func output(of command: [String]) throws -> Outcome { try run(URL(fileURLWithPath: "/usr/bin/env"), command) }

    private func run(_ program: URL, _ arguments: [String]) throws -> Outcome {
        let process = Process()
        process.executableURL = program
        process.arguments = arguments
        process.currentDirectoryURL = url
        process.standardInput = FileHandle.nullDevice
        let logs = Folder()
        let output = logs.file("output"), errors = logs.file("errors")
        for log in [output, errors] { try Data().write(to: log) }
        process.standardOutput = try FileHandle(forWritingTo: output)
        process.standardError = try FileHandle(forWritingTo: errors)
        try process.run()
        process.waitUntilExit()
        return Outcome(
            status: process.terminationReason == .exit ? process.terminationStatus : -process.terminationStatus,
            output: try String(contentsOf: output, encoding: .utf8),
            errors: try String(contentsOf: errors, encoding: .utf8))
    }

    /// Copies the sample model here and changes the XML of its current version.
    func copyModel(changing change: (inout String) throws -> Void) throws -> URL {
        let copy = file("Changed.xcdatamodeld")
        try FileManager.default.copyItem(at: Place.model, to: copy)
        let chosen = try Data(contentsOf: copy.appendingPathComponent(".xccurrentversion"))
        let list = try PropertyListSerialization.propertyList(from: chosen, format: nil)
        let version = try #require((list as? [String: Any])?["_XCCurrentVersionName"] as? String)
        let contents = copy.appendingPathComponent(version).appendingPathComponent("contents")
        var xml = try String(contentsOf: contents, encoding: .utf8)
        try change(&xml)
        try xml.write(to: contents, atomically: true, encoding: .utf8)
        return contents
    }

    /// Reads the first column of a query from a store here, through SQLite itself.
    func column(_ sql: String, of store: String) throws -> [String] { try SQLiteFile(file(store)).rows(sql) }
}
