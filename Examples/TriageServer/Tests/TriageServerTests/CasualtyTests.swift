// Casualties, stations and injuries over HTTP.

import Foundation
import Testing

@testable import TriageServer

@Suite("Casualties")
struct CasualtyTests {
    private let folder: Folder
    init() throws { folder = try Folder() }

    @Test("The table of injuries is there at the start, once")
    func injuries() async throws {
        for _ in 1...2 {
            let injuries: [String] = try await ServerProcess.running(in: folder) { server in
                try await server.client.get("/injuries").decoded()
            }
            #expect(
                injuries == [
                    "Blunt Trauma", "Burn", "C-Spine", "Cardiac", "Crushing", "Fracture", "Laceration", "Penetration",
                ])
        }
    }

    @Test("A casualty is made, read, changed and deleted")
    func life() async throws {
        try await ServerProcess.running(in: folder) { server in
            let client = server.client
            #expect(
                try await client.send(.post, "/stations", #"{"code": "north", "name": "North Gate", "beds": 4}"#).status
                    == 201)
            let made = try await client.send(
                .post, "/casualties",
                #"{"name": "Ada", "age": 36, "priority": 3, "station": "north", "injuries": ["Burn", "Cardiac"]}"#)
            #expect(made.status == 201)
            let path = try #require(made.headers[.location])
            let casualty = try made.decoded(CasualtyAnswer.self)
            #expect(path == "/casualties/\(casualty.id)")
            #expect(casualty.station == "north")
            #expect(casualty.injuries == ["Burn", "Cardiac"])

            let read = try await client.get(path)
            #expect(read.status == 200)
            #expect(try read.decoded() == casualty)
            #expect(read.headers[.eTag] == made.headers[.eTag])

            let changed = try await client.send(.patch, path, #"{"station": null, "injuries": ["Burn"]}"#)
            #expect(changed.status == 200)
            #expect(try changed.decoded(CasualtyAnswer.self).station == nil)
            #expect(try changed.decoded(CasualtyAnswer.self).name == "Ada")
            #expect(changed.headers[.eTag] != made.headers[.eTag])

            #expect(try await client.send(.delete, path).status == 204)
            #expect(try await client.get(path).status == 404)
        }
    }

    @Test("A list is filtered, ordered and cut into pages")
    func list() async throws {
        try await ServerProcess.running(in: folder) { server in
            let client = server.client
            _ = try await client.send(.post, "/stations", #"{"code": "north", "name": "North", "beds": 4}"#)
            for index in 0..<25 {
                let station = index % 5 == 0 ? #", "station": "north""# : ""
                let injuries = index % 2 == 0 ? #"["Burn"]"# : "[]"
                let body =
                    #"{"name": "C\#(index % 7)", "age": \#(index), "priority": \#(index % 4 + 1), "injuries": \#(injuries)\#(station)}"#
                #expect(try await client.send(.post, "/casualties", body).status == 201)
            }
            func ages(_ query: String) async throws -> [Int] {
                try await client.get("/casualties?\(query)").decoded(CasualtyPage.self).items.map(\.age)
            }
            #expect(try await ages("order=-age&size=3") == [24, 23, 22])
            #expect(try await ages("order=age&size=10&page=3") == [20, 21, 22, 23, 24])
            #expect(try await ages("order=age&station=north") == [0, 5, 10, 15, 20])
            #expect(try await ages("order=age&injury=Burn&minAge=20") == [20, 22, 24])
            #expect(try await ages("order=age&priority=4&maxAge=8") == [3, 7])
            #expect(try await ages("name=C6&order=-priority,age") == [6, 13, 20])
            #expect(try await ages("order=station,-age&size=1") != [])
            let page = try await client.get("/casualties?injury=Burn&size=2").decoded(CasualtyPage.self)
            #expect(page.total == 13)
            #expect(page.items.count == 2)
            let plain = try await client.get("/casualties?include=none&injury=Burn").decoded(CasualtyPage.self)
            #expect(plain.total == nil && plain.items.count == 13)
            #expect(plain.items.allSatisfy { $0.injuries == nil && $0.station == nil })
            let some = try await client.get("/casualties?include=injuries&injury=Burn&station=north").decoded(
                CasualtyPage.self)
            #expect(!some.items.isEmpty && some.items.allSatisfy { $0.injuries == ["Burn"] && $0.station == nil })
            // What a client writes is a value, whatever it looks like.
            #expect(try await ages("name=%27%20OR%20TRUEPREDICATE") == [])
        }
    }

    @Test("A list with relations takes as many statements for many casualties as for few")
    func statements() async throws {
        try await ServerProcess.running(in: folder) { server in
            let client = server.client
            for index in 0..<30 {
                _ = try await client.send(.post, "/stations", #"{"code": "s\#(index)", "name": "S"}"#)
                let made = try await client.send(
                    .post, "/casualties", #"{"name": "C", "station": "s\#(index)", "injuries": ["Burn", "Cardiac"]}"#)
                #expect(made.status == 201)
            }
            func statements(_ query: String) async throws -> Int {
                let before = try await client.count("coredata_statements_total")
                #expect(try await client.get("/casualties?\(query)").status == 200)
                return try await client.count("coredata_statements_total") - before
            }
            for size in [1, 30] {
                #expect(try await statements("size=\(size)&include=none") == 1)
                #expect(try await statements("size=\(size)&include=station,injuries") == 3)
                #expect(try await statements("size=\(size)") == 4)
            }
        }
    }
}

extension Client {
    /// The value of a counter without dimensions.
    fileprivate func count(_ name: String) async throws -> Int {
        let lines = try await get("/metrics").text.split(separator: "\n")
        return try #require(lines.first { $0.hasPrefix(name + " ") }.flatMap { Int($0.dropFirst(name.count + 1)) })
    }
}
