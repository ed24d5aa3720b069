// The list that follows what is saved.

import Foundation
import Testing

@testable import TriageServer

@Suite("The live list")
struct LiveListTests {
    private let folder: Folder
    init() throws { folder = try Folder() }

    @Test("It begins with what is there, follows inserts, changes and deletions, and ends with the server")
    func follows() async throws {
        try await ServerProcess.running(in: folder) { server in
            let client = server.client
            let ada = try #require(
                try await client.send(.post, "/casualties", #"{"name": "Ada", "priority": 3}"#).headers[.location])
            try await client.lines("/live?priority=3&order=name") { lines in
                #expect(try await lines.names() == ["Ada"])
                let eve = try #require(
                    try await client.send(.post, "/casualties", #"{"name": "Eve", "priority": 3}"#).headers[.location])
                #expect(try await lines.names() == ["Ada", "Eve"])
                // Not on this list: nothing is told of it.
                _ = try await client.send(.post, "/casualties", #"{"name": "Bob"}"#)
                _ = try await client.send(.patch, ada, #"{"name": "Zoe"}"#)
                #expect(try await lines.names() == ["Eve", "Zoe"])
                _ = try await client.send(.delete, eve)
                #expect(try await lines.names() == ["Zoe"])
                #expect(await server.end(SIGTERM) == 0)
                // The answer ends, not the connection in the middle of it.
                while try await lines.next() != nil {}
            }
        }
        #expect(try folder.names == ["Triage.sqlite"])
    }

    @Test("Whatever is saved while many listen, all end with the same list")
    func many() async throws {
        try await ServerProcess.running(in: folder) { server in
            let client = server.client
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<8 {
                    group.addTask {
                        try await client.lines("/live?size=100") { lines in
                            while try await lines.names().count < 40 {}
                        }
                    }
                }
                for writer in 0..<4 {
                    group.addTask {
                        for index in 0..<10 {
                            let made = try await client.send(.post, "/casualties", #"{"name": "\#(writer).\#(index)"}"#)
                            #expect(made.status == 201)
                        }
                    }
                }
                try await group.waitForAll()
            }
        }
    }
}

extension Client.Lines {
    /// The names of the next event's casualties.
    fileprivate mutating func names() async throws -> [String] {
        while let line = try await next() {
            guard line.hasPrefix("data: ") else { continue }
            let decoder = JSONDecoder()
            decoder.dateDecodingStrategy = .iso8601
            return try decoder.decode([CasualtyAnswer].self, from: Data(line.dropFirst(6).utf8)).map(\.name)
        }
        throw Client.Broken()
    }
}
