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
                [("GET", get), ("POST", post), ("PATCH", patch), ("PUT", put), ("DELETE", delete)].compactMap {
                    method, operation in
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
        let answer = try await ServerProcess.running(in: folder) { server in
            try await server.client.get("/openapi.json")
        }
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
            try check(
                try await client.send(.post, "/stations", #"{"code": "north", "name": "North", "beds": 4}"#), "Station")
            let made = try await client.send(.post, "/casualties", #"{"name": "Ada", "station": "north"}"#)
            try check(made, "Casualty")
            try check(try await client.get("/casualties"), "Page")
            try check(try await client.send(.post, "/drafts", "{}"), "Draft")
            try check(try await client.send(.post, "/casualties", "{}"), "Problem")
        }
    }

    @Test(
        "An answer that is otherwise than the description says is found: by its status, a header, a type, a key and a bound"
    )
    func complaints() throws {
        func complaints(
            _ status: Int, _ body: String, headers: HTTPFields = [.eTag: "1"], path: String = "/casualties/1"
        ) -> [String] {
            let headers = headers + [HTTPField(name: .contentType, value: "application/json; charset=utf-8")]
            return OpenAPI.own.complaints(
                "GET", path, Answer(status: status, headers: HTTPFields(headers), body: Data(body.utf8)))
        }
        let good =
            #"{"id": "6F9619FF-8B86-4D01-B42D-00CF4FC964FF", "name": "Ada", "age": 1, "arrivedAt": "2026-11-24T10:00:00Z", "priority": 1}"#
        #expect(complaints(200, good) == [])
        #expect(complaints(418, good) == ["the operation has no such status"])
        #expect(complaints(200, good, headers: [:]) == ["the header ETag is missing"])
        #expect(complaints(200, good, path: "/nowhere") == ["there is no such operation"])
        #expect(complaints(200, "[]") == ["body is array and not [\"object\"]"])
        for (old, new, fault) in [
            ("Ada", "", "body.name is out of bounds"),
            ("\"age\": 1", "\"age\": 1.5", "body.age is number and not [\"integer\"]"),
            ("\"priority\": 1", "\"priority\": 5", "body.priority is none of the values"),
            ("\"age\": 1, ", "", "body.age is missing"),
            ("\"age\": 1", "\"age\": 1, \"height\": 1", "body.height is not described"),
            ("6F96", "XXXX", "body.id is no UUID"),
            ("2026-11-24T10:00:00Z", "yesterday", "body.arrivedAt is no date"),
        ] {
            #expect(complaints(200, good.replacingOccurrences(of: old, with: new)) == [fault])
        }
    }
}
