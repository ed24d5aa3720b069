// Both sides of a relationship, and relationships that have one side only.

import CoreDataTestSupport
import CoreDataValues
import Foundation
import Testing

@testable import CoreData

@Suite struct InverseTests {
    @Test("3.8 Changing one side puts both ends into updatedObjects, each with its own key", arguments: everyStore)
    func bothEnds(_ type: String) throws {
        let stack = try Web.stack(type)
        let context = stack.context
        let (parent, child, tag) = (context.make("Node"), context.make("Node"), context.make("Tag"))
        try context.save()
        child.setValue(parent, forKey: "parent")
        context.processPendingChanges()
        #expect(context.updatedObjects == [parent, child])
        #expect(Array(parent.changedValues().keys) == ["children"])
        #expect(Array(child.changedValues().keys) == ["parent"])
        try context.save()
        parent.mutableSetValue(forKey: "tags").add(tag)
        context.processPendingChanges()
        #expect(context.updatedObjects == [parent, tag])
        #expect(Array(parent.changedValues().keys) == ["tags"])
        #expect(Array(tag.changedValues().keys) == ["nodes"])
    }

    @Test("4.1 Moving a child to another parent takes it from the first at once, whichever side is written")
    func move() throws {
        let stack = try Web.stack()
        let context = stack.context
        let (a, b, child) = (context.make("Node"), context.make("Node"), context.make("Node"))
        child.setValue(a, forKey: "parent")
        #expect(a.members("children") == [child])
        child.setValue(b, forKey: "parent")
        #expect(a.members("children").isEmpty && b.members("children") == [child])
        a.mutableSetValue(forKey: "children").add(child)
        #expect(b.members("children").isEmpty && child.one("parent") === a)
        b.setValue(Set([child]), forKey: "children")
        #expect(a.members("children").isEmpty && child.one("parent") === b)
        let steps = (0..<3).map { _ in context.make("Step") }
        a.setValue(NSOrderedSet(array: steps), forKey: "steps")
        b.mutableOrderedSetValue(forKey: "steps").add(steps[1])
        #expect(a.many("steps") == [steps[0], steps[2]] && b.many("steps") == [steps[1]])
    }

    @Test(
        "Members that leave an order and come back before anyone looks at it stand at its end, also after save, rollback and undo",
        arguments: [false, true])
    func backAgain(_ hasUndo: Bool) throws {
        let stack = try Web.stack(undo: hasUndo)
        let context = stack.context
        let owner = context.make("Node")
        let steps = (0..<6).map { _ in context.make("Step") }
        owner.setValue(NSOrderedSet(array: steps), forKey: "steps")
        try context.save()
        func shuffle() {
            for step in [steps[0], steps[5], steps[2], steps[3]] { step.setValue(nil, forKey: "node") }
            for step in [steps[2], steps[0]] { step.setValue(owner, forKey: "node") }
            steps[0].setValue(nil, forKey: "node")
        }
        let left = [steps[1], steps[4], steps[2]]
        shuffle()
        #expect(owner.many("steps") == left && owner.mutableSetValue(forKey: "steps").count == 3)
        context.rollback()
        #expect(owner.many("steps") == steps)
        shuffle()
        try context.save()
        let other = stack.another()
        #expect(other.object(with: owner.objectID).many("steps").map(\.objectID) == left.map(\.objectID))
        #expect(owner.many("steps") == left)
        guard hasUndo else { return }
        context.undo()
        #expect(owner.many("steps") == steps)
        context.redo()
        #expect(owner.many("steps") == left)
    }

    @Test("4.1 Primitive setters write one side only and leave the object unchanged")
    func primitive() throws {
        let stack = try Web.stack()
        let context = stack.context
        let (a, b, tag) = (context.make("Node"), context.make("Node"), context.make("Tag"))
        try context.save()
        context.undoManager?.removeAllActions()
        b.setPrimitiveValue(a, forKey: "parent")
        #expect(b.primitiveValue(forKey: "parent") as? NSManagedObject === a)
        #expect(a.members("children").isEmpty)
        a.setPrimitiveValue(NSSet(array: [tag]), forKey: "tags")
        #expect(a.members("tags") == [tag] && tag.members("nodes").isEmpty)
        a.setPrimitiveValue(7, forKey: "n")
        #expect(a.value(forKey: "n") as? Int == 7)
        #expect(!context.hasChanges && !a.isUpdated && !b.isUpdated)
        context.processPendingChanges()
        #expect(context.undoManager?.canUndo == false)
    }

    @Test("4.1 One-to-one with itself: pairs part when one of them finds another, also an object that is its own pair")
    func pairs() throws {
        let stack = try Web.stack()
        let context = stack.context
        let nodes = (0..<4).map { context.make("Node", ["n": $0]) }
        nodes[0].setValue(nodes[1], forKey: "spouse")
        nodes[2].setValue(nodes[3], forKey: "spouse")
        nodes[1].setValue(nodes[2], forKey: "spouse")
        #expect(nodes.map { $0.one("spouse")?.value(forKey: "n") as? Int } == [nil, 2, 1, nil])
        nodes[3].setValue(nodes[3], forKey: "spouse")
        #expect(nodes[3].one("spouse") === nodes[3])
        nodes[0].setValue(nodes[3], forKey: "spouse")
        #expect(nodes[3].one("spouse") === nodes[0] && nodes[0].one("spouse") === nodes[3])
        nodes[3].setValue(nil, forKey: "spouse")
        #expect(nodes[0].one("spouse") == nil)
        nodes[0].setValue(nodes[0], forKey: "mentor")
        #expect(nodes[0].one("pupil") === nodes[0])
        nodes[1].setValue(nodes[0], forKey: "mentor")
        #expect(nodes[0].one("mentor") == nil && nodes[0].one("pupil") === nodes[1])
    }

