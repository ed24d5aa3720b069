// The real program, started for a test and ended with it.

import Foundation

/// A folder of a test's own, with the store; gone with the value.
final class Folder: Sendable {
    let url = FileManager.default.temporaryDirectory.appendingPathComponent("Triage-\(UUID())")

    init() throws { try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true) }
    deinit { for url in [url, log] { try? FileManager.default.removeItem(at: url) } }

    /// What the server that was started last has logged; beside the folder, in which the store alone is.
    var log: URL { url.appendingPathExtension("log") }
    var store: URL { url.appendingPathComponent("Triage.sqlite") }
    var names: [String] { get throws { try FileManager.default.contentsOfDirectory(atPath: url.path).sorted() } }
}

/// A running server.
struct ServerProcess: Sendable {
    let client: Client
    private let process: Process

    /// Starts a server, runs the body and ends the server, however the body ends.
    static func running<T: Sendable>(
        in folder: Folder, _ options: String..., more: [String] = [], body: (ServerProcess) async throws -> T
    ) async throws -> T {
        let server = try await ServerProcess(folder, options + more)
        do {
            let result = try await body(server)
            await server.end(SIGTERM)
            return result
        } catch {
            await server.end(SIGKILL)
            throw error
        }
    }

    private init(_ folder: Folder, _ options: [String]) async throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
            .deletingLastPathComponent().appendingPathComponent("TriageServer")
        // Longer than any disk takes: only a test that asks for less is told to come again. The last of two values counts.
        process.arguments = ["--store", folder.store.path, "--port", "0", "--patience", "60"] + options
        try Data().write(to: folder.log)
        process.standardError = try FileHandle(forWritingTo: folder.log)
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        self.process = process
        guard let port = await Self.port(output.fileHandleForReading) else {
            process.terminate()
            throw NotStarted(log: (try? String(contentsOf: folder.log, encoding: .utf8)) ?? "")
        }
        client = Client(port: port)
    }

    struct NotStarted: Error { let log: String }

    /// The number at the end of the line that the server prints when it listens; nil if it ends before that.
    private static func port(_ output: FileHandle) async -> Int? {
        await withCheckedContinuation { done in
            DispatchQueue.global().async {
                let line = String(decoding: output.availableData, as: UTF8.self)
                done.resume(
                    returning: line.split(separator: ":").last.flatMap {
                        Int($0.trimmingCharacters(in: .whitespacesAndNewlines))
                    })
            }
        }
    }

    /// Sends a signal and waits for the end of the process; answers its status, or the signal that ended it.
    @discardableResult
    func end(_ signal: Int32) async -> Int32 {
        if process.isRunning { kill(process.processIdentifier, signal) }
        await withCheckedContinuation { done in
            DispatchQueue.global().async {
                process.waitUntilExit()
                done.resume()
            }
        }
        return process.terminationStatus
    }
}
