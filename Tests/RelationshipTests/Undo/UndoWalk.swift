// Random events, and random walks of undo and redo over them with saves in between. The context itself is the reference: what it
// showed after an event it must show again whenever a walk comes back there, and a save must write just that.

import CoreDataSeeds
import CoreDataTestSupport
import CoreDataValues
import Foundation

@testable import CoreData

/// One run of a seed.
final class UndoWalk {
    let stack: Stack
    private let undoManager = UndoManager()
    private var context: NSManagedObjectContext { stack.context }
    private var random: SplitMix
    /// Every object ever made, by number.
    private var objects: [Int: NSManagedObject] = [:]
    /// What the context showed after each undoable event; `pictures[undoManager.undoCount]` is the present.
    private var pictures: [[String]] = []
    private var at = 0
    private(set) var trace: [String] = []
    /// The relationships that most writes are to: others seldom meet.
    private var focus: Set<String> = []
    /// Whether delete rules wait for the save, which ends each event then.
    private let isLate: Bool

    init(_ type: String, seed: UInt64, isLate: Bool = false) throws {
        self.isLate = isLate
        stack = try Stack(type, model: UndoWalk.model(), undo: false)
        var source = SplitMix(seed)
        random = SplitMix(source.next())
        focus = Set(
            ["kids", "parent", "parts", "left", "friends", "list", "bag", "heirs", "spouse", "badge"].shuffled(
                using: &random
            ).prefix(3))
        for index in 0..<10 { make(index < 5 ? "Node" : "Leaf") }
        for _ in 0..<10 { write() }
        context.processPendingChanges()
        if random.below(2) == 0 { try context.save() }
        context.undoManager = undoManager
        context.propagatesDeletesAtEndOfEvent = !isLate
        pictures = [picture(context)]
    }

    func run(_ steps: Int) throws {
        for _ in 0..<steps {
            switch random.below(10) {
            case 0..<4: try event()
            case 4: if isLate { try event() } else { try group() }
            case 5, 6: try back(1 + random.below(3))
            case 7, 8: try forth(1 + random.below(3))
            default: try save()
            }
        }
        try back(at)
        try save()
        try forth(undoManager.redoCount)
        try save()
    }

    /// Changes, refreshes that drop some of them, and saves: both sides always say the same, and a save writes what was there.
    func refresh(_ steps: Int) throws {
        if random.below(2) == 0 { context.undoManager = nil }
        for step in 0..<steps {
            switch random.below(5) {
            case 0 where context.undoManager != nil:
                trace.append("undo")
                context.undo()
                try agree()
            case 1 where context.undoManager != nil:
                trace.append("redo")
                context.redo()
                try agree()
            default: break
            }
            trace.append("event")
            for _ in 0..<1 + random.below(3) {
                changes()
                if random.below(2) == 0 { context.processPendingChanges() }
                guard random.below(3) > 0, let number = pick(), let object = objects[number] else { continue }
                trace.append("  refresh \(number)")
                context.refresh(object, mergeChanges: random.below(4) == 0)
            }
            context.processPendingChanges()
            try agree()
            guard random.below(3) == 0 || step == steps - 1 else { continue }
            trace.append("save")
            do { try context.save() } catch { throw failure("\(error)") }
            let reader = stack.another()
            try compare(picture(context), picture(reader), "the context")
            try agree(reader)
        }
    }

    /// Changes, undos, redos and saves, with another writer's changes merged in between: both sides always say the same, nothing leads
    /// to an object that is gone, and a save writes what was there.
    ///
    /// - Parameter pending: whether changes may be pending while a merge arrives.
    func merge(_ steps: Int, pending: Bool) throws {
        try context.save()
        for _ in 0..<steps {
            switch random.below(8) {
            case 0..<3:
                trace.append("event")
                changes()
                context.processPendingChanges()
            case 3:
                trace.append("undo")
                context.undo()
            case 4:
                trace.append("redo")
                context.redo()
            case 5: try saveMerged()
            default:
                if !pending, context.hasChanges { try saveMerged() }
                try mergeOther()
            }
            try agree()
        }
        try saveMerged()
        while undoManager.canUndo {
            trace.append("undo")
            context.undo()
            try agree()
        }
        try saveMerged()
    }

    private func saveMerged() throws {
        trace.append("save")
        do { try context.save() } catch { throw failure("\(error)") }
        let reader = stack.another()
        try compare(picture(context), picture(reader), "the context")
        try agree(reader)
    }

