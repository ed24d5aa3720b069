// Random changes that often break the rules of the model. A naive reading of the rules tells which errors a save must give; one
// that is refused leaves everything as it was, and one that is not writes what was there.

import CoreDataSeeds
import CoreDataTestSupport
import CoreDataValues
import Foundation

@testable import CoreData

/// One run of a seed.
final class RefusalWalk {
    struct Failure: Error, CustomStringConvertible { let description: String }

    private let stack: Stack
    private let context: NSManagedObjectContext
    private var random: SplitMix
    private var objects: [NSManagedObject] = []
    private var trace: [String] = []
    private(set) var saves = 0
    private(set) var refusals = 0

    /// - Parameter isChild: whether the changes are made in a child context, whose parent saves what it was given.
    init(_ type: String, seed: UInt64, isChild: Bool) throws {
        stack = try Stack(type, model: RefusalWalk.model(), undo: !isChild)
        random = SplitMix(seed)
        guard isChild else {
            context = stack.context
            return
        }
        context = stack.context.child()
        context.undoManager = UndoManager()
    }

    func run(_ steps: Int) throws {
        for _ in 0..<steps {
            for _ in 0..<1 + random.below(3) { change() }
            context.processPendingChanges()
            if random.below(3) == 0 { try save() }
        }
    }

    // MARK: Changes

    private var present: [NSManagedObject] { objects.filter { $0.managedObjectContext != nil && !$0.isDeleted } }

    private func change() {
        guard random.below(4) > 0, let object = present.randomElement(using: &random) else { return make() }
        switch random.below(8) {
        case 0:
            trace.append("delete \(number(object))")
            context.delete(object)
        case 1: set(object, "name", nil)
        case 2: set(object, "name", ["", "abc", "abcdefgh", "xy", "zz"].randomElement(using: &random))
        case 3: set(object, "rank", [5, 7, 101, -1, 70000].randomElement(using: &random))
        default: relate(object)
        }
    }

    private func make() {
        let entity = random.below(3) == 0 ? "Part" : "Node"
        trace.append("make \(entity) \(objects.count)")
        let object = context.make(entity, ["n": objects.count, "name": "new"])
        if entity == "Part", random.below(4) > 0 { object.setValue(present.first, forKey: "whole") }
        objects.append(object)
    }

    private func set(_ object: NSManagedObject, _ key: String, _ value: Any?) {
        trace.append("\(number(object)).\(key) = \(value ?? "nil")")
        object.setValue(value, forKey: key)
    }

    private func relate(_ object: NSManagedObject) {
        let all = object.entity.relationshipsByName.values.sorted { $0.name < $1.name }
        guard let relationship = all.randomElement(using: &random), let destination = relationship.destinationEntity
        else { return }
        let targets = present.filter { $0.entity.isKindOf(entity: destination) }.shuffled(using: &random).prefix(
            random.below(5))
        trace.append("\(number(object)).\(relationship.name) = \(targets.map(number))")
        let value: Any? =
            if !relationship.isToMany {
                targets.first
            } else if relationship.isOrdered {
                NSOrderedSet(array: Array(targets))
            } else {
                NSSet(array: Array(targets))
            }
        object.setValue(value, forKey: relationship.name)
    }

    // MARK: Saves

    private func save() throws {
        trace.append("save")
        let expected = expectedErrors()
        let before = try Picture(context, rows: stack.another())
        do {
            try context.save()
        } catch {
            return try refused(error as NSError, expected, before)
        }
        saves += 1
        guard expected.isEmpty else { throw failure("was saved in spite of \(expected.sorted())") }
        if context !== stack.context { try stack.context.save() }
        let shown = try lines(context)
        guard try lines(stack.another()) == shown else {
            throw failure("the store holds something else than the context")
        }
    }

    private func lines(_ context: NSManagedObjectContext) throws -> [String] {
        try context.all("Node").map { object in
            let values = ["name", "rank"].map { "\(object.value(forKey: $0) ?? "nil")" }
            let related = object.entity.relationshipsByName.values.map { relationship in
                let numbers = object.objectIDs(forRelationshipNamed: relationship.name).map {
                    number(context.object(with: $0))
                }
                return "\(relationship.name) \(relationship.isOrdered ? numbers : numbers.sorted())"
            }
            return "\(number(object)) \(values) \(related.sorted())"
        }.sorted()
    }

