// Casualties as clients send and see them.

import CoreData
import CoreDataOperators

/// How urgent a casualty is. The model names this type in the user info of `Casualty.priority`.
enum Priority: Int16, Codable, Comparable, Sendable {
    case minor = 1, delayed, immediate, expectant

    static func < (left: Priority, right: Priority) -> Bool { left.rawValue < right.rawValue }
}

/// A casualty in an answer. Objects stay in the block that has read them; this leaves it.
struct CasualtyAnswer: Codable, Sendable, Equatable {
    var id: UUID
    var name: String
    var age: Int
    var arrivedAt: Date
    var priority: Priority
    var station: String?
    var injuries: [String]?

    /// What an answer says of related objects. Those that are not asked for are not read.
    struct Relations: OptionSet, Sendable {
        let rawValue: Int
        static let station = Relations(rawValue: 1)
        static let injuries = Relations(rawValue: 2)
        static let all: Relations = [.station, .injuries]
    }

    init(_ casualty: Casualty, with relations: Relations = .all) {
        id = casualty.id
        name = casualty.name
        age = Int(casualty.age)
        arrivedAt = casualty.arrivedAt
        priority = casualty.priority
        station = relations.contains(.station) ? casualty.station?.code : nil
        injuries = relations.contains(.injuries) ? casualty.injuries.map(\.name).sorted() : nil
    }
}

/// What a client sets. An absent key leaves the property as it is, `"station": null` takes the station away.
///
/// Nothing is judged here: what a casualty may be stands in the model, and a save names each key that breaks it.
struct CasualtyChanges: Decodable, Sendable {
    var name: String?
    var age: Int16?
    var arrivedAt: Date?
    var priority: Priority?
    var station: String??
    var injuries: [String]?

    enum CodingKeys: CodingKey { case name, age, arrivedAt, priority, station, injuries }

    init(from decoder: any Decoder) throws {
        let keys = try decoder.container(keyedBy: CodingKeys.self)
        name = try keys.decodeIfPresent(String.self, forKey: .name)
        age = try keys.decodeIfPresent(Int16.self, forKey: .age)
        arrivedAt = try keys.decodeIfPresent(Date.self, forKey: .arrivedAt)
        priority = try keys.decodeIfPresent(Priority.self, forKey: .priority)
        station = keys.contains(.station) ? .some(try keys.decodeIfPresent(String.self, forKey: .station)) : .none
        injuries = try keys.decodeIfPresent([String].self, forKey: .injuries)
    }
}

extension Casualty {
    /// What lists say of casualties. They are written straight from what was read.
    static func form(with relations: CasualtyAnswer.Relations) -> EncodingForm<Casualty> {
        relations == .all ? whole : relations == [] ? bare : bare.with(relations)
    }

    private static let bare = EncodingForm<Casualty>(\.id, \.name, \.age, \.arrivedAt, \.priority)
    private static let whole = bare.with(.all)

    /// - Throws: 404 if there is none.
    static func with(id: UUID, in context: NSManagedObjectContext) throws -> Casualty {
        guard let casualty = try first(where: \Casualty.id == id, in: context) else {
            throw Problem(.notFound, "There is no casualty \(id).")
        }
        return casualty
    }

    func apply(_ changes: CasualtyChanges, _ related: CasualtyChanges.Related) {
        if let name = changes.name { self.name = name }
        if let age = changes.age { self.age = age }
        if let arrivedAt = changes.arrivedAt { self.arrivedAt = arrivedAt }
        if let priority = changes.priority { self.priority = priority }
        if let station = related.station { self.station = station }
        if let injuries = related.injuries { self.injuries = injuries }
    }
}

extension EncodingForm<Casualty> {
    fileprivate func with(_ relations: CasualtyAnswer.Relations) -> Self {
        var form = self
        if relations.contains(.station) { form = form.adding(\.station?.code, as: "station") }
        if relations.contains(.injuries) { form = form.listing(\.injuries, \.name, sortedBy: [SortDescriptor(\.name)]) }
        return form
    }
}

extension CasualtyChanges {
    /// What a client names, as objects; nil for what is not to be changed.
    struct Related {
        var station: Station??
        var injuries: Set<Injury>?
    }

    /// Asked for before anything is changed: a fetch beside unsaved changes has to look at these as well.
    ///
    /// - Throws: 422 for a station or an injury that there is not.
    func related(in context: NSManagedObjectContext) throws -> Related {
        try Related(
            station: station.map { code in try code.map { try Station.named($0, in: context) } },
            injuries: injuries.map { try Injury.named(Set($0), in: context) })
    }
}

extension Station {
    fileprivate static func named(_ code: String, in context: NSManagedObjectContext) throws -> Station {
        guard let station = try first(where: \Station.code == code, in: context) else {
            throw Problem(.unprocessableContent, "There is no station \(code).", keys: ["station"])
        }
        return station
    }
}

extension Injury {
    fileprivate static func named(_ names: Set<String>, in context: NSManagedObjectContext) throws -> Set<Injury> {
        let injuries = try find(in: context) { $0.name.isIn(names) }
        let unknown = names.subtracting(injuries.map(\.name))
        guard unknown.isEmpty else {
            throw Problem(.unprocessableContent, "There is no injury \(unknown.sorted().joined(separator: ", ")).", keys: ["injuries"])
        }
        return Set(injuries)
    }
}
