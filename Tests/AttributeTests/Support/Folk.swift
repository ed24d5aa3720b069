// The model of tests of key paths: classes with accessors of every kind, and properties that are computed of them.

import CoreDataTestSupport
import CoreDataValues
import Foundation

@testable import CoreData

enum Mood: String { case calm, glad, sad }
enum Rank: Int16, Comparable {
    case low = 40, middle = 50, high = 60
    static func < (a: Rank, b: Rank) -> Bool { a.rawValue < b.rawValue }
}

class Person: NSManagedObject {
    /// As generated classes read: by slot, through the names that `_managedKeys` gives.
    override class var _managedKeys: [String]? { ["age:int", "born:double", "bits:data", "fee:decimal"] }
    var age: Int64 {
        get { _int(0) }
        set { _setInt(0, newValue) }
    }
    var born: Date? { _date(1) }
    var bornAt: TimeInterval { _double(1) }
    var bits: Data? { _data(2) }
    var fee: Decimal? { _decimal(3) }

    var name: String? {
        get { value(forKey: "name") as? String }
        set { setValue(newValue, forKey: "name") }
    }
    var firmName: String { value(forKey: "name") as! String }
    /// As a custom accessor reads.
    var nickname: String! {
        willAccessValue(forKey: "nickname")
        defer { didAccessValue(forKey: "nickname") }
        return primitiveValue(forKey: "nickname") as? String
    }
    var isAwake: Bool { value(forKey: "isAwake") as? Bool ?? false }
    var score: Double { value(forKey: "score") as? Double ?? 0 }
    var mood: Mood { Mood(rawValue: value(forKey: "mood") as! String)! }
    var rank: Rank? { (value(forKey: "rank") as? Int16).flatMap { Rank(rawValue: $0) } }
    var tags: [String]? { value(forKey: "tags") as? [String] }
    var page: URL? { value(forKey: "page") as? URL }
    var token: UUID? { value(forKey: "token") as? UUID }
    var father: Person? { value(forKey: "father") as? Person }
    var kids: Set<Person> { value(forKey: "kids") as? Set<Person> ?? [] }
    var kidSet: NSSet? { value(forKey: "kids") as? NSSet }
    var liveKids: NSMutableSet { mutableSetValue(forKey: "kids") }
    var pets: NSOrderedSet? { value(forKey: "pets") as? NSOrderedSet }
    var fathersName: String? { value(forKeyPath: "father.name") as? String }

    subscript(path path: String) -> Any? { value(forKeyPath: path) }

    // Computed: none of these has a name.
    var isAdult: Bool { age >= 18 }
    var display: String? { nickname ?? name }
    var either: String? { isAwake ? name : nickname }
    var loud: String? { name?.uppercased() }
    var plain: String? { name?.trimmingCharacters(in: .whitespaces) }
    var isAsleep: Bool { !isAwake }
    var capped: Int64 { min(age, 100) }
    var stranger: String? { value(forKey: "stranger") as? String }
    var stored = "stored"
    var forefather: Person? {
        var known = father
        while let next = known?.father { known = next }
        return known
    }
    var oldestKid: Person? { kids.max { $0.age < $1.age } }

    override class var additionalKeys: [String: AnyKeyPath] {
        ["isGrown": \Person.isGrown, "greeting": \Person.greeting, "bestRank": \Person.bestRank]
    }
    var isGrown: Bool { age >= 21 }
    var greeting: String { "Hello \(name ?? "")" }
    var bestRank: Rank? { rank }
}

final class Worker: Person {
    var wage: Double { value(forKey: "wage") as? Double ?? 0 }
    override var name: String? {
        get { super.name }
        set { super.name = newValue }
    }
    override var isAwake: Bool { value(forKey: "onDuty") as? Bool ?? false }
    override class var additionalKeys: [String: AnyKeyPath] {
        super.additionalKeys.merging(["isRich": \Worker.isRich]) { $1 }
    }
    var isRich: Bool { wage > 100 }
}

final class Pet: NSManagedObject {
    var name: String? { value(forKey: "name") as? String }
    var owner: Person? { value(forKey: "owner") as? Person }
}

enum Folk {
    static func draft() -> SchemaDraft {
        var person = EntityDraft(name: "Person")
        person.className = "AttributeTests.Person"
        person.attributes = [
            Clinic.attribute("age", .integer64), Clinic.attribute("born", .date), Clinic.attribute("bits", .binary),
            Clinic.attribute("fee", .decimal), Clinic.attribute("name", .string), Clinic.attribute("nickname", .string),
            Clinic.attribute("isAwake", .boolean), Clinic.attribute("score", .double),
            Clinic.attribute("mood", .string),
            Clinic.attribute("rank", .integer16), Clinic.transformable("tags", "NSSecureUnarchiveFromData"),
            Clinic.attribute("page", .uri),
            Clinic.attribute("token", .uuid),
        ]
        person.relationships = [
            Clinic.toOne("father", "Person", inverse: "kids"), Clinic.toMany("kids", "Person", inverse: "father"),
            Clinic.toMany("pets", "Pet", inverse: "owner", ordered: true),
        ]
        var worker = EntityDraft(name: "Worker")
        worker.className = "AttributeTests.Worker"
        worker.parentName = "Person"
        worker.attributes = [Clinic.attribute("wage", .double), Clinic.attribute("onDuty", .boolean)]
        var pet = EntityDraft(name: "Pet")
        pet.className = "AttributeTests.Pet"
        pet.attributes = [Clinic.attribute("name", .string)]
        pet.relationships = [Clinic.toOne("owner", "Person", inverse: "pets")]
        return SchemaDraft(person, worker, pet)
    }

    static func stack(_ type: String = NSSQLiteStoreType) throws -> Stack {
        try Stack(type, model: NSManagedObjectModel(draft: draft()))
    }

    /// Three people, of whom the program holds none.
    static func people(_ stack: Stack) throws {
        try autoreleased {
            let rows: [(String, Int, Bool, Int16?)] = [
                ("Bea", 30, true, 60), ("Adam", 7, false, 40), ("Cleo", 20, true, nil),
            ]
            for (name, age, isAwake, rank) in rows {
                _ = stack.context.make(
                    "Person",
                    [
                        "name": name, "age": age, "isAwake": isAwake, "rank": rank as Any, "mood": "calm",
                        "score": Double(age),
                    ])
            }
            try stack.context.save()
            stack.context.reset()
        }
    }

    private static func autoreleased(_ body: () throws -> Void) rethrows { try body() }
}
