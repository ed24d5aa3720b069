// What clients do with casualties.

import Foundation
import GRDB
import Hummingbird

struct CasualtyAnswer: Codable, Sendable {
    var id: UUID
    var name: String
    var age: Int
    var arrivedAt: Date
    var priority: Int
    var station: String?
    var injuries: [String]?

    init(_ casualty: Casualty, station: String? = nil, injuries: [String]? = nil) {
        id = casualty.id
        name = casualty.name
        age = casualty.age
        arrivedAt = casualty.arrivedAt
        priority = casualty.priority
        self.station = station
        self.injuries = injuries
    }

    init(_ info: CasualtyInfo) {
        self.init(info.casualty, station: info.station?.code, injuries: info.injuries.map(\.name).sorted())
    }
}

struct Page: Codable, Sendable {
    var total: Int?
    var page: Int
    var items: [CasualtyAnswer]
}

struct CasualtyRoutes: Sendable {
    let pool: DatabasePool

    func add(to router: Router<BasicRequestContext>) {
        router.group("casualties").get(use: list).post(use: create).get("{id}", use: show)
    }

    @Sendable func list(_ request: Request, _ context: BasicRequestContext) async throws -> Response {
        let query = try CasualtyQuery(request.uri.queryParameters)
        let page = try await pool.read { db in
            let all = query.filtered()
            let page = query.page(of: all)
            let items =
                query.includesRelations
                ? try page.including(optional: Casualty.station).including(all: Casualty.injuries)
                    .asRequest(of: CasualtyInfo.self).fetchAll(db).map { CasualtyAnswer($0) }
                : try page.fetchAll(db).map { CasualtyAnswer($0) }
            return Page(total: query.includesTotal ? try all.fetchCount(db) : nil, page: query.page, items: items)
        }
        return try context.responseEncoder.encode(page, from: request, context: context)
    }

    @Sendable func show(_ request: Request, _ context: BasicRequestContext) async throws -> Response {
        let id = try context.parameters.require("id", as: UUID.self)
        let info = try await pool.read { db in
            try Casualty.filter(key: id).including(optional: Casualty.station).including(all: Casualty.injuries)
                .asRequest(of: CasualtyInfo.self).fetchOne(db)
        }
        guard let info else { throw HTTPError(.notFound, message: "There is no casualty \(id).") }
        return try answer(CasualtyAnswer(info), info.casualty.version, request, context)
    }

    struct Creation: Decodable, Sendable {
        var id: UUID?
        var name: String
        var age: Int
        var priority: Int
        var station: String?
        var injuries: [String]?
    }

    @Sendable func create(_ request: Request, _ context: BasicRequestContext) async throws -> Response {
        let creation = try await request.decode(as: Creation.self, context: context)
        guard (1...80).contains(creation.name.count), (0...130).contains(creation.age),
            (1...4).contains(creation.priority)
        else {
            throw HTTPError(.unprocessableContent)
        }
        let names = Set(creation.injuries ?? [])
        let (casualty, injuries) = try await pool.write { db in
            var station: Station?
            if let code = creation.station {
                station = try SQLRequest<Station>(
                    sql: "SELECT * FROM station WHERE code = ?", arguments: [code], cached: true
                ).fetchOne(db)
                guard station != nil else {
                    throw HTTPError(.unprocessableContent, message: "There is no station \(code).")
                }
            }
            let injuries = try Injury.filter(names.contains(Column("name"))).fetchAll(db)
            guard injuries.count == names.count else {
                throw HTTPError(.unprocessableContent, message: "There is no such injury.")
            }
            let casualty = Casualty(
                id: creation.id ?? UUID(), name: creation.name, age: creation.age, arrivedAt: Date(),
                priority: creation.priority,
                stationId: station?.id)
            do {
                try casualty.insert(db)
            } catch let error as DatabaseError where error.resultCode == .SQLITE_CONSTRAINT {
                throw HTTPError(.conflict, message: "There is a casualty \(casualty.id) already.")
            }
            for injury in injuries { try CasualtyInjury(casualtyId: casualty.id, injuryId: injury.id).insert(db) }
            return (casualty, injuries)
        }
        let body = CasualtyAnswer(casualty, station: creation.station, injuries: injuries.map(\.name).sorted())
        var response = try answer(body, casualty.version, request, context)
        response.status = .created
        response.headers[.location] = "/casualties/\(casualty.id)"
        return response
    }

    private func answer(
        _ body: CasualtyAnswer, _ version: Int, _ request: Request, _ context: BasicRequestContext
    ) throws -> Response {
        var response = try context.responseEncoder.encode(body, from: request, context: context)
        response.headers[.eTag] = "\"\(version)\""
        return response
    }
}
