// Stations.

import GRDB
import Hummingbird

struct StationRoutes: Sendable {
    let pool: DatabasePool

    func add(to router: Router<BasicRequestContext>) {
        router.group("stations").get(use: list).post(use: create)
    }

    struct Answer: ResponseCodable, Sendable {
        var code: String
        var name: String
        var beds: Int
    }

    @Sendable func list(_ request: Request, _ context: BasicRequestContext) async throws -> [Answer] {
        try await pool.read { db in
            try Station.order(Column("code")).fetchAll(db).map { Answer(code: $0.code, name: $0.name, beds: $0.beds) }
        }
    }

    @Sendable func create(_ request: Request, _ context: BasicRequestContext) async throws -> EditedResponse<Answer> {
        let answer = try await request.decode(as: Answer.self, context: context)
        try await pool.write { db in
            var station = Station(code: answer.code, name: answer.name, beds: answer.beds)
            try station.insert(db)
        }
        return EditedResponse(status: .created, response: answer)
    }
}
