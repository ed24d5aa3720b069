// Programs that tests run in a process of their own.

import CoreDataTestSupport
import Foundation
import Testing

/// One run that has ended.
struct ChildRun {
    /// nil when a signal ended it.
    let exitCode: Int32?
    /// Standard output, by line.
    let lines: [String]
    let errors: String
}

/// A program that the build puts beside the tests.
struct ChildProgram {
    let name: String

    func run(_ arguments: [String], environment: [String: String] = [:]) throws -> ChildRun {
        let process = Process()
        process.executableURL = try executable
        process.arguments = arguments
        process.inheritEnvironment(adding: environment)
        let (output, errors) = (Pipe(), Pipe())
        process.standardOutput = output
        process.standardError = errors
        try process.run()
        // A trap of a debug build writes a long backtrace: both pipes are read, lest it wait for a reader.
        let collector = Collector(errors.fileHandleForReading)
        let data = output.fileHandleForReading.readDataToEndOfFile()
        let complaint = collector.end()
        process.waitUntilExit()
        return ChildRun(
            exitCode: process.terminationReason == .exit ? process.terminationStatus : nil,
            lines: String(decoding: data, as: UTF8.self).split(separator: "\n").map(String.init),
            errors: String(decoding: complaint, as: UTF8.self))
    }

    /// Where the program is; one that is named by its path is there.
    var executable: URL {
        get throws {
            if name.hasPrefix("/") { return URL(fileURLWithPath: name) }
            let tests = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
            var root = URL(fileURLWithPath: #filePath)
            for _ in 0..<4 { root.deleteLastPathComponent() }
            let places = [tests, root.appendingPathComponent(".build/debug")].map { $0.appendingPathComponent(name) }
            return try #require(
                places.first { FileManager.default.isExecutableFile(atPath: $0.path) }, "\(places) hold no \(name)")
        }
    }

    private final class Collector: @unchecked Sendable {
        private var data = Data()
        private let group = DispatchGroup()

        init(_ handle: FileHandle) {
            group.enter()
            Thread.detachNewThread {
                self.data = handle.readDataToEndOfFile()
                self.group.leave()
            }
        }

        func end() -> Data {
            group.wait()
            return data
        }
    }
}
