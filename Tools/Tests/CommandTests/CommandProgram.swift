// The program that was built beside the tests, and a folder for it.

import Foundation
import Testing

/// Runs `coredata`.
struct CommandProgram {
    let folder: URL

    init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("coredata-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    struct Answer {
        let status: Int32
        let output: String
        let errors: String
    }

    func run(_ arguments: [String]) throws -> Answer {
        let process = Process()
        process.executableURL = try Self.program()
        process.arguments = arguments
        let (output, errors) = (folder.appendingPathComponent("out"), folder.appendingPathComponent("err"))
        for file in [output, errors] { try Data().write(to: file) }
        process.standardOutput = try FileHandle(forWritingTo: output)
        process.standardError = try FileHandle(forWritingTo: errors)
        process.standardInput = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        return try Answer(
            status: process.terminationStatus, output: String(contentsOf: output, encoding: .utf8),
            errors: String(contentsOf: errors, encoding: .utf8))
    }

    static func program() throws -> URL {
        let test = URL(fileURLWithPath: CommandLine.arguments[0]).resolvingSymlinksInPath()
        let program = test.deletingLastPathComponent().appendingPathComponent("coredata")
        try #require(FileManager.default.isExecutableFile(atPath: program.path), "There is no \(program.path).")
        return program
    }
}
