// What writing a large to-many touches: counted, not timed.

import CoreDataTestSupport
import CoreDataValues
import Foundation
import Testing

@testable import CoreData

@Suite struct CostTests {
    /// A node with many saved children, read into a second context.
    private func family(_ count: Int) throws -> (Stack, NSManagedObject) {
        let stack = try Web.stack(NSInMemoryStoreType)
        let context = stack.context
        context.undoManager = nil
        let parent = context.make("Node", ["n": -1])
        let children = ContiguousArray((0..<count).map { _ in context.make("Node") })
        parent._setToMany(try index("children", parent), children)
        try context.save()
        context.undoManager = UndoManager()
        return (stack, parent)
    }

    private func index(_ key: String, _ object: NSManagedObject) throws -> Int {
        guard case .toMany(let index)? = object.place(of: key) else { throw CocoaError(.coreData) }
        return index
    }

    @Test("Setting a to-many of 100,000 members anew writes only the members that differ, and both ends of each")
    func replacement() throws {
        let (stack, parent) = try family(100_000)
        let context = stack.context
        let present = parent.many("children")
        #expect(present.count == 100_000)
        let new = context.make("Node")
        context.processPendingChanges()
        context.undoManager?.removeAllActions()
        var wanted = Set(present)
        wanted.remove(present[17])
        wanted.insert(new)
        parent.setValue(wanted, forKey: "children")
        // One to-one written for the child that came, one for the child that went.
        #expect(context.tracker.log.count == 2)
        context.processPendingChanges()
        #expect(context.updatedObjects == [parent, present[17]])
        #expect(context.insertedObjects == [new])
        #expect(parent.mutableSetValue(forKey: "children").count == 100_000)
        try context.save()
    }

    @Test("Adding a member to a to-many of 10,000 does not read the others")
    func addition() throws {
        let (stack, parent) = try family(10_000)
        let other = stack.another()
        let same = other.object(with: parent.objectID)
        same.mutableSetValue(forKey: "children").add(other.make("Node"))
        #expect(same.hasFault(forRelationshipNamed: "children"))
        same.mutableSetValue(forKey: "tags").add(other.make("Tag"))
        #expect(same.hasFault(forRelationshipNamed: "tags"))
        #expect(other.tracker.dirty.count == 3)
        #expect(same.mutableSetValue(forKey: "children").count == 10_001)
    }

    @Test("An ordered to-many of 20,000 is replaced, emptied and brought back by one order and one write a member")
    func ordered() throws {
        let stack = try Web.stack(NSInMemoryStoreType)
        let context = stack.context
        let owner = context.make("Node")
        let steps = (0..<20_000).map { _ in context.make("Step") }
        try context.save()
        context.processPendingChanges()
        context.undoManager?.removeAllActions()
        owner.setValue(NSOrderedSet(array: steps), forKey: "steps")
        #expect(context.tracker.log.count == 20_001)
        context.processPendingChanges()
        owner.setValue(NSOrderedSet(array: steps.reversed()), forKey: "steps")
        #expect(context.tracker.log.count == 1)
        context.processPendingChanges()
        context.undo()
        #expect(owner.many("steps") == steps)
        context.delete(owner)
        context.processPendingChanges()
        #expect(steps.allSatisfy { $0.one("node") == nil })
        try context.save()
        #expect(try stack.another().all("Step").count == 20_000)
    }
}
