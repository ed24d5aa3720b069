// The model of tests of typed queries: ships with their masters and cargo, and a few of each.

import CoreDataTestSupport
import CoreDataValues
import Foundation
import Testing

@testable import CoreData

enum Flag: Int16, Codable { case white = 1, red, black }
enum Rig: String, Codable { case sloop, brig, barque }

class Ship: NSManagedObject {
    var name: String {
        get { value(forKey: "name") as? String ?? "" }
        set { setValue(newValue, forKey: "name") }
    }
    var nick: String? { value(forKey: "nick") as? String }
    /// A getter with an answer of its own for nil.
    var bell: Int64 { value(forKey: "bell") as? Int64 ?? -1 }
    var crewOf32: Int32 { value(forKey: "crew") as? Int32 ?? 0 }
    var crew: Int { value(forKey: "crew") as? Int ?? 0 }
    var guns: Int? { value(forKey: "guns") as? Int }
    var length: Double { value(forKey: "length") as? Double ?? 0 }
    var isAfloat: Bool { value(forKey: "isAfloat") as? Bool ?? false }
    var isLit: Bool? { value(forKey: "isLit") as? Bool }
    var launched: Date? { value(forKey: "launched") as? Date }
    var tag: UUID? { value(forKey: "tag") as? UUID }
    var flag: Flag { (value(forKey: "flag") as? Int16).flatMap { Flag(rawValue: $0) } ?? .white }
    var rig: Rig? { (value(forKey: "rig") as? String).flatMap { Rig(rawValue: $0) } }
    var master: Sailor? { value(forKey: "master") as? Sailor }
    var cargo: Set<Cask> { value(forKey: "cargo") as? Set<Cask> ?? [] }
    var moorings: [Mooring] { (value(forKey: "moorings") as? NSOrderedSet)?.array as? [Mooring] ?? [] }
    /// Computed: it has no name.
    var loud: String { name.uppercased() }
}

final class Steamer: Ship {
    var boilers: Int { value(forKey: "boilers") as? Int ?? 0 }
}

final class Sailor: NSManagedObject {
    var name: String { value(forKey: "name") as? String ?? "" }
    var age: Int? { value(forKey: "age") as? Int }
    var chief: Sailor? { value(forKey: "chief") as? Sailor }
    var ships: Set<Ship> { value(forKey: "ships") as? Set<Ship> ?? [] }
}

final class Cask: NSManagedObject {
    var label: String { value(forKey: "label") as? String ?? "" }
    var weight: Double { value(forKey: "weight") as? Double ?? 0 }
    var owner: Sailor? { value(forKey: "owner") as? Sailor }
}

final class Mooring: NSManagedObject {
    var port: String { value(forKey: "port") as? String ?? "" }
}

enum Harbour {
    static func model() -> NSManagedObjectModel {
        var ship = EntityDraft(name: "Ship")
        ship.className = "Ship"
        ship.attributes = [
            Clinic.attribute("name", .string), Clinic.attribute("nick", .string), Clinic.attribute("crew", .integer32),
            Clinic.attribute("guns", .integer16), Clinic.attribute("length", .double),
            Clinic.attribute("isAfloat", .boolean), Clinic.attribute("isLit", .boolean),
            Clinic.attribute("launched", .date), Clinic.attribute("tag", .uuid),
            Clinic.attribute("flag", .integer16), Clinic.attribute("rig", .string),
            Clinic.attribute("bell", .integer64),
        ]
        ship.relationships = [
            Clinic.toOne("master", "Sailor", inverse: "ships"), Clinic.toMany("cargo", "Cask", inverse: "ship"),
            Clinic.toMany("moorings", "Mooring", inverse: "ships", ordered: true),
        ]
        var steamer = EntityDraft(name: "Steamer")
        steamer.className = "Steamer"
        steamer.parentName = "Ship"
        steamer.attributes = [Clinic.attribute("boilers", .integer16)]
        var sailor = EntityDraft(name: "Sailor")
        sailor.className = "Sailor"
        sailor.attributes = [Clinic.attribute("name", .string), Clinic.attribute("age", .integer16)]
        sailor.relationships = [
            Clinic.toMany("ships", "Ship", inverse: "master"), Clinic.toOne("chief", "Sailor", inverse: "mates"),
            Clinic.toMany("mates", "Sailor", inverse: "chief"), Clinic.toMany("goods", "Cask", inverse: "owner"),
        ]
        var cask = EntityDraft(name: "Cask")
        cask.className = "Cask"
        cask.attributes = [Clinic.attribute("label", .string), Clinic.attribute("weight", .double)]
        cask.relationships = [
            Clinic.toOne("ship", "Ship", inverse: "cargo"), Clinic.toOne("owner", "Sailor", inverse: "goods"),
        ]
        var stop = EntityDraft(name: "Mooring")
        stop.className = "Mooring"
        stop.attributes = [Clinic.attribute("port", .string)]
        stop.relationships = [Clinic.toMany("ships", "Ship", inverse: "moorings")]
        return NSManagedObjectModel(ship, steamer, sailor, cask, stop)
    }

