// Walks of undo and redo with saves in between.

import CoreDataTestSupport
import Foundation
import Testing

@testable import CoreData

@Suite struct UndoWalkTests {
    @Test(
        "5.3 Any walk of undos and redos with saves in between gives each former graph back, here and in the store",
        arguments: [NSInMemoryStoreType, NSSQLiteStoreType], [false, true])
    func walks(_ type: String, _ isLate: Bool) throws {
        for seed in seeds {
            do { try UndoWalk(type, seed: seed, isLate: isLate).run(steps) } catch {
                Issue.record("seed \(seed): \(error)")
            }
        }
    }

    @Test(
        "5.6 After refreshes that drop changes both sides agree, and nothing saved leads to a deleted object",
        arguments: [NSInMemoryStoreType, NSSQLiteStoreType])
    func refreshes(_ type: String) throws {
        for seed in seeds {
            do { try UndoWalk(type, seed: seed).refresh(steps) } catch { Issue.record("seed \(seed): \(error)") }
        }
    }

    @Test(
        "10.4 Undo and redo with merges in between lead to nothing that another writer has deleted, and can be saved",
        arguments: [NSInMemoryStoreType, NSSQLiteStoreType], [false, true])
    func merges(_ type: String, _ pending: Bool) throws {
        for seed in seeds {
            do { try UndoWalk(type, seed: seed).merge(steps, pending: pending) } catch {
                Issue.record("seed \(seed): \(error)")
            }
        }
    }

    @Test(
        "10.4 A deleted member that another writer gave to a deleted owner is in it once after the undo",
        arguments: [false, true])
    func givenToDeleted(_ saves: Bool) throws {
        let stack = try Stack(NSInMemoryStoreType, model: UndoWalk.model())
        let context = stack.context
        let (two, four, nine) = (
            context.make("Node", ["n": 2]), context.make("Node", ["n": 4]), context.make("Leaf", ["n": 9])
        )
        two.setValue(nine, forKey: "badge")
        four.mutableOrderedSetValue(forKey: "parts").add(nine)
        try context.save()
        context.delete(two)
        context.processPendingChanges()
        try stack.merge { other in
            other.object(with: nine.objectID).setValue(other.object(with: two.objectID), forKey: "whole")
        }
        if saves { try context.save() }
        context.undo()
        #expect(two.many("parts") == [nine] && four.many("parts").isEmpty && nine.one("whole") === two)
        try context.save()
        let reader = stack.another()
        #expect(try reader.all("Node").map { $0.many("parts").count }.sorted() == [0, 1])
    }

    /// A search takes other seeds by the environment.
    private let environment = ProcessInfo.processInfo.environment
    private var seeds: Range<UInt64> {
        let first = environment["WALK_FIRST"].flatMap { UInt64($0) } ?? 0
        return first..<first + (environment["WALK_COUNT"].flatMap { UInt64($0) } ?? 20)
    }
    private var steps: Int { environment["WALK_STEPS"].flatMap { Int($0) } ?? 20 }
}

extension UndoWalkTests {
    @Test("5.3 Undoing that an object which is its own other side takes another's gives both back")
    func ownSpouse() throws {
        let stack = try Web.stack()
        let context = stack.context
        let nodes = (1...3).map { context.make("Node", ["n": $0]) }
        nodes[0].setValue(nodes[0], forKey: "spouse")
        nodes[1].setValue(nodes[2], forKey: "spouse")
        try context.save()
        nodes[0].setValue(nodes[1], forKey: "spouse")
        context.processPendingChanges()
        for _ in 0..<2 {
            #expect(nodes.map { $0.one("spouse") } == [nodes[1], nodes[0], nil])
            context.undo()
            #expect(nodes.map { $0.one("spouse") } == [nodes[0], nodes[2], nodes[1]])
            context.redo()
        }
    }

