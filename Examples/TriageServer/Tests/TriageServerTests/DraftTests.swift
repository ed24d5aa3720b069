// Drafts: changed, undone, redone, saved or dropped.

import Foundation
import Testing

@testable import TriageServer

@Suite("Drafts")
struct DraftTests {
    private let folder: Folder
    init() throws { folder = try Folder() }

    @Test("A draft is undone and redone step by step, and saved as a whole")
    func undo() async throws {
        try await ServerProcess.running(in: folder) { server in
            let client = server.client
            let opened = try await client.send(.post, "/drafts", "{}")
            #expect(opened.status == 201)
            let draft = try #require(opened.headers[.location])
            func state(_ step: String? = nil, _ body: String? = nil) async throws -> Drafts.State {
                let path = draft + (step.map { "/\($0)" } ?? "")
                return try await client.send(step == nil ? .patch : .post, path, body).decoded()
            }
            let named = try await state(nil, #"{"name": "Ada", "age": 36}"#)
            #expect(named.canUndo && !named.canRedo)
            _ = try await state(nil, #"{"injuries": ["Burn", "Cardiac"]}"#)
            let undone = try await state("undo")
            #expect(undone.casualty.injuries == [] && undone.casualty.name == "Ada" && undone.canRedo)
            #expect(try await state("undo").casualty.name == "")
            #expect(try await state("undo").casualty.name == "")
            #expect(try await state("redo").casualty.age == 36)
            let redone = try await state("redo")
            #expect(redone.casualty.injuries == ["Burn", "Cardiac"])
            #expect(redone.canUndo && !redone.canRedo)

            #expect(try await client.get("/casualties").decoded(CasualtyPage.self).total == 0)
            let saved = try await client.send(.post, "\(draft)/save")
            #expect(saved.status == 200)
            #expect(saved.headers[.eTag] != nil)
            #expect(try saved.decoded(CasualtyAnswer.self) == redone.casualty)
            #expect(
                try await client.get("/casualties/\(redone.casualty.id)").decoded(CasualtyAnswer.self)
                    == redone.casualty)
            #expect(try await client.get(draft).status == 404)
        }
    }

    @Test(
        "A draft that cannot be saved is kept; one whose casualty was changed meanwhile is refused; a dropped one changes nothing"
    )
    func refusals() async throws {
        try await ServerProcess.running(in: folder) { server in
            let client = server.client
            let made = try await client.send(.post, "/casualties", #"{"name": "Ada"}"#)
            let path = try #require(made.headers[.location])
            let casualty = try made.decoded(CasualtyAnswer.self)
            let draft = try #require(
                try await client.send(.post, "/drafts", #"{"casualty": "\#(casualty.id)"}"#).headers[.location])

            for (body, keys) in [
                (#"{"age": 131}"#, ["age"]),
                (#"{"name": "", "age": 131, "priority": 9}"#, ["age", "name", "priority"]),
                (#"{"name": null, "age": -1}"#, ["age", "name"]),
            ] {
                #expect(try await client.send(.patch, draft, body).status == 200)
                let refused = try await client.send(.post, "\(draft)/save")
                #expect(refused.status == 422)
                #expect(try refused.decoded(Told.self).keys == keys, "\(refused.text)")
                _ = try await client.send(.post, "\(draft)/undo")
            }
            _ = try await client.send(.patch, draft, #"{"age": 13}"#)
            #expect(try await client.send(.patch, path, #"{"injuries": ["Burn"]}"#).status == 200)
            #expect(try await client.send(.post, "\(draft)/save").status == 412)
            #expect(try await client.send(.delete, draft).status == 204)
            #expect(try await client.get(draft).status == 404)
            let left = try await client.get(path).decoded(CasualtyAnswer.self)
            #expect(left.age == 0 && left.injuries == ["Burn"])
        }
    }
}