    static let tags = (0..<4).map { UUID(uuid: (UInt8($0), 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)) }
    static let types = [NSSQLiteStoreType, NSInMemoryStoreType]

    /// A store with twelve ships, of which nothing is held.
    static func stack(_ type: String) throws -> Stack {
        let stack = try Stack(type, model: model(), undo: false)
        let context = stack.context
        let chief = context.make("Sailor", ["name": "Åsa", "age": 61])
        let mate = context.make("Sailor", ["name": "Bo", "age": 30, "chief": chief])
        let boy = context.make("Sailor", ["name": "", "chief": mate])
        let ports = ["Oslo", "Bergen", "Turku"].map { context.make("Mooring", ["port": $0]) }
        let names = ["Ada", "ADA", "Bella", "Ångström", "", "Zoë", "delta", "Adamant", "Echo", "50% off", "a_b", "axb"]
        for (place, name) in names.enumerated() {
            let ship = context.make(
                place % 3 == 2 ? "Steamer" : "Ship", ["name": name, "crew": place - 2, "length": Double(place) / 4])
            ship.setValue(Int16(place % 3 + 1), forKey: "flag")
            ship.setValue(place % 2 == 0, forKey: "isAfloat")
            if place % 3 != 0 { ship.setValue(place % 2 == 1, forKey: "isLit") }
            if place % 4 != 1 { ship.setValue(place * 3, forKey: "guns") }
            if place % 2 == 1 { ship.setValue(["Old \(name)", "", "Ada"][place % 3], forKey: "nick") }
            if place % 5 != 0 {
                ship.setValue(Date(timeIntervalSinceReferenceDate: Double(place) * 1000), forKey: "launched")
            }
            if place < 4 { ship.setValue(tags[place], forKey: "tag") }
            if place % 4 != 3 { ship.setValue(["sloop", "brig", "barque"][place % 3], forKey: "rig") }
            if place % 4 != 0 { ship.setValue([chief, mate, boy][place % 3], forKey: "master") }
            if place % 3 == 2 { ship.setValue(place % 4, forKey: "boilers") }
            for number in 0..<(place % 4) {
                let cask = context.make("Cask", ["label": "cask \(number)", "weight": Double(place * number)])
                cask.setValue(ship, forKey: "ship")
                if number != 1 { cask.setValue([chief, boy][number / 2], forKey: "owner") }
            }
            ship.setValue(NSOrderedSet(array: Array(ports.prefix(place % 3))), forKey: "moorings")
        }
        try context.save()
        context.reset()
        return stack
    }
}

extension NSManagedObjectContext {
    /// The crews of the ships that a fetch finds: each ship has another one.
    func crews(_ predicate: NSPredicate?) throws -> [Int] {
        let request = NSFetchRequest<Ship>(entityName: "Ship")
        request.predicate = predicate
        return try fetch(request).map(\.crew).sorted()
    }
}

extension Harbour {
    /// Asks every ship by Foundation's own evaluation and by the translated predicate, and both stores by a fetch.
    static func check(
        _ predicate: Foundation.Predicate<Ship>, finds wanted: String?, sourceLocation: Testing.SourceLocation
    ) throws {
        let translated = try #require(NSPredicate(predicate))
        for type in types {
            let stack = try stack(type)
            let ships = try stack.context.fetch(NSFetchRequest<Ship>(entityName: "Ship"))
            let right = try ships.filter { try predicate.evaluate($0) }.map(\.crew).sorted()
            let judged = ships.filter { translated.evaluate(with: $0) }.map(\.crew).sorted()
            let found = try stack.context.crews(translated)
            let format = translated.description
            #expect(found == right, "\(type): \(format)", sourceLocation: sourceLocation)
            #expect(judged == right, "objects: \(format)", sourceLocation: sourceLocation)
            #expect(
                !right.isEmpty && right.count < ships.count, "\(format) tells nothing", sourceLocation: sourceLocation)
        }
        let format = translated.description
        if let wanted { #expect(format == wanted, sourceLocation: sourceLocation) }
        let again = NSPredicate(format: format)
        #expect(again.description == format, sourceLocation: sourceLocation)
    }
}
