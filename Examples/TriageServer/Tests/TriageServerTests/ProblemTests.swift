// What a client is told when something is refused.

import Foundation
import HTTPTypes
import Testing

@testable import TriageServer

@Suite("Problems")
struct ProblemTests {
    private let folder: Folder
    init() throws { folder = try Folder() }

    private struct Told: Decodable {
        var message: String
        var keys: [String]
    }

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

    @Test(
        "Requests whose turn does not come in time are answered 503 and told when to come again, and the server says so",
        arguments: [
            ["--readers", "1", "--patience", "0"], ["--patience", "0"],
        ])
    func full(_ options: [String]) async throws {
        try await ServerProcess.running(in: folder, more: options) { server in
            for index in 0..<20 {
                _ = try await server.client.send(.post, "/casualties", #"{"name": "C\#(index)"}"#)
            }
            var refused: Answer?
            while refused == nil {
                refused = try await withThrowingTaskGroup(of: Answer.self) { group in
                    for _ in 0..<128 { group.addTask { try await server.client.get("/casualties") } }
                    return try await group.first { $0.status != 200 }
                }
            }
            #expect(refused?.status == 503)
            #expect(refused?.headers[.retryAfter] == "1")
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
}
