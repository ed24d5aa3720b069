// A list as its query parameters ask for it: `?priority=3&station=north&order=-arrivedAt,name&page=2&size=50`.
// `include=station,injuries,total` says what comes along, `include=none` that nothing does; without it all does.

import CoreData
import CoreDataOperators
import Hummingbird

/// What was asked for, checked. Parameters choose from the two tables below; no text of a client becomes part of a predicate's text.
struct CasualtyQuery: Sendable {
    /// Makes a predicate, in the block that uses it: predicates are not `Sendable`.
    typealias Filter = @Sendable () -> NSPredicate
    typealias Order = @Sendable (SortOrder) -> SortDescriptor<Casualty>

    static let filters: [String: @Sendable (QueryParameter) throws -> Filter] = [
        "name": {
            let text = $0.text; return { Casualty.predicate { $0.name.hasPrefix(text) } }
        },
        "minAge": {
            let age: Int16 = try $0.number(); return { \Casualty.age >= age }
        },
        "maxAge": {
            let age: Int16 = try $0.number(); return { \Casualty.age <= age }
        },
        "priority": {
            let priority: Priority = try $0.value(); return { \Casualty.priority == priority }
        },
        "station": {
            let code = $0.text; return { \Casualty.station?.code == code }
        },
        "injury": {
            let name = $0.text; return { Casualty.predicate { $0.injuries.any { $0.name == name } } }
        },
    ]

    static let orders: [String: Order] = [
        "name": { SortDescriptor(\.name, order: $0) },
        "age": { SortDescriptor(\.age, order: $0) },
        "arrivedAt": { SortDescriptor(\.arrivedAt, order: $0) },
        "priority": { SortDescriptor(\.priority, order: $0) },
        "station": { SortDescriptor(\.station?.code, order: $0) },
    ]

    private static let relations: [String: CasualtyAnswer.Relations] = ["station": .station, "injuries": .injuries]

    private(set) var relations = CasualtyAnswer.Relations.all
    /// Whether the answer says how many there are on all pages, which SQLite has to count.
    private(set) var includesTotal = true
    private(set) var page = 1
    private var size = 20
    private var filters: [Filter] = []
    private var order: [@Sendable () -> SortDescriptor<Casualty>] = []

    /// - Throws: 400 for a parameter that there is not, or a value that does not fit.
    init(_ parameters: Parameters) throws {
        guard parameters.count <= 32 else {
            throw Problem(.badRequest, "There are \(parameters.count) query parameters; 32 are the most.")
        }
        for (name, value) in parameters {
            let parameter = QueryParameter(name: String(name), text: String(value))
            switch parameter.name {
            case "page": page = try parameter.number(in: 1...1_000_000)
            case "size": size = try parameter.number(in: 1...100)
            case "include":
                (relations, includesTotal) = ([], false)
                for name in parameter.text.split(separator: ",") where name != "none" {
                    try include(String(name), parameter)
                }
            case "order":
                let keys = parameter.text.split(separator: ",")
                guard keys.count <= Self.orders.count else {
                    throw parameter.refused("has \(keys.count) keys, more than there are")
                }
                order = try keys.map { try Self.order(String($0), parameter) }
            default:
                guard let filter = Self.filters[parameter.name] else {
                    throw parameter.refused("is none that is known")
                }
                filters.append(try filter(parameter))
            }
        }
    }

    private mutating func include(_ name: String, _ parameter: QueryParameter) throws {
        if name == "total" { return includesTotal = true }
        guard let relation = Self.relations[name] else {
            throw parameter.refused("takes station, injuries, total and none")
        }
        relations.formUnion(relation)
    }

    private static func order(_ text: String, _ parameter: QueryParameter) throws
        -> @Sendable () -> SortDescriptor<Casualty>
    {
        let isReverse = text.hasPrefix("-")
        guard let order = orders[isReverse ? String(text.dropFirst()) : text] else {
            throw parameter.refused(
                "takes \(orders.keys.sorted().joined(separator: ", ")), each with a - before it or not")
        }
        return { order(isReverse ? .reverse : .forward) }
    }

    /// The rows of one page, with the relations that were asked for in as many statements as there are of these.
    func request() -> NSFetchRequest<Casualty> {
        let request = Casualty.fetchRequest()
        request.predicate = NSCompoundPredicate(andPredicateWithSubpredicates: filters.map { $0() })
        // The ID last: pages need an order without ties.
        let order = self.order.map { $0() } + [SortDescriptor(\.id)]
        request.sortDescriptors = order.map { NSSortDescriptor($0) }
        request.fetchLimit = size
        request.fetchOffset = (page - 1) * size
        if relations.contains(.station) { request.prefetch(\.station) }
        if relations.contains(.injuries) { request.prefetch(\.injuries) }
        return request
    }
}

/// A query parameter and what can be made of its text.
struct QueryParameter {
    let name: String
    let text: String

    func refused(_ reason: String) -> Problem {
        Problem(.badRequest, "The query parameter \(name) \(reason).", keys: [name])
    }

    func number<N: FixedWidthInteger>(in range: ClosedRange<N> = .min ... .max) throws -> N {
        guard let number = N(text), range.contains(number) else {
            throw refused("takes a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    func value<V: RawRepresentable>() throws -> V where V.RawValue: FixedWidthInteger {
        guard let value = V(rawValue: try number()) else { throw refused("takes no \(text)") }
        return value
    }
}
