// Runs the process of the durability tests, alone or under strace.

import CoreDataTestSupport
import Foundation
import Testing

/// Starts `CoreDataVictim`, which the build puts beside the tests.
enum VictimProcess {
    static let program = ChildProgram("CoreDataVictim")

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
        throws -> ChildRun
    {
        guard let disturbance else { return try program.run([deed, store.path], environment: environment) }
        // With a filter, which is faster, strace 6.1 injects errors but no signals.
        let filter = disturbance.effect.hasPrefix("error") ? ["--seccomp-bpf"] : []
        return try tracer().run(
            ["-f", "-qq"] + filter + [
                "-o", "/dev/null", "-e", "trace=\(disturbance.call)", "-e", "inject=\(disturbance)",
                try program.executable.path, deed, store.path,
            ], environment: environment)
    }

    /// How often an undisturbed run makes a call.
    static func calls(of call: String, in deed: String, _ store: URL, log: URL) throws -> Int {
        try lines(of: call, in: deed, store, log: log).count
    }

    /// What strace says of the calls of an undisturbed run, with the paths of their files.
    static func lines(of call: String, in deed: String, _ store: URL, log: URL) throws -> [Substring] {
        let run = try tracer().run([
            "-f", "-qq", "-y", "--seccomp-bpf", "-o", log.path, "-e", "trace=\(call)", try program.executable.path,
            deed,
            store.path,
        ])
        try #require(run.exitCode == 0)
        let text = try String(contentsOf: log, encoding: .utf8)
        return text.split(separator: "\n").filter { $0.contains(call + "(") }
    }

    private static func tracer() throws -> ChildProgram {
        guard let strace = ChildProgram.strace else { throw CocoaError(.fileNoSuchFile) }
        return ChildProgram(strace.path)
    }

    static let whySkipped: Comment = "strace is not installed, so no write can be disturbed"
}