    /// Another writer changes objects, and the context takes it over.
    private func mergeOther() throws {
        trace.append("elsewhere")
        let mine = objects
        try stack.merge { other in
            objects = Dictionary(
                uniqueKeysWithValues: try (other.all("Node") + other.all("Leaf")).map { (number($0), $0) })
            defer { objects = mine }
            for _ in 0..<1 + random.below(3) {
                switch random.below(4) {
                case 0: delete()
                case 1: setAttribute()
                default: write()
                }
            }
        }
        trace.append("merged")
    }

    /// Both sides of every pair name each other, and nothing leads to an object that is going.
    private func agree(_ other: NSManagedObjectContext? = nil) throws {
        let all = try (other ?? context).all("Node") + (other ?? context).all("Leaf")
        for object in all {
            for (key, relationship) in object.entity.relationshipsByName {
                guard let inverse = relationship.inverseRelationship else { continue }
                for target in related(object, relationship)
                where !all.contains(target) || !related(target, inverse).contains(object) {
                    throw failure("\(number(object)).\(key) names \(number(target)), whose \(inverse.name) does not")
                }
            }
        }
    }

    private func related(_ object: NSManagedObject, _ relationship: NSRelationshipDescription) -> [NSManagedObject] {
        relationship.isToMany ? object.many(relationship.name) : object.one(relationship.name).map { [$0] } ?? []
    }

    // MARK: Steps

    private func event() throws {
        trace.append("event")
        changes()
        context.processPendingChanges()
        if isLate { try context.save() }
        try note()
    }

    private func group() throws {
        trace.append("group")
        undoManager.beginUndoGrouping()
        for _ in 0..<1 + random.below(3) {
            changes()
            context.processPendingChanges()
            trace.append("  settled")
        }
        undoManager.endUndoGrouping()
        context.processPendingChanges()
        try note()
    }

    private func changes() {
        for _ in 0..<1 + random.below(4) {
            switch random.below(16) {
            case 0, 1: make(random.below(2) == 0 ? "Node" : "Leaf")
            case 2, 3: delete()
            case 4, 6: setAttribute()
            case 5 where random.below(4) == 0: bringBack()
            default: write()
            }
        }
    }

    /// Keeps what an event has made, if it can be undone.
    private func note() throws {
        let present = picture(context)
        if undoManager.undoCount == at {
            // An event without a trace, which may have emptied the redo stack all the same.
            if undoManager.redoCount == 0 { pictures.removeSubrange((at + 1)...) }
            return try compare(present, pictures[at], "an event that left nothing to undo")
        }
        at += 1
        pictures.removeSubrange(at...)
        pictures.append(present)
        guard undoManager.undoCount == at else { throw failure("\(undoManager.undoCount) groups to undo, not \(at)") }
    }

    private func back(_ count: Int) throws {
        for _ in 0..<min(count, at) {
            trace.append("undo")
            context.undo()
            at -= 1
        }
        try look()
    }

    private func forth(_ count: Int) throws {
        for _ in 0..<min(count, undoManager.redoCount) {
            trace.append("redo")
            context.redo()
            at += 1
        }
        try look()
    }

    private func look() throws {
        guard undoManager.undoCount == at else { throw failure("\(undoManager.undoCount) groups to undo, not \(at)") }
        try compare(picture(context), pictures[at], "the context")
    }

    private func save() throws {
        trace.append("save")
        do { try context.save() } catch { throw failure("\(error)") }
        try look()
        let reader = stack.another()
        try compare(picture(reader), pictures[at], "the store")
        guard random.below(3) == 0 else { return }
        trace.append("refresh")
        context.refreshAllObjects()
        if random.below(2) == 0 { try look() }
    }

    // MARK: Changes

    private func make(_ entity: String) {
        let number = objects.count + 1
        trace.append("  make \(entity) \(number)")
        objects[number] = context.make(entity, ["n": number])
    }

    private var present: [Int] {
        objects.keys.sorted().filter { objects[$0]?.managedObjectContext != nil && objects[$0]?.isDeleted == false }
    }

    private func pick(_ entity: String? = nil) -> Int? {
        present.filter { entity == nil || objects[$0]?.entity.name == entity }.randomElement(using: &random)
    }

