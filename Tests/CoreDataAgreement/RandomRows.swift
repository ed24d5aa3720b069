// Rows of any model at random.

import CoreDataSeeds
import CoreDataTestSupport
import CoreDataValues
import Foundation

import CoreData

/// Fills a context; the same model and seed give the same graph.
struct RandomRows {
    private let context: NSManagedObjectContext
    private var random: SplitMix
    private var serial = 0
    private var objects: [String: [NSManagedObject]] = [:]

    static func fill(_ context: NSManagedObjectContext, seed: UInt64) {
        guard let model = context.persistentStoreCoordinator?.managedObjectModel else { return }
        var rows = RandomRows(context: context, random: SplitMix(seed &+ 77))
        rows.fill(model)
    }

    private init(context: NSManagedObjectContext, random: SplitMix) { (self.context, self.random) = (context, random) }

    private mutating func below(_ limit: Int) -> Int { random.below(limit) }
    private mutating func pick<T>(_ all: [T]) -> T { all[random.below(all.count)] }

    /// The last ones lie in files, where an attribute allows it.
    static let bytes: [Data] = [
        Data(), Data([0]), Data([0, 1]), Data([1]), Data([255]), Data("a".utf8), Data(repeating: 1, count: 103_000),
        Data(repeating: 2, count: 110_000),
    ]
    /// Values of transformable attributes.
    static let words: [[String]] = [["a"], ["a", "b"], ["b", "a"], [], ["é"], ["\u{0}"], ["a"]]
    private static let decimals = ["0.5", "0.25", "1.25", "-3", "100.5", "0"].map { NSDecimalNumber(string: $0) }
    private static let doubles = [0.25, 0.5, 0.75, -0.5, 4096, 1, 2, -4096, 1.25, 3.5, 0, -1]
    private static let floats: [Float] = [0.1, 0.2, 1.5, -2, 1]
    private static let wide = [Int.max, Int.min, 1 << 53, (1 << 53) + 1, 0, 1, 2]

    private mutating func value(_ attribute: NSAttributeDescription) -> Any? {
        if attribute.isOptional, below(5) == 0 { return nil }
        if let composite = attribute as? NSCompositeAttributeDescription {
            var values: [String: Any] = [:]
            for element in composite.elements { values[element.name] = value(element) }
            return values
        }
        switch attribute.attributeType {
        case .integer16AttributeType, .integer32AttributeType: return below(7) - 3
        case .integer64AttributeType: return below(2) == 0 ? below(7) - 3 : pick(Self.wide)
        case .booleanAttributeType: return below(2) == 0
        case .doubleAttributeType: return pick(Self.doubles)
        case .floatAttributeType: return pick(Self.floats)
        case .decimalAttributeType: return pick(Self.decimals)
        case .dateAttributeType: return Date(timeIntervalSinceReferenceDate: Double(below(9) - 4) / 4)
        case .stringAttributeType: return pick(Library.texts)
        case .UUIDAttributeType: return Library.uuid(below(4))
        case .URIAttributeType: return Library.url(below(4))
        case .binaryDataAttributeType: return pick(Self.bytes)
        case .transformableAttributeType: return pick(Self.words)
        default: return nil
        }
    }

    private mutating func fill(_ model: NSManagedObjectModel) {
        for family in model.entities.filter({ $0.superentity == nil }).sorted(by: { ($0.name ?? "") < ($1.name ?? "") })
        {
            let concrete = model.entities.filter { $0.isKindOf(entity: family) && !$0.isAbstract }.sorted {
                ($0.name ?? "") < ($1.name ?? "")
            }
            for number in 0..<(family.name == "Root" ? 36 : 12) { make(concrete[number % concrete.count]) }
        }
        for entity in model.entities.sorted(by: { ($0.name ?? "") < ($1.name ?? "") }) {
            for (key, relationship) in entity.relationshipsByName.sorted(by: { $0.key < $1.key })
            where relationship.entity === entity {
                relate(entity, key, relationship)
            }
        }
    }

    private mutating func make(_ entity: NSEntityDescription) {
        serial += 1
        let object = NSManagedObject(entity: entity, insertInto: context)
        for (key, attribute) in entity.attributesByName.sorted(by: { $0.key < $1.key }) where key != "touch" {
            object.setValue(key == "serial" ? serial : value(attribute), forKey: key)
        }
        var line: NSEntityDescription? = entity
        while let next = line {
            objects[next.name ?? "", default: []].append(object)
            line = next.superentity
        }
    }

    /// One side of each pair: a to-many whose inverse is a to-one is filled from there.
    private mutating func relate(
        _ entity: NSEntityDescription, _ key: String, _ relationship: NSRelationshipDescription
    ) {
        if let inverse = relationship.inverseRelationship {
            if relationship.isToMany, !inverse.isToMany, !relationship.isOrdered { return }
            if relationship.isToMany == inverse.isToMany, key.hasSuffix("Back") { return }
            if !relationship.isToMany, inverse.isToMany, inverse.isOrdered { return }
        }
        let others = objects[relationship.destinationEntity?.name ?? ""] ?? []
        guard !others.isEmpty else { return }
        for object in objects[entity.name ?? ""] ?? [] {
            guard relationship.isToMany else {
                if below(5) > 0 { object.setValue(pick(others), forKey: key) }
                continue
            }
            let members = (0..<below(4)).map { _ in pick(others) }
            object.setValue(relationship.isOrdered ? NSOrderedSet(array: members) : NSSet(array: members), forKey: key)
        }
    }
}
