// Runs the process of the durability tests, alone or under strace.

import CoreDataTestSupport
import Foundation
import Testing

/// One run that has ended.
struct VictimRun {
    /// nil when a signal ended it.
    let exitCode: Int32?
    /// What it wrote to standard output, by line.
    let lines: [String]
    var isKilled: Bool { exitCode == nil }
}

/// Starts `CoreDataVictim`, which the build puts beside the tests.
enum VictimProcess {
    /// What strace does to the n-th call of its kind.
    struct Disturbance: CustomStringConvertible {
        let call: String
        let effect: String
        let number: Int
        /// Whether it does so to all later ones as well.
        var lasts = false
        var description: String { "\(call):\(effect):when=\(number)\(lasts ? "+" : "")" }
    }

    static func run(
        _ deed: String, _ store: URL, _ disturbance: Disturbance? = nil, environment: [String: String] = [:]
    )
        throws -> VictimRun
    {
        let process = Process()
        process.inheritEnvironment(adding: environment)
        let output = Pipe()
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        if let disturbance {
            process.executableURL = try tracer()
            // With a filter, which is faster, strace 6.1 injects errors but no signals.
            let filter = disturbance.effect.hasPrefix("error") ? ["--seccomp-bpf"] : []
            process.arguments =
                ["-f", "-qq"] + filter + [
                    "-o", "/dev/null", "-e", "trace=\(disturbance.call)", "-e", "inject=\(disturbance)",
                    try executable.path, deed, store.path,
                ]
        } else {
            process.executableURL = try executable
            process.arguments = [deed, store.path]
        }
        try process.run()
        let data = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        let isExit = process.terminationReason == .exit
        return VictimRun(
            exitCode: isExit ? process.terminationStatus : nil,
            lines: String(decoding: data, as: UTF8.self).split(separator: "\n").map(String.init))
    }

    /// How often an undisturbed run makes a call.
    static func calls(of call: String, in deed: String, _ store: URL, log: URL) throws -> Int {
        try lines(of: call, in: deed, store, log: log).count
    }

    /// What strace says of the calls of an undisturbed run, with the paths of their files.
    static func lines(of call: String, in deed: String, _ store: URL, log: URL) throws -> [Substring] {
        let process = Process()
        process.executableURL = try tracer()
        process.arguments = [
            "-f", "-qq", "-y", "--seccomp-bpf", "-o", log.path, "-e", "trace=\(call)", try executable.path, deed,
            store.path,
        ]
        process.standardOutput = FileHandle.nullDevice
        process.inheritEnvironment()
        try process.run()
        process.waitUntilExit()
        try #require(process.terminationStatus == 0)
        let text = try String(contentsOf: log, encoding: .utf8)
        return text.split(separator: "\n").filter { $0.contains(call + "(") }
    }

    static var executable: URL {
        get throws {
            let tests = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
                .deletingLastPathComponent()
            var root = URL(fileURLWithPath: #filePath)
            for _ in 0..<4 { root.deleteLastPathComponent() }
            let places = [tests, root.appendingPathComponent(".build/debug")].map {
                $0.appendingPathComponent("CoreDataVictim")
            }
            return try #require(
                places.first { FileManager.default.isExecutableFile(atPath: $0.path) },
                "\(places) hold no CoreDataVictim")
        }
    }

    static let strace: URL? = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
        .map { URL(fileURLWithPath: String($0)).appendingPathComponent("strace") }
        .first { FileManager.default.isExecutableFile(atPath: $0.path) }

    private static func tracer() throws -> URL {
        guard let strace else { throw CocoaError(.fileNoSuchFile) }
        return strace
    }

    static let whySkipped: Comment = "strace is not installed, so no write can be disturbed"
}