    private func delete() {
        guard let number = pick(), let object = objects[number] else { return }
        trace.append("  delete \(number)")
        object.managedObjectContext?.delete(object)
    }

    /// A deletion of this event is thought better of.
    private func bringBack() {
        let deleted = objects.keys.sorted().filter { objects[$0]?.isDeleted == true }
        guard let number = deleted.randomElement(using: &random), let object = objects[number] else { return }
        trace.append("  insert \(number)")
        context.insert(object)
    }

    private func setAttribute() {
        guard let number = pick() else { return }
        let (key, value) = attribute()
        trace.append("  \(number).\(key) = \(UndoWalk.text(value))")
        objects[number]?.setValue(value, forKey: key)
    }

    /// One of each way in which values are kept: in the row, as an object, as several columns, as an archive, in a file.
    private func attribute() -> (key: String, value: Any?) {
        let number = random.below(3)
        switch random.below(8) {
        case 0..<3: return ("name", "\(number)")
        case 3: return ("price", NSDecimalNumber(value: number))
        case 4: return ("spot", number == 0 ? nil : ["x": number, "label": "here"] as [String: Any])
        case 5:
            return ("words", number == 0 ? nil : ["one", "two"].dropLast(number - 1).map { $0 as NSString } as NSArray)
        default:
            return (
                "paint", number == 0 ? nil : Data(repeating: UInt8(number), count: random.below(3) == 0 ? 110_000 : 10)
            )
        }
    }

    private static func text(_ value: Any?) -> String {
        switch value {
        case nil: "-"
        case let data as Data: "\(data.count) × \(data.first ?? 0)"
        case let composite as [String: Any]: composite.map { "\($0.key) \($0.value)" }.sorted().joined(separator: " ")
        case let words as NSArray: words.componentsJoined(by: " ")
        case let value?: "\(value)"
        }
    }

    private func write() {
        guard let number = pick(), let object = objects[number] else { return }
        let all = object.entity.relationshipsByName.values.sorted { $0.name < $1.name }
        let near = all.filter { focus.contains($0.name) || focus.contains($0.inverseRelationship?.name ?? "") }
        let isNear = !near.isEmpty && random.below(4) > 0
        guard let relationship = (isNear ? near : all).randomElement(using: &random),
            let destination = relationship.destinationEntity?.name
        else { return }
        let key = relationship.name
        let candidates = present.filter { objects[$0]?.entity.name == destination }.shuffled(using: &random)
        guard relationship.isToMany else {
            let target = random.below(4) == 0 ? nil : candidates.first
            trace.append("  \(number).\(key) = \(target ?? 0)")
            return object.setValue(target.flatMap { objects[$0] }, forKey: key)
        }
        let members = Array(candidates.prefix(random.below(5)))
        if relationship.isOrdered { return writeOrdered(object, number, key, members) }
        let targets = members.compactMap { objects[$0] }
        switch random.below(3) {
        case 0:
            trace.append("  \(number).\(key) = \(members)")
            object.setValue(NSSet(array: targets), forKey: key)
        case 1:
            trace.append("  \(number).\(key) + \(members)")
            object.mutableSetValue(forKey: key).addObjects(from: targets)
        default:
            trace.append("  \(number).\(key) - \(members)")
            for target in targets { object.mutableSetValue(forKey: key).remove(target) }
        }
    }

    private func writeOrdered(_ object: NSManagedObject, _ number: Int, _ key: String, _ members: [Int]) {
        let targets = members.compactMap { objects[$0] }
        let set = object.mutableOrderedSetValue(forKey: key)
        let way = random.below(6)
        switch way {
        case 0:
            trace.append("  \(number).\(key) = \(members)")
            object.setValue(NSOrderedSet(array: targets), forKey: key)
        case 1 where set.count > 1:
            let (from, to) = (random.below(set.count), random.below(set.count))
            trace.append("  \(number).\(key) moves \(from) to \(to)")
            set.moveObjects(at: IndexSet(integer: from), to: to)
        case 2 where set.count > 0:
            let place = random.below(set.count)
            trace.append("  \(number).\(key) loses the one at \(place)")
            set.removeObject(at: place)
        case 3:
            guard let target = targets.first else { return }
            let place = random.below(set.count + 1)
            trace.append("  \(number).\(key) takes \(members[0]) at \(place)")
            set.insert(target, at: place)
        case 4:
            trace.append("  \(number).\(key) turned round")
            object.setValue(set.reversed, forKey: key)
        default:
            trace.append("  \(number).\(key) + \(members)")
            set.addObjects(from: targets)
        }
    }

