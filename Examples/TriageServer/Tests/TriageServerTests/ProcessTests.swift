// The end of the process, asked for and not.

import Foundation
import Testing

@testable import TriageServer

@Suite("The process")
struct ProcessTests {
    private let folder: Folder
    init() throws { folder = try Folder() }

    @Test("SIGTERM closes the store: the file alone is left")
    func graceful() async throws {
        try await ServerProcess.running(in: folder) { server in
            let made = try await server.client.send(.post, "/casualties", #"{"name": "Ada"}"#)
            #expect(made.status == 201)
            #expect(try folder.names.contains("Triage.sqlite-wal"))
            #expect(await server.end(SIGTERM) == 0)
        }
        #expect(try folder.names == ["Triage.sqlite"])
    }

    @Test("Killed under load, it has lost nothing that it had answered")
    func killed() async throws {
        var acknowledged: Set<UUID> = []
        for _ in 1...3 {
            acknowledged.formUnion(
                try await ServerProcess.running(in: folder) { server in
                    try await withThrowingTaskGroup(of: [UUID].self) { group in
                        for _ in 0..<8 { group.addTask { try await creating(server.client) } }
                        group.addTask {
                            // Under load: when some have been answered.
                            let before = try await total(server.client)
                            while try await total(server.client) < before + 40 {}
                            await server.end(SIGKILL)
                            return []
                        }
                        return try await group.reduce(into: Set()) { $0.formUnion($1) }
                    }
                })
        }
        #expect(acknowledged.count > 3)
        try await ServerProcess.running(in: folder) { server in
            for id in acknowledged {
                let answer = try await server.client.get("/casualties/\(id)")
                #expect(answer.status == 200)
            }
        }
    }

    /// Makes casualties until the server is gone; answers those that were acknowledged.
    private func creating(_ client: Client) async throws -> [UUID] {
        var made: [UUID] = []
        while true {
            let id = UUID()
            guard
                let answer = try? await client.send(
                    .post, "/casualties", #"{"id": "\#(id)", "name": "Ada", "injuries": ["Burn"]}"#)
            else { return made }
            #expect(answer.status == 201)
            made.append(id)
        }
    }

    private func total(_ client: Client) async throws -> Int {
        try await client.get("/casualties?size=1").decoded(CasualtyPage.self).total ?? -1
    }

    @Test("It says how it is, what it does and what it is about")
    func operators() async throws {
        try await ServerProcess.running(in: folder) { server in
            #expect(try await server.client.get("/health").status == 200)
            _ = try await server.client.send(.post, "/casualties", #"{"name": "Ada", "injuries": ["Burn"]}"#)
            _ = try await server.client.get("/casualties")
            let metrics = try await server.client.get("/metrics").text
            #expect(metrics.contains("coredata_saved_objects_total{change=\"inserted\"} 1\n"))
            #expect(metrics.contains("coredata_fetch_duration_seconds_count "))
            #expect(metrics.contains("hb_requests_total{http_route=\"/casualties\""))
            #expect(try await server.client.get("/diagnostics").text.contains("connection"))
        }
    }

    @Test("Asked to, it logs the spans of a request under one trace")
    func spans() async throws {
        try await ServerProcess.running(in: folder, "--spans") { server in
            _ = try await server.client.send(.post, "/casualties", #"{"name": "Ada", "injuries": ["Burn"]}"#)
            _ = try await server.client.get("/casualties")
        }
        let lines = try String(contentsOf: folder.log, encoding: .utf8).split(separator: "\n").filter {
            $0.contains(" span=")
        }
        func traces(_ name: String) -> [Substring] {
            lines.filter { $0.contains("span=\(name) ") }.compactMap { line in
                line.split(separator: " ").first { $0.hasPrefix("trace=") }
            }
        }
        let requests = traces("/casualties")
        try #require(requests.count == 2 && requests[0] != requests[1], "\(lines)")
        #expect(traces("fetch Injury") == [requests[0]] && traces("save") == [requests[0]], "\(lines)")
        // The page and its total.
        #expect(traces("fetch Casualty") == [requests[1], requests[1]], "\(lines)")
    }
}