    @Test(
        "4.1 A many-to-many with itself holds pairs both ways and comes back from the store so", arguments: everyStore)
    func friends(_ type: String) throws {
        let stack = try Web.stack(type)
        let nodes = (0..<3).map { stack.context.make("Node", ["n": $0]) }
        nodes[0].setValue(NSSet(array: [nodes[0], nodes[1]]), forKey: "friends")
        nodes[2].mutableSetValue(forKey: "friends").add(nodes[1])
        try stack.context.save()
        let reader = stack.another()
        let found = try reader.all("Node").sorted { ($0["n"] as? Int ?? 0) < ($1["n"] as? Int ?? 0) }
        #expect(found[0].members("friends") == [found[0], found[1]])
        #expect(found[1].members("friends") == [found[0], found[2]])
        #expect(found[2].members("friends") == [found[1]])
    }

    @Test("4.1 Relationships to an abstract entity keep each target's own entity", arguments: everyStore)
    func subentities(_ type: String) throws {
        let stack = try Web.stack(type)
        let boss = stack.context.make("Boss", ["n": 1])
        let (dog, cat) = (stack.context.make("Dog", ["n": 2]), stack.context.make("Cat", ["n": 3]))
        boss.setValue(cat, forKey: "pet")
        dog.setValue(boss, forKey: "keeper")
        boss.mutableSetValue(forKey: "walks").addObjects(from: [dog, cat])
        try stack.context.save()
        let reader = stack.another()
        let found = try #require(try reader.all("Boss").first)
        #expect(found.one("pet")?.entity.name == "Cat")
        #expect(found.many("zoo").map { $0.entity.name } == ["Dog"])
        #expect(Set(found.many("walks").map { $0.entity.name }) == ["Dog", "Cat"])
        #expect(found.one("pet")?.many("keepers") == [found])
    }

    @Test(
        "4.2 Without an inverse nothing is kept in step, and a deleted destination leaves a dangling key",
        arguments: everyStore)
    func oneWay(_ type: String) throws {
        let stack = try Web.stack(type)
        let context = stack.context
        let (a, b) = (context.make("Node", ["n": 1]), context.make("Node", ["n": 2]))
        a.setValue(b, forKey: "favorite")
        try context.save()
        #expect(!b.isUpdated)
        let target = b.objectID
        context.delete(b)
        context.processPendingChanges()
        #expect(a.one("favorite") === b)
        #expect(!a.isUpdated)
        try context.save()
        let reader = stack.another()
        let found = try #require(try reader.all("Node").first)
        let dangling = try #require(found.one("favorite"))
        #expect(dangling.objectID == target)
        #expect(dangling.value(forKey: "n") == nil)
        #expect(dangling.isDeleted)
    }

    @Test("4.2 A reference without inverse to an object that was never saved is refused with 1550, and can be cleared")
    func stray() throws {
        let stack = try Web.stack()
        let (a, b) = (stack.context.make("Node", ["n": 1]), stack.context.make("Node"))
        a.setValue(b, forKey: "favorite")
        stack.context.delete(b)
        let error = caught { try stack.context.save() }
        #expect(error?.code.rawValue == 1550)
        #expect(error?.validationKey == "favorite" && error?.validationObject as? NSManagedObject === a)
        #expect(a.objectID.isTemporaryID)
        a.setValue(nil, forKey: "favorite")
        try stack.context.save()
        #expect(try stack.another().all("Node").count == 1)
    }

    @Test(
        "Relating to an object that is deleted, before or after its rules were applied, leaves nothing pointing at it")
    func deletedTarget() throws {
        let stack = try Web.stack()
        let (a, b) = (stack.context.make("Node", ["n": 1]), stack.context.make("Node", ["n": 2]))
        try stack.context.save()
        stack.context.delete(b)
        stack.context.processPendingChanges()
        a.setValue(b, forKey: "parent")
        b.mutableSetValue(forKey: "friends").add(a)
        try stack.context.save()
        #expect(a.one("parent") == nil && a.members("friends").isEmpty)
        a.setValue(b, forKey: "parent")
        #expect(caught { try stack.context.save() }?.code.rawValue == 1550)
        stack.context.rollback()
        try stack.context.save()
    }

    @Test("Objects related before they have a context come into it together")
    func companions() throws {
        let stack = try Web.stack()
        let model = stack.coordinator.managedObjectModel
        let node = try #require(model.entitiesByName["Node"])
        let (a, b) = (NSManagedObject(entity: node, insertInto: nil), NSManagedObject(entity: node, insertInto: nil))
        a.setValue(b, forKey: "parent")
        a.mutableSetValue(forKey: "friends").add(b)
        #expect(b.members("children") == [a])
        stack.context.insert(a)
        #expect(b.isInserted && b.managedObjectContext === stack.context)
        try stack.context.save()
        let reader = stack.another()
        #expect(try reader.all("Node").filter { $0.one("parent") != nil }.count == 1)
    }
}
