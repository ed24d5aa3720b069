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

/// What a client sets. An absent key leaves the property as it is, null takes its value away.
///
/// Nothing is judged here: what a casualty may be stands in the model, and a save names each key that breaks it. So numbers are read
/// whatever their size.
struct CasualtyChanges: Decodable, Sendable {
    var name: String?
    var age: Int?
    var arrivedAt: Date?
    var priority: Int?
    var station: String?
    var injuries: [String]?
    /// The keys that are null. Where the model wants a value, the save refuses them.
    var cleared: [String]

    enum CodingKeys: CodingKey { case id, name, age, arrivedAt, priority, station, injuries }

    init(from decoder: any Decoder) throws { try self.init(decoder.container(keyedBy: CodingKeys.self)) }

    init(_ keys: KeyedDecodingContainer<CodingKeys>) throws {
        name = try keys.decodeIfPresent(String.self, forKey: .name)
        age = try keys.decodeIfPresent(Int.self, forKey: .age)
        arrivedAt = try keys.decodeIfPresent(Date.self, forKey: .arrivedAt)
        priority = try keys.decodeIfPresent(Int.self, forKey: .priority)
        station = try keys.decodeIfPresent(String.self, forKey: .station)
        injuries = try keys.decodeIfPresent([String].self, forKey: .injuries)
        cleared = try keys.cleared
    }
}

extension KeyedDecodingContainer {
    /// The keys that are null.
    var cleared: [String] {
        get throws { try allKeys.filter { try decodeNil(forKey: $0) }.map { $0.stringValue } }
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

    /// - Throws: 422 for a station or an injury that there is not, and for what else the model refuses then.
    func apply(_ changes: CasualtyChanges, _ related: CasualtyChanges.Related) throws {
        if let name = changes.name { self.name = name }
        // What does not fit is beyond the model's bounds as well.
        if let age = changes.age { self.age = Int16(clamping: age) }
        if let arrivedAt = changes.arrivedAt { self.arrivedAt = arrivedAt }
        if let number = changes.priority { setPriority(Int16(clamping: number)) }
        if let station = related.station { self.station = station }
        if let injuries = related.injuries { self.injuries = injuries }
        for key in changes.cleared { setValue(nil, forKey: key) }
        if let unknown = related.unknown { throw unknown.joined(with: refusal) }
    }

    /// Changes a casualty that may be as it likes until it is saved, or nothing.
    ///
    /// - Throws: 422 for a station or an injury that there is not.
    func draft(_ changes: CasualtyChanges, _ related: CasualtyChanges.Related) throws {
        if let unknown = related.unknown { throw unknown }
        try apply(changes, related)
    }

    /// A number that is no priority is left for the model to refuse.
    private func setPriority(_ number: Int16) {
        if let priority = Priority(rawValue: number) {
            self.priority = priority
        } else {
            setValue(number, forKey: "priority")
        }
    }

    /// What the model says against the casualty as it is.
    private var refusal: Problem? {
        do {
            if isInserted { try validateForInsert() } else { try validateForUpdate() }
            return nil
        } catch { return (error as? CocoaError).flatMap(Problem.init) }
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
        var station: Station?
        var injuries: Set<Injury>?
        /// What there is not.
        fileprivate var unknown: Problem?
    }

    /// Asked for before anything is changed: a fetch beside unsaved changes has to look at these as well.
    func related(in context: NSManagedObjectContext) throws -> Related {
        var related = Related()
        if let code = station {
            related.station = try Station.first(where: \Station.code == code, in: context)
            if related.station == nil {
                related.unknown = Problem(.unprocessableContent, "There is no station \(code).", keys: ["station"])
            }
        }
        guard let injuries else { return related }
        let names = Set(injuries)
        // No two have one name; what is fetched with a limit in a block of write needs no connection beside the writer's.
        let found = try Injury.find(limit: names.count, in: context) { $0.name.isIn(names) }
        related.injuries = Set(found)
        let missing = names.subtracting(found.map(\.name))
        guard !missing.isEmpty else { return related }
        let problem = Problem(
            .unprocessableContent, "There is no injury \(missing.sorted().joined(separator: ", ")).", keys: ["injuries"]
        )
        related.unknown = related.unknown.map { $0.joined(with: problem) } ?? problem
        return related
    }
}
