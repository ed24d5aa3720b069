// The OpenAPI description says what the routes are.

import CoreData
import Foundation
import HTTPTypes
import Hummingbird
import Testing

@testable import TriageServer

@Suite("The description")
struct DescriptionTests {
    private let folder: Folder
    init() throws { folder = try Folder() }

    private struct Description: Decodable {
        struct Path: Decodable {
            var get, post, patch, put, delete: Operation?

            var operations: [(String, Operation)] {
                [("GET", get), ("POST", post), ("PATCH", patch), ("PUT", put), ("DELETE", delete)].compactMap { method, operation in
                    operation.map { (method, $0) }
                }
            }
        }
        struct Operation: Decodable {
            var parameters: [Reference]?
            var responses: [String: Reference]
        }
        struct Reference: Decodable {
            var ref: String?
            enum CodingKeys: String, CodingKey { case ref = "$ref" }

            var name: String? { ref?.split(separator: "/").last.map(String.init) }
        }
        struct Schema: Decodable {
            var properties: [String: Property]
            struct Property: Decodable {}
        }
        struct Components: Decodable { var schemas: [String: Schema] }

        var paths: [String: Path]
        var components: Components
    }

    private func read() async throws -> Description {
        let answer = try await ServerProcess.running(in: folder) { server in try await server.client.get("/openapi.json") }
        return try answer.decoded()
    }

    @Test("It has every route, and no other")
    func routes() async throws {
        let routes = router(container: NSPersistentContainer(name: "Triage"), metrics: MetricsText()).routes
        let known = Set(routes.map { "\($0.method) \($0.path)" })
        let description = try await read()
        let described = Set(description.paths.flatMap { path, item in item.operations.map { "\($0.0) \(path)" } })
        #expect(described == known)
        #expect(known.count > 20)
    }

    @Test("It has every query parameter that lists take")
    func parameters() async throws {
        let description = try await read()
        let known = Set(CasualtyQuery.filters.keys).union(["include", "order", "page", "size"])
        for path in ["/casualties", "/live"] {
            let parameters = description.paths[path]?.get?.parameters ?? []
            #expect(Set(parameters.compactMap { $0.name }) == known)
        }
    }

    @Test("Its schemas have the keys that answers have")
    func schemas() async throws {
        try await ServerProcess.running(in: folder) { server in
            let client = server.client
            let schemas = try await client.get("/openapi.json").decoded(Description.self).components.schemas
            func check(_ answer: Answer, _ schema: String, _ location: SourceLocation = #_sourceLocation) throws {
                let keys = try #require(JSONSerialization.jsonObject(with: answer.body) as? [String: Any]).keys
                #expect(Set(keys) == Set(try #require(schemas[schema]).properties.keys), sourceLocation: location)
            }
            try check(try await client.send(.post, "/stations", #"{"code": "north", "name": "North", "beds": 4}"#), "Station")
            let made = try await client.send(.post, "/casualties", #"{"name": "Ada", "station": "north"}"#)
            try check(made, "Casualty")
            try check(try await client.get("/casualties"), "Page")
            try check(try await client.send(.post, "/drafts", "{}"), "Draft")
            try check(try await client.send(.post, "/casualties", "{}"), "Problem")
        }
    }
}
