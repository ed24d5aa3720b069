// Entity tags: of two who have seen the same version, one is told so.

import Foundation
import Testing

@testable import TriageServer

@Suite("Versions")
struct VersionTests {
    private let folder: Folder
    init() throws { folder = try Folder() }

    @Test("Of two changes at once with one tag, a thousand times, one is made and one refused")
    func race() async throws {
        try await ServerProcess.running(in: folder) { server in
            let client = server.client
            let made = try await client.send(.post, "/casualties", #"{"name": "Ada"}"#)
            let path = try #require(made.headers[.location])
            var tag = try #require(made.headers[.eTag])
            for round in 1...1000 {
                let seen = tag
                async let first = client.send(.patch, path, #"{"age": \#(round % 100)}"#, ifMatch: seen)
                async let second = client.send(.patch, path, #"{"name": "Ada \#(round)"}"#, ifMatch: seen)
                let answers = try await [first, second]
                #expect(answers.map(\.status).sorted() == [200, 412])
                let new = answers.first { $0.status == 200 }?.headers[.eTag]
                #expect(new != seen)
                tag = try #require(new)
            }
            #expect(try await client.get(path).headers[.eTag] == tag)
        }
    }

    @Test(
        "A tag is that of one row: who has read a row that was deleted does not change the one that came in its place")
    func replaced() async throws {
        let casualty = UUID()
        try await ServerProcess.running(in: folder) { server in
            let client = server.client
            for (list, path, body) in [
                ("/stations", "/stations/north", #"{"code": "north", "name": "North"}"#),
                ("/stations", "/stations/%C3%A9%20%2F%25", #"{"code": "é /%", "name": "Escaped"}"#),
                ("/casualties", "/casualties/\(casualty)", #"{"id": "\#(casualty)", "name": "Ada"}"#),
            ] {
                #expect(try await client.send(.post, list, body).status == 201)
                let seen = try #require(try await client.get(path).headers[.eTag])
                #expect(try await client.send(.delete, path).status == 204)
                let made = try await client.send(.post, list, body)
                #expect(made.status == 201 && made.headers[.location] == path)
                #expect(try await client.send(.patch, path, #"{"name": "Eve"}"#, ifMatch: seen).status == 412)
                #expect(try await client.send(.delete, path, ifMatch: seen).status == 412)
                let kept = try await client.get(path)
                let tag = try #require(made.headers[.eTag])
                #expect(kept.headers[.eTag] == tag && tag != seen)
                #expect(try await client.send(.patch, path, #"{"name": "Eve"}"#, ifMatch: tag).status == 200)
            }
        }
    }

    @Test("Of several tags any will do, in one field or more; what is weak or written otherwise is none")
    func lists() async throws {
        try await ServerProcess.running(in: folder) { server in
            let client = server.client
            let made = try await client.send(.post, "/casualties", #"{"name": "Ada"}"#)
            let path = try #require(made.headers[.location])
            let old = try #require(made.headers[.eTag])
            let changed = try await client.send(.patch, path, #"{"age": 36}"#, ifMatch: old)
            let tag = try #require(changed.headers[.eTag])
            for list in [tag, "\(old), \(tag)", "\(tag),\(old)", #""x" ,"y",  \#(tag)"#, "*"] {
                #expect(try await client.send(.patch, path, "{}", ifMatch: list).status == 200, "\(list)")
            }
            #expect(try await client.send(.patch, path, "{}", ifMatch: "\"x\"", tag).status == 200)

            let otherwise: [String] = [
                old, #""x", \#(old)"#, "W/\(tag)", "\(old), W/\(tag)", tag.replacingOccurrences(of: "-", with: "-0"),
                tag.replacingOccurrences(of: "-", with: "-+"), String(tag.dropFirst().dropLast()), "\"2\"", "2",
                "*, \"x\"",
            ]
            for list in otherwise {
                #expect(try await client.send(.patch, path, #"{"age": 37}"#, ifMatch: list).status == 412, "\(list)")
            }
            #expect(try await client.send(.patch, path, #"{"age": 37}"#, ifMatch: "\"x\"", old).status == 412)
            #expect(try await client.get(path).headers[.eTag] == tag)
        }
    }

    @Test("Who touches only the members, or deletes, is held to the tag as well")
    func membersAndDeletion() async throws {
        try await ServerProcess.running(in: folder) { server in
            let client = server.client
            let made = try await client.send(.post, "/casualties", #"{"name": "Ada"}"#)
            let path = try #require(made.headers[.location])
            let tag = try #require(made.headers[.eTag])
            let touched = try await client.send(.patch, path, #"{"injuries": ["Burn"]}"#, ifMatch: tag)
            #expect(touched.status == 200)
            #expect(touched.headers[.eTag] != tag)
            #expect(try await client.send(.patch, path, #"{"injuries": []}"#, ifMatch: tag).status == 412)
            #expect(try await client.send(.patch, path, "{}", ifMatch: tag).status == 412)
            #expect(try await client.send(.patch, path, "{}", ifMatch: "\"x\"").status == 412)
            #expect(try await client.send(.delete, path, ifMatch: tag).status == 412)
            #expect(try await client.send(.delete, path, ifMatch: "*").status == 204)
        }
    }
}
