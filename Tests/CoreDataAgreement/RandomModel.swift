// Models at random: entities and their sub-entities, attributes of all types, relationships of all kinds.

import CoreDataSeeds
import CoreDataTestSupport
import CoreDataValues
import Foundation

import CoreData

/// Makes a model whose predicates ask the entity “Root”; the same seed gives the same one.
struct RandomModel {
    private var random: SplitMix
    private var draft = SchemaDraft()
    private var number = 0

    static func world(seed: UInt64) -> PredicateWorld {
        SaltedWords.register()
        var model = RandomModel(seed)
        model.make()
        let made = NSManagedObjectModel(draft: model.draft)
        return PredicateWorld(model: made, root: "Root") { RandomRows.fill($0, seed: seed) }
    }

    private init(_ seed: UInt64) { random = SplitMix(seed) }

    /// Words of SQL, of the format language and of tables.
    private static let names = [
        "order", "group", "select", "where", "limit", "value", "key", "table", "like", "in", "all", "not", "any",
        "first", "size", "count", "Z_PK",
        "_a", "b1", "name", "from", "null", "true", "between", "self1", "z",
    ]
    private static let types: [AttributeType] = [
        .integer16, .integer32, .integer64, .boolean, .double, .float, .decimal, .date, .string, .uuid, .uri, .binary,
        .string, .integer32,
    ]

    private mutating func below(_ limit: Int) -> Int { random.below(limit) }
    private mutating func pick<T>(_ all: [T]) -> T { all[random.below(all.count)] }

    private mutating func make() {
        var place = Composite(name: "Place", attributes: [])
        place.attributes = [
            Clinic.attribute("lat", .double), Clinic.attribute("label", .string), Clinic.attribute("floor", .integer16),
        ]
        draft.composites = [place]
        var bases = ["Root", "Second", "Third"]
        if below(2) == 0 { bases.append("Fourth") }
        for name in bases { draft.entities.append(entity(name, below: nil)) }
        draft.entities.append(entity("RootBelow", below: "Root"))
        if below(2) == 0 { draft.entities.append(entity("RootDeep", below: "RootBelow")) }
        if below(2) == 0 { draft.entities.append(entity("SecondBelow", below: "Second")) }
        if below(4) == 0 { draft.entities[0].isAbstract = true }
        let all = draft.entities.map(\.name)
        for name in bases { relate(name, pick(bases), isToMany: true) }
        for _ in 0..<2 + below(3) { relate(pick(bases), pick(all), isToMany: below(2) == 0) }
        relate("Root", pick(all), isToMany: false)
    }

    private mutating func entity(_ name: String, below parent: String?) -> EntityDraft {
        var entity = EntityDraft(name, parent: parent)
        // What an entity inherits has other names.
        var free = Self.names.map { parent == nil ? $0 : $0 + name }
        if parent == nil {
            entity.attributes = [Clinic.attribute("serial", .integer64), Clinic.attribute("touch", .integer32)]
            entity.attributes += [
                Clinic.attribute("number", pick([.integer16, .integer32, .double])), Clinic.attribute("text", .string),
            ]
            entity.indexes = [FetchIndex(name: "byText", elements: [FetchIndex.Element(property: "text")])]
        }
        for _ in 0..<2 + below(5) {
            let key = free.remove(at: below(free.count))
            var attribute = Clinic.attribute(key, pick(Self.types), optional: below(4) > 0)
            attribute.allowsExternalBinaryDataStorage = attribute.type == .binary && below(2) == 0
            entity.attributes.append(attribute)
            if below(3) == 0 {
                entity.indexes.append(FetchIndex(name: "by" + key, elements: [FetchIndex.Element(property: key)]))
            }
        }
        if below(3) == 0 {
            entity.attributes.append(
                Clinic.transformable(
                    parent == nil ? "words" : "words" + name, pick([nil, "AgreementWords", "AgreementSalted"])))
        }
        if below(3) == 0 {
            entity.attributes.append(Clinic.composite(parent == nil ? "place" : "place" + name, "Place"))
        }
        return entity
    }

    private mutating func relate(_ source: String, _ destination: String, isToMany: Bool) {
        number += 1
        let (key, back) = ("r\(number)", "r\(number)Back")
        let isInverted = isToMany || below(4) > 0
        let isBackToMany = below(2) == 0
        let one = Clinic.toOne(key, destination, inverse: isInverted ? back : nil)
        add(isToMany ? Clinic.toMany(key, destination, inverse: back, ordered: below(3) == 0) : one, to: source)
        guard isInverted else { return }
        add(
            isBackToMany
                ? Clinic.toMany(back, source, inverse: key, ordered: below(3) == 0)
                : Clinic.toOne(back, source, inverse: key),
            to: destination)
    }

    private mutating func add(_ relationship: Relationship, to name: String) {
        for place in draft.entities.indices where draft.entities[place].name == name {
            draft.entities[place].relationships.append(relationship)
        }
    }
}
