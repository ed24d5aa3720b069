// What clients do with casualties: each handler is one block of `read` or `write`.

import CoreData
import CoreDataOperators
import Hummingbird

struct CasualtyRoutes: Sendable {
    let container: NSPersistentContainer

    func add(to router: Router<BasicRequestContext>) {
        router.group("casualties")
            .get(use: list)
            .post(use: create)
            .get("{id}", use: show)
            .patch("{id}", use: change)
            .delete("{id}", use: delete)
    }

    /// What stands beside the items of a page.
    private struct Page: Encodable, Sendable {
        var total: Int?
        var page: Int
    }

    @Sendable func list(_ request: Request, _ context: BasicRequestContext) async throws -> Response {
        let query = try CasualtyQuery(request.uri.queryParameters)
        let (items, total) = try await container.read { context in
            let request = query.request()
            let items = try context.fetch(request).encoded(Casualty.form(with: query.relations))
            return (items, query.includesTotal ? try Casualty.count(where: request.predicate, in: context) : nil)
        }
        return Response(json: try items.json(by: .answers, as: "items", beside: Page(total: total, page: query.page)))
    }

    @Sendable func show(_ request: Request, _ context: BasicRequestContext) async throws -> Versioned<EncodedObject> {
        let id = try context.parameters.require("id", as: UUID.self)
        return try await container.read { context in try Versioned(Casualty.with(id: id, in: context)) }
    }

    /// The client may choose the ID, so that it can send the request again when it has seen no answer.
    struct Creation: Decodable, Sendable {
        var id: UUID?
        var changes: CasualtyChanges

        init(from decoder: any Decoder) throws {
            let keys = try decoder.container(keyedBy: CasualtyChanges.CodingKeys.self)
            id = try keys.decodeIfPresent(UUID.self, forKey: .id)
            changes = try CasualtyChanges(keys)
        }
    }

    @Sendable func create(_ request: Request, _ context: BasicRequestContext) async throws -> Versioned<EncodedObject> {
        let creation = try await request.body(Creation.self, context)
        // Made here, since the block may run more than once.
        let (id, now) = (creation.id ?? UUID(), Date())
        var answer = try await container.write { context in
            let related = try creation.changes.related(in: context)
            let casualty = Casualty(context: context)
            casualty.id = id
            casualty.arrivedAt = now
            try casualty.apply(creation.changes, related)
            try context.saveNew()
            return try Versioned(casualty)
        }
        answer.status = .created
        answer.location = "/casualties/\(id)"
        return answer
    }

    @Sendable func change(_ request: Request, _ context: BasicRequestContext) async throws -> Versioned<EncodedObject> {
        let id = try context.parameters.require("id", as: UUID.self)
        let expected = request.expectedTags
        let changes = try await request.body(CasualtyChanges.self, context)
        return try await container.write { context in
            let casualty = try Casualty.with(id: id, in: context)
            try context.expect(tags: expected, of: casualty)
            try casualty.apply(changes, try changes.related(in: context))
            // Saved here and not behind the block, so that the answer has the version that the save gives.
            try context.save()
            return try Versioned(casualty)
        }
    }

    @Sendable func delete(_ request: Request, _ context: BasicRequestContext) async throws -> HTTPResponse.Status {
        let id = try context.parameters.require("id", as: UUID.self)
        let expected = request.expectedTags
        try await container.write { context in
            let casualty = try Casualty.with(id: id, in: context)
            try context.expect(tags: expected, of: casualty)
            context.delete(casualty)
        }
        return .noContent
    }
}

extension Versioned<EncodedObject> {
    /// Reads what the answer says, to be written outside the block.
    init(_ casualty: Casualty) throws {
        self.init(try casualty.encoded(Casualty.form(with: .all)), tag: casualty.entityTag)
    }
}