    // MARK: Pictures

    /// All objects, one a line, with their members in order.
    private func picture(_ context: NSManagedObjectContext) -> [String] {
        do { return try (context.all("Node") + context.all("Leaf")).map(line).sorted() } catch { return ["\(error)"] }
    }

    private func line(_ object: NSManagedObject) -> String {
        var parts = ["\(object.entity.name ?? "") \(number(object))"]
        parts += ["name", "price", "spot", "words", "paint"].compactMap { key in
            object.value(forKey: key).map { "\(key) \(UndoWalk.text($0))" }
        }
        for (key, relationship) in object.entity.relationshipsByName.sorted(by: { $0.key < $1.key }) {
            let numbers = related(object, relationship).map(number)
            guard !numbers.isEmpty else { continue }
            parts.append("\(key) \(relationship.isOrdered ? numbers : numbers.sorted())")
        }
        return parts.joined(separator: "; ")
    }

    private func number(_ object: NSManagedObject) -> Int { object.value(forKey: "n") as? Int ?? -1 }

    private func compare(_ found: [String], _ expected: [String], _ place: String) throws {
        guard found != expected else { return }
        let wrong =
            found.filter { !expected.contains($0) }.map { "has " + $0 }
            + expected.filter { !found.contains($0) }.map { "not " + $0 }
        throw failure(place + " is not what it was:\n" + wrong.joined(separator: "\n"))
    }

    private func failure(_ text: String) -> Failure {
        Failure(description: text + "\n" + trace.joined(separator: "\n"))
    }

    struct Failure: Error, CustomStringConvertible { let description: String }

    // MARK: The model

    /// Node.kids ⇄ parent (ordered), parts ⇄ whole (ordered, cascade), bag ⇄ sack, heirs ⇄ sire (cascade), spouse ⇄ spouse, badge ⇄
    /// wearer (cascade), left ⇄ right (ordered on both sides), friends ⇄ friends (ordered), tags ⇄ tagged, list ⇄ lists (ordered on
    /// one side).
    static func model() -> NSManagedObjectModel {
        var node = EntityDraft(name: "Node")
        node.attributes = [
            Clinic.attribute("n", .integer32), Clinic.attribute("name", .string), Clinic.attribute("price", .decimal),
            Clinic.transformable("words"),
        ]
        node.attributes += [Clinic.composite("spot", "Spot"), Clinic.attribute("paint", .binary, external: true)]
        node.relationships = [
            Clinic.toMany("kids", "Node", inverse: "parent", ordered: true),
            Clinic.toOne("parent", "Node", inverse: "kids"),
            Clinic.toMany("parts", "Leaf", inverse: "whole", ordered: true, rule: .cascade),
            Clinic.toMany("bag", "Leaf", inverse: "sack"),
            Clinic.toMany("heirs", "Node", inverse: "sire", rule: .cascade),
            Clinic.toOne("sire", "Node", inverse: "heirs"),
            Clinic.toOne("spouse", "Node", inverse: "spouse"),
            Clinic.toOne("badge", "Leaf", inverse: "wearer", rule: .cascade),
            Clinic.toMany("left", "Node", inverse: "right", ordered: true),
            Clinic.toMany("right", "Node", inverse: "left", ordered: true),
            Clinic.toMany("friends", "Node", inverse: "friends", ordered: true),
            Clinic.toMany("tags", "Leaf", inverse: "tagged"),
            Clinic.toMany("list", "Leaf", inverse: "lists", ordered: true),
        ]
        var leaf = EntityDraft(name: "Leaf")
        leaf.attributes = node.attributes
        leaf.relationships = [
            Clinic.toOne("whole", "Node", inverse: "parts"), Clinic.toOne("sack", "Node", inverse: "bag"),
            Clinic.toOne("wearer", "Node", inverse: "badge"), Clinic.toMany("tagged", "Node", inverse: "tags"),
            Clinic.toMany("lists", "Node", inverse: "list"),
        ]
        var draft = SchemaDraft()
        draft.composites = [
            Composite(
                name: "Spot", attributes: [Clinic.attribute("x", .integer32), Clinic.attribute("label", .string)])
        ]
        draft.entities = [node, leaf]
        return NSManagedObjectModel(draft: draft)
    }
}
