// Programs that tests run in a process of their own.

import Foundation

/// One run that has ended.
package struct ChildRun: Sendable {
    /// nil when a signal ended it.
    package let exitCode: Int32?
    /// Standard output, by line.
    package let lines: [String]
    package let errors: String
    package var isKilled: Bool { exitCode == nil }
}

/// A program that the build puts beside the tests, or that is named by its path.
package struct ChildProgram: Sendable {
    private struct Missing: Error { let places: [URL] }

    private let name: String

    package init(_ name: String) { self.name = name }

    /// What disturbs calls of the system; nil where it is not installed.
    package static let strace: URL? = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
        .map { URL(fileURLWithPath: String($0)).appendingPathComponent("strace") }
        .first { FileManager.default.isExecutableFile(atPath: $0.path) }

    package func run(_ arguments: [String], environment: [String: String] = [:]) throws -> ChildRun {
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

    package var executable: URL {
        get throws {
            if name.hasPrefix("/") { return URL(fileURLWithPath: name) }
            let tests = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
            var root = URL(fileURLWithPath: #filePath)
            for _ in 0..<3 { root.deleteLastPathComponent() }
            let places = [tests, root.appendingPathComponent(".build/debug")].map { $0.appendingPathComponent(name) }
            guard let place = places.first(where: { FileManager.default.isExecutableFile(atPath: $0.path) }) else {
                throw Missing(places: places)
            }
            return place
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

extension Process {
    /// Gives the program this process's environment, and more.
    ///
    /// Its part in a measurement of code coverage goes nowhere: a program that is killed while it writes leaves a broken profile, and one is
    /// enough for the report of the whole run to fail.
    package func inheritEnvironment(adding more: [String: String] = [:]) {
        environment = ProcessInfo.processInfo.environment.merging(more) { $1 }.merging([
            "LLVM_PROFILE_FILE": "/dev/null"
        ]) { $1 }
    }
}
