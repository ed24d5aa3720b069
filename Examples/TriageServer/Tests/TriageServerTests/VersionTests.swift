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