    private func refused(_ error: NSError, _ expected: Set<String>, _ before: Picture) throws {
        refusals += 1
        let found = errors(error)
        guard found == expected else { throw failure("was refused for \(found.sorted()), not \(expected.sorted())") }
        guard (error.code == 1560) == (expected.count > 1) else {
            throw failure("has the code \(error.code) for \(expected.count) errors")
        }
        let differences = try Picture(context, rows: stack.another()).differences(from: before)
        guard differences.isEmpty else {
            throw failure("the refused save has changed\n" + differences.joined(separator: "\n"))
        }
        if random.below(2) == 0 {
            trace.append("rollback")
            context.rollback()
        }
    }

    /// Object, property and code of an error or of those that it holds.
    private func errors(_ error: NSError) -> Set<String> {
        if error.code == 1560 { return Set((error.userInfo[NSDetailedErrorsKey] as? [NSError] ?? []).flatMap(errors)) }
        let object = error.userInfo[NSValidationObjectErrorKey] as? NSManagedObject
        return [
            "\(object.map(number) ?? -1) \(error.userInfo[NSValidationKeyErrorKey] as? String ?? "-") \(error.code)"
        ]
    }

    private func expectedErrors() -> Set<String> {
        var expected: Set<String> = []
        for object in context.insertedObjects.union(context.updatedObjects) {
            for (key, code) in brokenRules(of: object) { expected.insert("\(number(object)) \(key) \(code)") }
        }
        for object in context.deletedObjects where object.many("badges").contains(where: { !$0.isDeleted }) {
            expected.insert("\(number(object)) badges 1600")
        }
        return expected
    }

    private func brokenRules(of object: NSManagedObject) -> [(key: String, code: Int)] {
        var broken: [(key: String, code: Int)] = []
        func check(_ key: String, _ code: Int, _ isBroken: Bool) { if isBroken { broken.append((key, code)) } }
        let length = (object.value(forKey: "name") as? String)?.count
        let rank = object.value(forKey: "rank") as? Int ?? 0
        let team = object.many("team").count
        check("name", 1570, length == nil)
        check("name", 1670, (length ?? 2) < 2)
        check("name", 1660, (length ?? 2) > 5)
        check("rank", 1620, rank < 0)
        check("rank", 1610, rank > 100)
        check("team", 1580, team == 1)
        check("team", 1590, team > 3)
        check("kids", 1590, object.many("kids").count > 3)
        check("links", 1590, object.many("links").count > 2)
        check("whole", 1570, object.entity.name == "Part" && object.one("whole") == nil)
        return broken
    }

    private func number(_ object: NSManagedObject) -> Int { object.value(forKey: "n") as? Int ?? -1 }

    private func failure(_ text: String) -> Failure {
        Failure(description: text + "\n" + trace.joined(separator: "\n"))
    }

    // MARK: The model

    /// Node.kids ⇄ boss (ordered, at most 3), team ⇄ captain (2 to 3, or none), links ⇄ backs (ordered, at most 2), badges ⇄
    /// wearer (deny), parts ⇄ Part.whole (cascade; required).
    private static func model() -> NSManagedObjectModel {
        var name = Clinic.attribute("name", .string, optional: false)
        (name.minimumLength, name.maximumLength) = (2, 5)
        var rank = Clinic.attribute("rank", .integer16)
        (rank.minimum, rank.maximum) = (.int(0), .int(100))
        var kids = Clinic.toMany("kids", "Node", inverse: "boss", ordered: true)
        kids.maxCount = 3
        var team = Clinic.toMany("team", "Node", inverse: "captain")
        (team.minCount, team.maxCount) = (2, 3)
        var links = Clinic.toMany("links", "Node", inverse: "backs", ordered: true)
        links.maxCount = 2
        var whole = Clinic.toOne("whole", "Node", inverse: "parts")
        whole.isOptional = false
        var node = EntityDraft(name: "Node")
        node.attributes = [Clinic.attribute("n", .integer32), name, rank]
        node.relationships = [
            kids, Clinic.toOne("boss", "Node", inverse: "kids"), team, Clinic.toOne("captain", "Node", inverse: "team"),
            links,
            Clinic.toMany("backs", "Node", inverse: "links"),
            Clinic.toMany("badges", "Node", inverse: "wearer", rule: .deny),
            Clinic.toOne("wearer", "Node", inverse: "badges"),
            Clinic.toMany("parts", "Part", inverse: "whole", rule: .cascade),
        ]
        let part = EntityDraft("Part", [], [whole], parent: "Node")
        return NSManagedObjectModel(node, part)
    }
}
