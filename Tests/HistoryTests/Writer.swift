// The program that writes beside the tests.

import CoreDataTestSupport
import Foundation
import Testing

/// A run of `CoreDataWriter`.
struct Writer {
    private let process = Process()

    init(_ store: URL, _ arguments: String...) throws {
        process.executableURL = try ChildProgram("CoreDataWriter").executable
        process.arguments = [store.path] + arguments
        process.inheritEnvironment(adding: [:])
        process.standardOutput = FileHandle.nullDevice
        try process.run()
    }

    /// Each sync of a file takes as many seconds longer, as on a disk under load.
    init(_ store: URL, _ arguments: String..., syncsTake seconds: Int) throws {
        let strace: URL = try #require(ChildProgram.strace)
        process.executableURL = strace
        process.arguments =
            [
                "-f", "-qq", "--seccomp-bpf", "-o", "/dev/null", "-e", "trace=fdatasync", "-e",
                "inject=fdatasync:delay_enter=\(seconds * 1_000_000)",
                try ChildProgram("CoreDataWriter").executable.path, store.path,
            ] + arguments
        process.inheritEnvironment(adding: [:])
        process.standardOutput = FileHandle.nullDevice
        try process.run()
    }

    func wait() {
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
    }
}

/// Waits until something holds, two seconds at most; answers how long it took, nil if it does not come to pass.
func wait(_ seconds: Double = 10, until holds: () -> Bool) -> Double? {
    let start = Date()
    while !holds() {
        if Date().timeIntervalSince(start) > seconds { return nil }
        Thread.sleep(forTimeInterval: 0.002)
    }
    return Date().timeIntervalSince(start)
}
