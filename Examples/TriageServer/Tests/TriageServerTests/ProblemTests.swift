// What a client is told when something is refused.

import Foundation
import HTTPTypes
import Testing

@testable import TriageServer

@Suite("Problems")
struct ProblemTests {
    private let folder: Folder
    init() throws { folder = try Folder() }

    @Test("Each refusal has its status and names its keys")
    func refusals() async throws {
        try await ServerProcess.running(in: folder) { server in
            func refused(
                _ method: HTTPRequest.Method, _ path: String, _ body: String? = nil, _ status: Int, _ keys: [String],
                _ location: SourceLocation = #_sourceLocation
            ) async throws {
                let answer = try await server.client.send(method, path, body)
                #expect(answer.status == status, "\(answer.text)", sourceLocation: location)
                #expect((try? answer.decoded(Told.self))?.keys == keys, "\(answer.text)", sourceLocation: location)
            }
            // The model's own rules, all of them at once.
            try await refused(.post, "/casualties", "{}", 422, ["name"])
            try await refused(.post, "/casualties", #"{"name": "", "age": 131}"#, 422, ["age", "name"])
            try await refused(.post, "/stations", #"{"beds": -1}"#, 422, ["beds", "code", "name"])
            try await refused(.post, "/casualties", #"{"name": "Ada", "station": "west"}"#, 422, ["station"])
            try await refused(
                .post, "/casualties", #"{"name": "Ada", "injuries": ["Burn", "Cough"]}"#, 422, ["injuries"])

            // Numbers that fit no property, numbers that are no priority, and what there is not, beside the rest.
            try await refused(
                .post, "/casualties", #"{"name": "Ada", "age": 40000, "priority": 9}"#, 422, ["age", "priority"])
            try await refused(
                .post, "/casualties", #"{"age": -1, "station": "west", "injuries": ["Cough"]}"#, 422,
                ["age", "injuries", "name", "station"])
            try await refused(.post, "/stations", #"{"code": "east", "name": "East", "beds": 40000}"#, 422, ["beds"])
            try await refused(.post, "/casualties", #"{"name": 5}"#, 400, ["name"])
            try await refused(.post, "/casualties", #"{"id": "5", "name": "Ada"}"#, 400, ["id"])

            _ = try await server.client.send(.post, "/stations", #"{"code": "north", "name": "North"}"#)
            try await refused(.post, "/stations", #"{"code": "north", "name": "South"}"#, 409, ["code"])
            let id = UUID()
            _ = try await server.client.send(
                .post, "/casualties", #"{"id": "\#(id)", "name": "Ada", "station": "north"}"#)
            try await refused(.post, "/casualties", #"{"id": "\#(id)", "name": "Bob"}"#, 409, ["id"])
            try await refused(.delete, "/stations/north", nil, 422, ["casualties"])

            try await refused(.get, "/casualties?colour=red", nil, 400, ["colour"])
            try await refused(.get, "/casualties?order=colour", nil, 400, ["order"])
            try await refused(.get, "/casualties?minAge=1%3D1", nil, 400, ["minAge"])
            let names = Array(repeating: "name", count: 62).joined(separator: ",")
            try await refused(.get, "/casualties?order=\(names)", nil, 400, ["order"])
            let priorities = Array(repeating: "priority=1", count: 33).joined(separator: "&")
            try await refused(.get, "/casualties?\(priorities)", nil, 400, [])
            try await refused(.get, "/casualties?priority=9", nil, 400, ["priority"])
            try await refused(.get, "/casualties?size=101", nil, 400, ["size"])
            try await refused(.get, "/casualties/\(UUID())", nil, 404, [])
            try await refused(.post, "/casualties", "{", 400, [])
            try await refused(.get, "/casualties/7", nil, 400, [])
            try await refused(.get, "/nowhere", nil, 404, [])
            let draft = try #require(try await server.client.send(.post, "/drafts", "{}").headers[.location])
            try await refused(.patch, draft, #"{"name": "Ada", "station": "west"}"#, 422, ["station"])
            #expect(try await server.client.get(draft).decoded(Drafts.State.self).casualty.name == "")
        }
    }

    @Test("null takes away what need not be there; where there must be a value it is refused by its key")
    func nulls() async throws {
        try await ServerProcess.running(in: folder) { server in
            let client = server.client
            _ = try await client.send(.post, "/stations", #"{"code": "north", "name": "North"}"#)
            let made = try await client.send(
                .post, "/casualties", #"{"name": "Ada", "age": 36, "station": "north", "injuries": ["Burn"]}"#)
            let path = try #require(made.headers[.location])
            let requests: [(HTTPRequest.Method, String, String, [String])] = [
                (.patch, path, #"{"name": null}"#, ["name"]),
                (.patch, path, #"{"id": null, "age": null, "station": null}"#, ["age", "id"]),
                (
                    .patch, path, #"{"arrivedAt": null, "priority": null, "age": 131}"#,
                    ["age", "arrivedAt", "priority"]
                ),
                (.patch, path, #"{"name": null, "station": "west"}"#, ["name", "station"]),
                (.post, "/casualties", #"{"id": null, "name": null}"#, ["id", "name"]),
                (.patch, "/stations/north", #"{"name": null, "beds": null}"#, ["beds", "name"]),
                (.post, "/stations", #"{"code": null, "name": "South"}"#, ["code"]),
            ]
            for (method, path, body, keys) in requests {
                let refused = try await client.send(method, path, body)
                #expect(refused.status == 422, "\(body): \(refused.text)")
                #expect((try? refused.decoded(Told.self))?.keys == keys, "\(body): \(refused.text)")
            }
            #expect(try await client.get(path).headers[.eTag] == made.headers[.eTag])

            let taken = try await client.send(.patch, path, #"{"station": null, "injuries": null}"#)
            #expect(taken.status == 200, "\(taken.text)")
            let casualty = try taken.decoded(CasualtyAnswer.self)
            #expect(casualty.station == nil && casualty.injuries == [] && casualty.age == 36)
        }
    }

    @Test(
        "Requests whose turn does not come in time are answered 503 and told when to come again, and the server says so",
        arguments: [
            ["--readers", "1", "--patience", "0"], ["--patience", "0"],
        ])
    func full(_ options: [String]) async throws {
        try await ServerProcess.running(in: folder, more: options) { server in
            var paths: [String] = []
            while paths.count < 20 {
                let made = try await server.client.send(.post, "/casualties", #"{"name": "C\#(paths.count)"}"#)
                if let path = made.headers[.location] { paths.append(path) }
            }
            let requests: [(HTTPRequest.Method, String, String?)] = [
                (.get, "/casualties", nil), (.post, "/casualties", #"{"name": "Ada"}"#),
                (.patch, paths[0], #"{"age": 36}"#), (.get, "/health", nil),
            ]
            for (method, path, body) in requests {
                let refused = try await refusal(server.client, method, path, body)
                #expect(refused.status == 503, "\(method) \(path): \(refused.text)")
                #expect(refused.headers[.retryAfter] == "1", "\(method) \(path)")
            }
            #expect(try await server.client.get("/alive").status == 200)
            let metrics = try await server.client.get("/metrics").text.split(separator: "\n")
            #expect(metrics.contains { $0.hasPrefix("coredata_pool_timeouts_total ") && !$0.hasSuffix(" 0") })
            #expect(
                metrics.contains {
                    $0.hasPrefix("coredata_pool_wait_duration_seconds_count{for=\"turn\"}")
                        || $0.contains("{for=\"block\"}")
                })
        }
    }

    /// Sends a request, and asks for lists beside it, 64 times at once, until one of these requests is refused.
    private func refusal(
        _ client: Client, _ method: HTTPRequest.Method, _ path: String, _ body: String?
    ) async throws -> Answer {
        while true {
            let refused: Answer? = try await withThrowingTaskGroup(of: Answer?.self) { group in
                for _ in 0..<64 {
                    group.addTask { try await client.send(method, path, body) }
                    group.addTask {
                        _ = try await client.get("/casualties")
                        return nil
                    }
                }
                for try await answer in group {
                    if let answer, answer.status >= 300 { return answer }
                }
                return nil
            }
            if let refused { return refused }
        }
    }
}
