// Stations, and the constant table of injuries.

import CoreData
import CoreDataOperators
import Hummingbird

struct StationRoutes: Sendable {
    let container: NSPersistentContainer

    func add(to router: Router<BasicRequestContext>) {
        router.group("stations")
            .get(use: list)
            .post(use: create)
            .get("{code}", use: show)
            .patch("{code}", use: change)
            .delete("{code}", use: delete)
        router.get("injuries", use: injuries)
    }

    struct Answer: Codable, Sendable {
        var code: String
        var name: String
        var beds: Int

        init(_ station: Station) {
            (code, name, beds) = (station.code, station.name, Int(station.beds))
        }
    }

    /// What a client sets of a station; its code is given once.
    struct Changes: Decodable, Sendable {
        var code: String?
        var name: String?
        var beds: Int?
        /// The keys that are null, which the save refuses.
        var cleared: [String]

        private enum CodingKeys: CodingKey { case code, name, beds }

        init(from decoder: any Decoder) throws {
            let keys = try decoder.container(keyedBy: CodingKeys.self)
            code = try keys.decodeIfPresent(String.self, forKey: .code)
            name = try keys.decodeIfPresent(String.self, forKey: .name)
            beds = try keys.decodeIfPresent(Int.self, forKey: .beds)
            cleared = try keys.cleared
        }

        func apply(to station: Station) {
            if let name { station.name = name }
            if let beds { station.beds = Int16(clamping: beds) }
            for key in cleared { station.setValue(nil, forKey: key) }
        }
    }

    @Sendable func list(_ request: Request, _ context: BasicRequestContext) async throws -> Response {
        let stations = try await container.read { context in
            try Station.all(sortedBy: [SortDescriptor(\.code)], in: context).map(Answer.init)
        }
        return try context.responseEncoder.encode(stations, from: request, context: context)
    }

    @Sendable func show(_ request: Request, _ context: BasicRequestContext) async throws -> Versioned<Answer> {
        let code = try context.stationCode
        return try await container.read { context in Versioned(try Station.with(code: code, in: context)) }
    }

    @Sendable func create(_ request: Request, _ context: BasicRequestContext) async throws -> Versioned<Answer> {
        let changes = try await request.body(Changes.self, context)
        var answer = try await container.write { context in
            let station = Station(context: context)
            if let code = changes.code { station.code = code }
            changes.apply(to: station)
            try context.saveNew()
            return Versioned(station)
        }
        answer.status = .created
        answer.location = "/stations/\(answer.body.code.pathPart)"
        return answer
    }

    @Sendable func change(_ request: Request, _ context: BasicRequestContext) async throws -> Versioned<Answer> {
        let code = try context.stationCode
        let expected = request.expectedTags
        let changes = try await request.body(Changes.self, context)
        return try await container.write { context in
            let station = try Station.with(code: code, in: context)
            try context.expect(tags: expected, of: station)
            changes.apply(to: station)
            try context.save()
            return Versioned(station)
        }
    }

    /// A station that has casualties is refused by its delete rule, which makes 422.
    @Sendable func delete(_ request: Request, _ context: BasicRequestContext) async throws -> HTTPResponse.Status {
        let code = try context.stationCode
        let expected = request.expectedTags
        try await container.write { context in
            let station = try Station.with(code: code, in: context)
            try context.expect(tags: expected, of: station)
            context.delete(station)
        }
        return .noContent
    }

    @Sendable func injuries(_ request: Request, _ context: BasicRequestContext) async throws -> [String] {
        try await container.read { context in
            try Injury.all(sortedBy: [SortDescriptor(\.id)], in: context).map(\.name)
        }
    }
}

extension BasicRequestContext {
    /// The code that the path names, which may have any characters.
    fileprivate var stationCode: String {
        get throws {
            let part = try parameters.require("code")
            return part.removingPercentEncoding ?? part
        }
    }
}

extension String {
    /// The text as one part of a path.
    fileprivate var pathPart: String {
        addingPercentEncoding(withAllowedCharacters: .alphanumerics.intersection(.urlPathAllowed)) ?? self
    }
}

extension Station {
    /// - Throws: 404 if there is none.
    fileprivate static func with(code: String, in context: NSManagedObjectContext) throws -> Station {
        guard let station = try first(where: \Station.code == code, in: context) else {
            throw Problem(.notFound, "There is no station \(code).")
        }
        return station
    }
}

extension Versioned<StationRoutes.Answer> {
    fileprivate init(_ station: Station) { self.init(StationRoutes.Answer(station), tag: station.entityTag) }
}