    @Test(
        "5.3 Redo of an event that deletes a member and moves others gives the order of then",
        arguments: [true, false], 0..<3)
    func orderedDeletion(_ saves: Bool, _ way: Int) throws {
        let stack = try Web.stack()
        let context = stack.context
        let owner = context.make("Node")
        let steps = (1...5).map { context.make("Step", ["n": $0]) }
        func order() -> [Int] { owner.many("steps").compactMap { $0.value(forKey: "n") as? Int } }
        owner.setValue(NSOrderedSet(array: [4, 1, 3, 5, 2].map { steps[$0 - 1] }), forKey: "steps")
        try context.save()
        let set = owner.mutableOrderedSetValue(forKey: "steps")
        if way < 2 { context.delete(steps[2]) }
        if way == 0 {
            set.moveObjects(at: [4], to: 3)
        } else {
            set.remove(steps[4])
            set.insert(steps[4], at: 3)
        }
        if way == 2 { context.delete(steps[2]) }
        context.processPendingChanges()
        let expected = order()
        if saves { try context.save() }
        context.undo()
        #expect(order() == [4, 1, 3, 5, 2])
        context.redo()
        #expect(order() == expected)
        #expect(expected == (way == 0 ? [4, 1, 2, 5] : [4, 1, 5, 2]))
        try context.save()
        let reader = stack.another()
        let read = reader.object(with: owner.objectID).many("steps").map { $0.value(forKey: "n") as? Int }
        #expect(read == expected)
    }
    @Test(
        "5.3 Objects that were their own other end in a one-to-one are so again after an undo",
        arguments: [false, true], [false, true])
    func selfRelated(_ saves: Bool, _ isCrossed: Bool) throws {
        let stack = try Web.stack()
        let context = stack.context
        let (key, back) = isCrossed ? ("mentor", "pupil") : ("spouse", "spouse")
        let nodes = (1...3).map { context.make("Node", ["n": $0]) }
        func ends(_ key: String) -> [Int?] { nodes.map { $0.one(key)?.value(forKey: "n") as? Int } }
        for node in nodes.prefix(2) { node.setValue(node, forKey: key) }
        context.processPendingChanges()
        if saves { try context.save() }
        nodes[0].setValue(nodes[1], forKey: key)
        context.processPendingChanges()
        let changed = [ends(key), ends(back)]
        nodes[1].setValue(nodes[2], forKey: key)
        context.processPendingChanges()
        let last = [ends(key), ends(back)]
        for _ in 0..<2 {
            context.undo()
            #expect([ends(key), ends(back)] == changed)
            context.undo()
            #expect(ends(key) == [1, 2, nil] && ends(back) == [1, 2, nil])
            #expect(!saves || !context.hasChanges)
            context.redo()
            #expect([ends(key), ends(back)] == changed)
            context.redo()
            #expect([ends(key), ends(back)] == last)
        }
        try context.save()
    }

    @Test(
        "5.3 Undoing what was done after a deletion was taken back gives the graph of each step, also after a further deletion",
        arguments: ["list", "friends", "tags", "steps", "children", "parent", "spouse", "favorite", "likes"])
    func takenBack(_ key: String) throws {
        let stack = try Web.stack()
        let context = stack.context
        let node = context.make("Node", ["n": 1])
        let relationship = try #require(node.entity.relationshipsByName[key])
        let other = context.make(relationship.destinationEntity?.name ?? "", ["n": 2])
        try context.save()
        context.undoManager?.removeAllActions()
        context.delete(node)
        context.processPendingChanges()
        context.insert(node)
        context.processPendingChanges()
        let members: Any = relationship.isOrdered ? NSOrderedSet(object: other) as Any : Set([other])
        node.setValue(relationship.isToMany ? members : other, forKey: key)
        context.processPendingChanges()
        context.delete(node)
        try context.save()
        func related() -> [NSManagedObject] {
            relationship.isToMany ? node.many(key) : node.one(key).map { [$0] } ?? []
        }
        for expected in [[other], [], nil, []] {
            context.undo()
            #expect((node.managedObjectContext == nil || node.isDeleted ? nil : related()) == expected)
        }
        try context.save()
        let reader = stack.another()
        let found = try #require(try reader.all("Node").first { $0.value(forKey: "n") as? Int == 1 })
        #expect(relationship.isToMany ? found.many(key).isEmpty : found.one(key) == nil)
        for expected in [nil, [], [other], nil] {
            context.redo()
            #expect((node.managedObjectContext == nil || node.isDeleted ? nil : related()) == expected)
        }
    }
}
