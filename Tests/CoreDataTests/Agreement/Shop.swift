// The model and the rows that all ways of fetching must agree about.

import CoreDataSeeds
import CoreDataTestSupport
import CoreDataValues
import Foundation

@testable import CoreData

/// Item ▷ SpecialItem, Item ⇄ Person (to-one), Item ⇄ Label (many to many), Person ⇄ Person (boss).
enum Shop {
    /// Texts that differ by case, accents, normal forms, width and length.
    static let texts = [
        "", "a", "A", "ab", "Ab", "aB", "b", "\u{e9}", "e\u{301}", "\u{c9}", "e", "\u{df}", "SS", "ss",
        "\u{1f600}", "z\u{0}", "z",
        "\u{130}", "i", "I", "\u{131}", "\u{fb01}", "fi", "\u{ff21}", "a*b", "a?b", "%", "_", "a\\b", "10",
        "9", "\u{10ffff}",
    ]

    static func model() -> NSManagedObjectModel {
        var item = EntityDraft(name: "Item")
        item.attributes = [
            Clinic.attribute("serial", .integer64), Clinic.attribute("flag", .boolean),
            Clinic.attribute("small", .integer16), Clinic.attribute("big", .integer64),
            Clinic.attribute("number", .double), Clinic.attribute("ratio", .float),
            Clinic.attribute("day", .date),
            Clinic.attribute("label", .string), Clinic.attribute("title", .string),
            Clinic.attribute("link", .uri),
            Clinic.attribute("blob", .binary), Clinic.attribute("tag", .uuid),
            Clinic.attribute("price", .decimal),
        ]
        item.relationships = [
            Clinic.toOne("owner", "Person", inverse: "items"),
            Clinic.toMany("labels", "Label", inverse: "items"),
        ]
        let special = EntityDraft("SpecialItem", [Clinic.attribute("extra", .string)], parent: "Item")
        var person = EntityDraft(name: "Person")
        person.attributes = [
            Clinic.attribute("serial", .integer64), Clinic.attribute("name", .string),
            Clinic.attribute("age", .integer32),
        ]
        person.relationships = [
            Clinic.toMany("items", "Item", inverse: "owner"),
            Clinic.toOne("boss", "Person", inverse: "reports"),
            Clinic.toMany("reports", "Person", inverse: "boss"),
        ]
        var label = EntityDraft(name: "Label")
        label.attributes = [
            Clinic.attribute("serial", .integer64), Clinic.attribute("name", .string),
            Clinic.attribute("rank", .double),
        ]
        label.relationships = [Clinic.toMany("items", "Item", inverse: "labels")]
        return NSManagedObjectModel(item, special, person, label)
    }
}

/// Fills one context. Two of them with the same seed make the same objects, whatever their stores are.
struct ShopKeeper {
    let context: NSManagedObjectContext
    private var random: SplitMix
    private var serial = 0
    private(set) var objects: [String: [NSManagedObject]] = ["Item": [], "Person": [], "Label": []]

    init(_ context: NSManagedObjectContext, seed: UInt64) {
        self.context = context
        random = SplitMix(seed)
    }

    /// Every object that is not deleted, by its serial number.
    var bySerial: [Int: NSManagedObject] {
        Dictionary(uniqueKeysWithValues: objects.values.joined().map { (ShopKeeper.serial($0), $0) })
    }

    static func serial(_ object: NSManagedObject) -> Int { object.value(forKey: "serial") as? Int ?? -1 }

    mutating func insert(_ entity: String, _ count: Int) {
        for _ in 0..<count {
            serial += 1
            let isSpecial = entity == "Item" && serial % 3 == 0
            let object = context.make(isSpecial ? "SpecialItem" : entity, ["serial": serial])
            objects[entity, default: []].append(object)
            change(object)
        }
    }

    /// Gives about half of an object's properties new values, nil among them.
    mutating func change(_ object: NSManagedObject) {
        for (name, attribute) in object.entity.attributesByName.sorted(by: { $0.key < $1.key })
        where name != "serial" {
            if Bool.random(using: &random) { object.setValue(value(attribute.attributeType), forKey: name) }
        }
        for (name, relation) in object.entity.relationshipsByName.sorted(by: { $0.key < $1.key }) {
            guard name == "owner" || name == "labels" || name == "boss", Bool.random(using: &random) else {
                continue
            }
            let all = objects[relation.destinationEntity?.name ?? ""] ?? []
            if name == "labels" {
                object.setValue(
                    Set((0..<3).compactMap { _ in all.randomElement(using: &random) }), forKey: name)
            } else {
                object.setValue(all.randomElement(using: &random), forKey: name)
            }
        }
    }

    private mutating func value(_ type: NSAttributeType) -> Any? {
        let number = Int.random(in: -4...4, using: &random)
        switch type {
        case .booleanAttributeType: return number > 0
        case .integer16AttributeType, .integer32AttributeType: return number
        case .integer64AttributeType: return [Int.max, Int.min, (1 << 53) + 1, number, 1 << 53][abs(number)]
        case .doubleAttributeType: return [Double(number), 0.1, -0.5, 1e300, 0x1p53][abs(number)]
        case .floatAttributeType: return [Float(number), 0.1, 0.5, -2, 3][abs(number)]
        case .dateAttributeType: return Date(timeIntervalSinceReferenceDate: Double(number) / 2)
        case .stringAttributeType: return number == 0 ? nil : Shop.texts.randomElement(using: &random)
        case .URIAttributeType: return URL(string: "x:\(number)")
        case .binaryDataAttributeType:
            return Data([UInt8](repeating: UInt8(abs(number)), count: abs(number) % 3))
        case .UUIDAttributeType:
            return UUID(uuid: (UInt8(abs(number)), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
        case .decimalAttributeType:
            return NSDecimalNumber(string: ["0.1", "1.25", "-3", "2", "1000000"][abs(number)])
        default: return nil
        }
    }

    /// Changes, deletions and insertions, none of them saved.
    mutating func disturb() {
        for entity in ["Person", "Label", "Item"] {
            for object in objects[entity] ?? [] {
                switch Int.random(in: 0..<10, using: &random) {
                case 0:
                    context.delete(object)
                    objects[entity]?.removeAll { $0 === object }
                case 1...3: change(object)
                default: break
                }
            }
            insert(entity, 6)
        }
        context.processPendingChanges()
    }
}
