// A list as its query parameters ask for it.

import GRDB
import Hummingbird

struct CasualtyQuery: Sendable {
    private(set) var page = 1
    private(set) var includesRelations = true
    private(set) var includesTotal = true
    private var size = 20
    private var filters: [any SQLSpecificExpressible & Sendable] = []
    private var order: [SQLOrdering] = []

    private static let orders = ["name", "age", "arrivedAt", "priority"]

    init(_ parameters: Parameters) throws {
        for (name, value) in parameters {
            switch name {
            case "page": page = try number(value, 1...1_000_000)
            case "size": size = try number(value, 1...100)
            case "include":
                (includesRelations, includesTotal) = (value.contains("station"), value.contains("total"))
            case "order": order = try value.split(separator: ",").map { try Self.order($0) }
            case "name": filters.append(Column("name").like("\(value)%"))
            case "minAge": filters.append(Column("age") >= (try number(value, 0...130)))
            case "maxAge": filters.append(Column("age") <= (try number(value, 0...130)))
            case "priority": filters.append(Column("priority") == (try number(value, 1...4)))
            default: throw HTTPError(.badRequest)
            }
        }
    }

    private static func order(_ text: Substring) throws -> SQLOrdering {
        let name = text.hasPrefix("-") ? String(text.dropFirst()) : String(text)
        guard orders.contains(name) else { throw HTTPError(.badRequest) }
        return text.hasPrefix("-") ? Column(name).desc : Column(name).asc
    }

    func filtered() -> QueryInterfaceRequest<Casualty> {
        filters.reduce(Casualty.all()) { $0.filter($1) }
    }

    func page(of request: QueryInterfaceRequest<Casualty>) -> QueryInterfaceRequest<Casualty> {
        request.order(order + [Column("id").asc]).limit(size, offset: (page - 1) * size)
    }
}

private func number(_ text: Substring, _ range: ClosedRange<Int>) throws -> Int {
    guard let number = Int(text), range.contains(number) else { throw HTTPError(.badRequest) }
    return number
}
