// A model for a predicate that comes without one: what its key paths and constants ask for.

import CoreDataTestSupport
import CoreDataValues
import Foundation

/// What no model can be guessed for.
struct Unguessable: Error {
    let why: String
    init(_ why: String) { self.why = why }
}

enum GuessedKind: String {
    case number, real, flag, text, date

    var type: AttributeType {
        switch self {
        case .number: .integer64
        case .real: .double
        case .flag: .boolean
        case .text: .string
        case .date: .date
        }
    }

    init?(_ value: Value) {
        switch value {
        case .int: self = .number
        case .double, .decimal: self = .real
        case .bool: self = .flag
        case .text: self = .text
        case .date: self = .date
        case .null, .data, .uuid, .uri, .key: return nil
        }
    }

    /// What holds the values of both.
    func joined(_ other: GuessedKind) -> GuessedKind {
        switch (self, other) {
        case (.flag, .number), (.number, .flag): .number
        case (.real, .number), (.number, .real), (.flag, .real), (.real, .flag): .real
        default: self
        }
    }
}

/// One entity, as far as key paths tell.
final class GuessedEntity {
    var attributes: [String: GuessedKind?] = [:]
    var toOnes: [String: GuessedEntity] = [:]
    var toManys: [String: GuessedEntity] = [:]
    /// Constants that its attributes are compared with.
    var pools: [String: [Value]] = [:]

    /// The same for texts that can share a model.
    var signature: String {
        let own = attributes.map { "\($0.key):\(($0.value ?? .text).rawValue)" }.sorted()
        let one = toOnes.map { "\($0.key)>(\($0.value.signature))" }.sorted()
        let many = toManys.map { "\($0.key)>>(\($0.value.signature))" }.sorted()
        return (own + one + many).joined(separator: ",")
    }

    func addPools(of other: GuessedEntity) {
        for (key, values) in other.pools { pools[key, default: []] += values }
        for (key, target) in other.toOnes { toOnes[key]?.addPools(of: target) }
        for (key, target) in other.toManys { toManys[key]?.addPools(of: target) }
    }

    func kind(_ key: String) -> GuessedKind { (attributes[key] ?? nil) ?? .text }

    // MARK: Finding

    func note(_ key: String, _ kind: GuessedKind?) throws {
        guard toManys[key] == nil, toOnes[key] == nil else { throw Unguessable("an object or its members as a whole") }
        guard !GuessedEntity.taken.contains(key), key.allSatisfy({ $0.isLetter || $0.isNumber || $0 == "_" }) else {
            throw Unguessable("a key that no property may have")
        }
        let known = attributes[key] ?? nil
        attributes[key] = .some(known.map { old in kind.map { old.joined($0) } ?? old } ?? kind)
    }

    private static let taken: Set<String> = [
        "objectID", "entity", "self", "SELF", "description", "hash", "class", "superclass", "isDeleted", "isInserted",
    ]

    func follow(_ key: String, many: Bool) throws -> GuessedEntity {
        guard attributes[key] == nil, !GuessedEntity.taken.contains(key),
            key.allSatisfy({ $0.isLetter || $0.isNumber || $0 == "_" })
        else {
            throw Unguessable("a key that is an attribute and a relationship")
        }
        if let known = toManys[key] { return known }
        if let known = toOnes[key] {
            if many { throw Unguessable("a relationship to one and to many") }
            return known
        }
        let target = GuessedEntity()
        if many { toManys[key] = target } else { toOnes[key] = target }
        return target
    }

    // MARK: Making

    /// The model, with the entity as “Root”.
    func draft() -> SchemaDraft {
        var draft = SchemaDraft()
        var count = 0
        add("Root", to: &draft, &count)
        return draft
    }

    @discardableResult
    private func add(_ name: String, to draft: inout SchemaDraft, _ count: inout Int) -> Int {
        var entity = EntityDraft(name: name)
        entity.attributes = [Clinic.attribute("zSerial", .integer64), Clinic.attribute("zTouch", .integer64)]
        entity.attributes += attributes.keys.sorted().map { Clinic.attribute($0, kind($0).type) }
        let place = draft.entities.count
        draft.entities.append(entity)
        for (key, target, isMany) in targets {
            count += 1
            let (destination, back) = ("Entity\(count)", "zBack\(count)")
            let other = target.add(destination, to: &draft, &count)
            draft.entities[place].relationships.append(
                isMany ? Clinic.toMany(key, destination, inverse: back) : Clinic.toOne(key, destination, inverse: back))
            draft.entities[other].relationships.append(Clinic.toMany(back, name, inverse: key))
        }
        return place
    }

    /// In the order in which entities are numbered.
    var targets: [(key: String, target: GuessedEntity, isMany: Bool)] {
        (toOnes.map { ($0.key, $0.value, false) } + toManys.map { ($0.key, $0.value, true) }).sorted { $0.0 < $1.0 }
    }
}
