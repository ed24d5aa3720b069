// Casualties that are being edited: each in a context of its own with an undo manager, kept between the requests of a client.

import CoreData
import Hummingbird

/// The drafts of this process. Nothing of a draft is in the store before it is saved.
actor Drafts {
    private struct Draft {
        let context: NSManagedObjectContext
        let casualty: NSManagedObjectID

        /// For blocks of the context.
        var object: Casualty {
            get throws {
                guard let casualty = try context.existingObject(with: casualty) as? Casualty else {
                    throw Problem(.notFound, "The casualty of this draft is gone.")
                }
                return casualty
            }
        }
    }

    private let container: NSPersistentContainer
    private let limit: Int
    private var drafts: [UUID: Draft] = [:]
    /// From the one that was used longest ago to the one that was used last.
    private var used: [UUID] = []

    /// - Parameter limit: how many drafts are kept; one more drops the one that nobody has used for longest.
    init(container: NSPersistentContainer, limit: Int = 100) {
        self.container = container
        self.limit = limit
    }

    struct State: Codable, Sendable {
        var draft: UUID
        var casualty: CasualtyAnswer
        var canUndo: Bool
        var canRedo: Bool
    }

    /// Opens a draft of a casualty, or of a new one.
    func open(_ casualty: UUID?) async throws -> State {
        let context = container.newBackgroundContext()
        let object = try await context.perform {
            let object =
                if let casualty { try Casualty.with(id: casualty, in: context) } else { Casualty(context: context) }
            if let version = object.rowVersion {
                // Who saves in the meantime makes the save of this draft fail.
                context.expect(version, of: object)
            } else {
                object.id = UUID()
                object.arrivedAt = Date()
            }
            context.processPendingChanges()
            // From here on each block of `perform` is one step to undo.
            context.undoManager = UndoManager()
            return object.objectID
        }
        let id = UUID()
        drafts[id] = Draft(context: context, casualty: object)
        touch(id)
        return try await state(of: id)
    }

    /// Runs a step in a draft's context; answers the draft as it is then.
    func state(
        of id: UUID, after step: @escaping @Sendable (Casualty, NSManagedObjectContext) throws -> Void = { _, _ in }
    ) async throws -> State {
        let draft = try draft(id)
        return try await draft.context.perform { [context = draft.context] in
            let casualty = try draft.object
            try step(casualty, context)
            context.processPendingChanges()
            return State(
                draft: id, casualty: CasualtyAnswer(casualty), canUndo: context.undoManager?.canUndo ?? false,
                canRedo: context.undoManager?.canRedo ?? false)
        }
    }

    /// Saves a draft and forgets it; one that cannot be saved is kept.
    func save(_ id: UUID) async throws -> Versioned<EncodedObject> {
        let draft = try draft(id)
        let saved = try await draft.context.perform { [context = draft.context] in
            let casualty = try draft.object
            try context.save()
            return try Versioned(casualty)
        }
        drop(id)
        return saved
    }

    func drop(_ id: UUID) {
        drafts[id] = nil
        used.removeAll { $0 == id }
    }

    private func draft(_ id: UUID) throws -> Draft {
        guard let draft = drafts[id] else { throw Problem(.notFound, "There is no draft \(id).") }
        touch(id)
        return draft
    }

    private func touch(_ id: UUID) {
        used.removeAll { $0 == id }
        used.append(id)
        if used.count > limit { drop(used[0]) }
    }
}

struct DraftRoutes: Sendable {
    let drafts: Drafts

    func add(to router: Router<BasicRequestContext>) {
        router.group("drafts")
            .post(use: open)
            .get("{id}") { request, context in try await drafts.state(of: try id(context)) }
            .patch("{id}", use: change)
            .post("{id}/undo") { request, context in try await drafts.state(of: try id(context)) { $1.undo() } }
            .post("{id}/redo") { request, context in try await drafts.state(of: try id(context)) { $1.redo() } }
            .post("{id}/save") { request, context in try await drafts.save(try id(context)) }
            .delete("{id}") { request, context in
                await drafts.drop(try id(context))
                return HTTPResponse.Status.noContent
            }
    }

    private func id(_ context: BasicRequestContext) throws -> UUID {
        try context.parameters.require("id", as: UUID.self)
    }

    struct Opening: Decodable, Sendable {
        var casualty: UUID?
    }

    @Sendable private func open(_ request: Request, _ context: BasicRequestContext) async throws -> Response {
        let opening = try await request.body(Opening.self, context)
        let state = try await drafts.open(opening.casualty)
        var response = try context.responseEncoder.encode(state, from: request, context: context)
        response.status = .created
        response.headers[.location] = "/drafts/\(state.draft)"
        return response
    }

    @Sendable private func change(_ request: Request, _ context: BasicRequestContext) async throws -> Drafts.State {
        let changes = try await request.body(CasualtyChanges.self, context)
        return try await drafts.state(of: try id(context)) { casualty, context in
            try casualty.draft(changes, try changes.related(in: context))
        }
    }
}

extension Drafts.State: ResponseEncodable {}
