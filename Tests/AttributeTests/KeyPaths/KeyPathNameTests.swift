// Names of Swift key paths: what they are, and which key paths have none.

import CoreDataFoundation
import struct CoreDataValues.PredicateError
import CoreDataTestSupport
import CoreDataValues
import Foundation
import Synchronization
import Testing

@testable import CoreData

final class Ghost: NSManagedObject {
    static let alive = Atomic<Int>(0)
    override init(entity: NSEntityDescription, insertInto context: NSManagedObjectContext?) {
        super.init(entity: entity, insertInto: context)
        Ghost.alive.add(1, ordering: .relaxed)
        if name == nil { setValue("unnamed", forKey: "name") }
    }
    deinit { Ghost.alive.subtract(1, ordering: .relaxed) }
    var name: String? { value(forKey: "name") as? String }
    var other: Ghost? { value(forKey: "other") as? Ghost }
    var others: Set<Ghost> { value(forKey: "others") as? Set<Ghost> ?? [] }
}

@Suite("Names of Swift key paths") struct KeyPathNameTests {
    private func key<Value>(_ keyPath: KeyPath<Person, Value>) -> String? {
        NSSortDescriptor(keyPath: keyPath, ascending: true).key
    }

    @Test("A key path that hands on what one key holds has that key for its name, however the getter reads it")
    func names() throws {
        let stack = try Folk.stack()
        let named: [(AnyKeyPath, String)] = [
            (\Person.age, "age"), (\Person.born, "born"), (\Person.bornAt, "born"), (\Person.bits, "bits"),
            (\Person.fee, "fee"),
            (\Person.name, "name"), (\Person.name!, "name"), (\Person.firmName, "name"), (\Person.nickname, "nickname"),
            (\Person.nickname!, "nickname"), (\Person.isAwake, "isAwake"), (\Person.score, "score"),
            (\Person.mood, "mood"),
            (\Person.rank, "rank"), (\Person.tags, "tags"),
            (\Person.page, "page"), (\Person.token, "token"), (\Person.father, "father"), (\Person.kids, "kids"),
            (\Person.kidSet, "kids"), (\Person.liveKids, "kids"), (\Person.pets, "pets"),
        ]
        for (keyPath, name) in named { #expect(try keyPath.dottedName() == name) }
        withExtendedLifetime(stack) {}
    }

    @Test("Key paths over to-ones, counts of to-manys, subscripts and appended key paths have names")
    func paths() throws {
        let stack = try Folk.stack()
        let appended: KeyPath<Person, String?> = (\Person.father!).appending(path: \.name)
        let optional = (\Person.father).appending(path: \.?.father?.name)
        let named: [(AnyKeyPath, String)] = [
            (\Person.father?.name, "father.name"), (\Person.father!.name!, "father.name"),
            (\Person.father?.father?.age, "father.father.age"),
            (\Person.fathersName, "father.name"), (appended, "father.name"), (optional, "father.father.name"),
            (\Person.kids.count, "kids.@count"), (\Person.kidSet?.count, "kids.@count"),
            (\Person.pets?.count, "pets.@count"),
            (\Person.father?.kids.count, "father.kids.@count"), (\Pet.owner?.name, "owner.name"),
            (\Person["name"], "name"),
            (\Person[path: "father.name"], "father.name"), (\Person[path: "kids.@count"], "kids.@count"),
        ]
        for (keyPath, name) in named { #expect(try keyPath.dottedName() == name) }
        withExtendedLifetime(stack) {}
    }

    private func generic<T: Person>(_: T.Type) -> [KeyPath<T, String?>] { [\T.name, \.father?.name] }

    @Test("Inherited and overridden properties, and key paths made in generic code, have the keys of their root")
    func inherited() throws {
        let stack = try Folk.stack()
        #expect(try (\Worker.age).dottedName() == "age")
        #expect(try (\Worker.name).dottedName() == "name")
        #expect(try (\Worker.wage).dottedName() == "wage")
        #expect(try (\Worker.isAwake).dottedName() == "onDuty")
        #expect(try generic(Person.self).map { try $0.dottedName() } == ["name", "father.name"])
        #expect(try generic(Worker.self).map { try $0.dottedName() } == ["name", "father.name"])
        withExtendedLifetime(stack) {}
    }

    @Test("A getter that computes, chooses or stores has no name, and the sentence names the keys that it asked for")
    func computed() throws {
        let stack = try Folk.stack()
        let unnamed: [(AnyKeyPath, [String])] = [
            (\Person.isAdult, ["age"]), (\Person.name?.count, ["name"]), (\Person.display, ["nickname", "name"]),
            (\Person.either, ["isAwake", "name"]), (\Person.loud, ["name"]), (\Person.plain, ["name"]),
            (\Person.isAsleep, ["isAwake"]),
            (\Person.capped, ["age"]), (\Person.stranger, ["stranger"]), (\Person.oldestKid, ["kids", "age"]),
            (\Person.forefather, ["father"]),
            (\Person.kids.isEmpty, ["kids"]), (\Person.kids.first, ["kids"]), (\Person.rank?.rawValue, ["rank"]),
            (\Person.stored, []), (\Person.self, []),
            (\Person.isDeleted, []), (\Person["stranger"], ["stranger"]), (\String.count, []),
        ]
        for (keyPath, seen) in unnamed {
            let error = #expect(throws: PredicateError.self) { try keyPath.dottedName() }
            for key in seen { #expect(error?.sentence.contains(key) == true, "\(error?.sentence ?? "")") }
            if seen.isEmpty, !(keyPath is KeyPath<String, Int>) {
                #expect(error?.sentence.contains("no property") == true)
            }
        }
        #expect(key(\.isAdult) == nil && NSSortDescriptor(keyPath: \Person.display, ascending: true).key == nil)
        withExtendedLifetime(stack) {}
    }

    @Test("Without a model that has an entity of the class there is no name yet")
    func early() throws {
        final class Orphan: NSManagedObject { var name: String? { value(forKey: "name") as? String } }
        let descriptor = NSSortDescriptor(keyPath: \Orphan.name, ascending: true)
        #expect(descriptor.key == nil)
        var draft = Folk.draft()
        draft.entities[2].name = "Orphan"
        draft.entities[2].className = "Orphan"
        for entity in draft.entities.indices {
            for place in draft.entities[entity].relationships.indices
            where draft.entities[entity].relationships[place].destinationName == "Pet" {
                draft.entities[entity].relationships[place].destinationName = "Orphan"
            }
        }
        let stack = try Stack(model: NSManagedObjectModel(draft: draft))
        #expect(descriptor.key == "name")
        withExtendedLifetime(stack) {}
    }

    @Test("Finding a name leaves no object behind, and its initialiser may read and write")
    func traceless() throws {
        var ghost = EntityDraft(name: "Ghost")
        ghost.className = "AttributeTests.Ghost"
        ghost.attributes = [Clinic.attribute("name", .string)]
        ghost.relationships = [
            Clinic.toOne("other", "Ghost", inverse: "others"), Clinic.toMany("others", "Ghost", inverse: "other"),
        ]
        let stack = try Stack(model: NSManagedObjectModel(ghost))
        #expect(try (\Ghost.other?.other?.name).dottedName() == "other.other.name")
        #expect(try (\Ghost.other?.others.count).dottedName() == "other.others.@count")
        #expect(throws: PredicateError.self) { try (\Ghost.name?.count).dottedName() }
        #expect(Ghost.alive.load(ordering: .relaxed) == 0)
        withExtendedLifetime(stack) {}
    }

    @Test("Eight threads that ask for names at once get the right ones")
    func threads() throws {
        let stack = try Folk.stack()
        for round in 0..<40 {
            DispatchQueue.concurrentPerform(iterations: 8) { thread in
                // New key paths in every round, which nobody has asked for.
                let own = "name", shared = "age"
                for place in 0..<8 {
                    let keyPath: AnyKeyPath =
                        switch (thread + place) % 4 {
                        case 0: \Person[path: String(repeating: "father.", count: round % 5) + own]
                        case 1: \Person[path: String(repeating: "father.", count: round % 7) + shared]
                        case 2: \Person.father?.name
                        default: \Person.isAdult
                        }
                    let expected: String? =
                        switch (thread + place) % 4 {
                        case 0: String(repeating: "father.", count: round % 5) + own
                        case 1: String(repeating: "father.", count: round % 7) + shared
                        case 2: "father.name"
                        default: nil
                        }
                    #expect((try? keyPath.dottedName()) == expected)
                }
            }
        }
        withExtendedLifetime(stack) {}
    }
}
