// What live ordered sets and the save of a child cost.

import CoreDataTestSupport
import CoreDataValues
import Foundation
import Testing

@testable import CoreData

extension ChangeCostTests {
    @Test(
        "Changing an ordered to-many by sets that are asked for anew each time fills one list",
        arguments: [("steps", "Step"), ("list", "Tag")])
    func openSet(_ key: String, _ entity: String) throws {
        let stack = try hashedStack()
        let context = stack.context
        let owner = context.make("Node")
        var wanted = (0..<1000).map { _ in context.make(entity) }
        owner._setToMany(try owner.toManyIndex(key), wanted)
        try context.save()
        let new = (0..<90).map { _ in context.make(entity) }
        context.processPendingChanges()
        let before = Hashed.hashes.load(ordering: .relaxed)
        var set: NSMutableOrderedSet { owner.mutableOrderedSetValue(forKey: key) }
        for (count, member) in new[..<30].enumerated() {
            #expect(set.count == 1000 + count)
            set.add(member)
            wanted.append(member)
        }
        // Changed elsewhere: what differs is taken over.
        owner._add(new[30..<60], toMany: try owner.toManyIndex(key))
        wanted += new[30..<60]
        for member in new[60...] { set.addObjects(from: [member]) }
        wanted += new[60...]
        for place in 0..<20 {
            set.remove(wanted.remove(at: 500 - place))
            set.exchangeObject(at: place, withObjectAt: 700)
            wanted.swapAt(place, 700)
            set.insert([wanted[900]], at: [3])
            set.replaceObject(at: 40, with: wanted[41])
        }
        #expect(Hashed.hashes.load(ordering: .relaxed) - before < 1000 * 8)
        let isSame = (set.array as? [NSManagedObject]) == wanted && owner.many(key) == wanted
        #expect(isSame)
        context.undo()
        #expect(owner.many(key).count == 1000)
    }

    @Test("A loop over a live ordered set does not see what a set asked for meanwhile changes")
    func runningLoop() throws {
        let stack = try Web.stack()
        let context = stack.context
        let owner = context.make("Node")
        owner._setToMany(try owner.toManyIndex("steps"), (0..<10).map { context.make("Step", ["n": $0]) })
        var set: NSMutableOrderedSet { owner.mutableOrderedSetValue(forKey: "steps") }
        set.add(context.make("Step", ["n": 10]))
        var seen: [Int?] = []
        for case let step as NSManagedObject in set {
            seen.append(step.value(forKey: "n") as? Int)
            set.remove(step)
        }
        #expect(seen == Array(0...10) && set.count == 0)
        let held = set
        held.add(context.make("Step"))
        for step in held { set.remove(step) }
        #expect(held.count == 0 && set !== held)
    }

    @Test(
        "A live ordered set, and the members in it, go when the event ends",
        arguments: ["process", "save", "rollback", "reset", "refresh"])
    func closedSets(_ end: String) throws {
        let (stack, context, owner) = try list(30, "steps", "Step")
        defer { withExtendedLifetime(stack) {} }
        context.undoManager = nil
        let new = context.make("Step")
        owner.mutableOrderedSetValue(forKey: "steps").add(new)
        #expect(context.registeredObjects.count > 30)
        switch end {
        case "process": context.processPendingChanges()
        case "save": try context.save()
        case "rollback": context.rollback()
        case "reset": context.reset()
        default: context.refresh(owner, mergeChanges: false)
        }
        #expect(context.registeredObjects.count <= 2)
    }

    @Test("Sets of several to-manys are kept side by side, and a dropped context drops them")
    func severalSets() throws {
        let stack = try hashedStack()
        weak var dropped: NSManagedObjectContext?
        do {
            let context = stack.another()
            dropped = context
            let owners = (0..<3).map { _ in context.make("Node") }
            for owner in owners {
                owner._setToMany(try owner.toManyIndex("steps"), (0..<100).map { _ in context.make("Step") })
            }
            let before = Hashed.hashes.load(ordering: .relaxed)
            for _ in 0..<20 {
                for owner in owners { owner.mutableOrderedSetValue(forKey: "steps").add(context.make("Step")) }
            }
            #expect(Hashed.hashes.load(ordering: .relaxed) - before < 3 * 100 * 8)
            #expect(context.openSets.count == 3)
        }
        #expect(dropped == nil)
    }

    // MARK: A child's save

    /// A child of a context with saved ordered members, and the owner there.
    private func child(_ key: String, _ entity: String) throws -> (
        Stack, NSManagedObjectContext, NSManagedObjectContext, NSManagedObject
    ) {
        let (stack, parent, owner) = try list(400, key, entity)
        _ = owner.value(forKey: "n")
        let child = parent.child()
        child.undoManager = nil
        return (stack, parent, child, child.object(with: owner.objectID))
    }

    @Test(
        "A child's append to an ordered to-many that it has not read reads no member and hashes none",
        arguments: [("steps", "Step"), ("list", "Tag")])
    func pushedUnread(_ key: String, _ entity: String) throws {
        let (stack, parent, child, same) = try child(key, entity)
        let owner = parent.object(with: same.objectID)
        let index = try same.toManyIndex(key)
        let other = child.make(entity)
        try child.save()
        try parent.save()
        let rows = stack.coordinator.counters.rows
        same._add([child.make(entity), other], toMany: index)
        try child.save()
        #expect(stack.coordinator.counters.rows < rows + 20 && owner.hasFault(forRelationshipNamed: key))
        #expect(owner.many(key).suffix(2).map(\.objectID) == same.many(key).suffix(2).map(\.objectID))
    }

    @Test(
        "A parent's undo of what a child has moved holds what moved, not all members",
        arguments: [("steps", "Step"), ("list", "Tag")])
    func pushedMove(_ key: String, _ entity: String) throws {
        let (stack, parent, child, same) = try child(key, entity)
        let former = same.many(key).map(\.objectID)
        let index = try same.toManyIndex(key)
        for round in 0..<3 {
            var wanted = same.many(key)
            switch round {
            case 0:
                wanted.insert(wanted.remove(at: 200), at: 3)
                same.mutableOrderedSetValue(forKey: key).moveObjects(at: [200], to: 3)
            case 1:
                let new = child.make(entity)
                wanted.insert(new, at: 120)
                same._insert([new], toMany: index, at: 120)
            default:
                for _ in 0..<7 { same._remove([wanted.remove(at: 50)], toMany: index) }
            }
            try child.save()
            let isKept = same.many(key) == wanted
            #expect(isKept)
            let isPushed = parent.object(with: same.objectID).many(key).map(\.objectID) == wanted.map(\.objectID)
            #expect(isPushed)
            try parent.save()
            #expect(parent.registeredObjects.count < 40)
            let reader = stack.another()
            let stored = reader.object(with: same.objectID).many(key).map(\.objectID)
            let isStored = stored == parent.object(with: same.objectID).many(key).map(\.objectID)
            #expect(isStored && stored.count == wanted.count)
        }
        for _ in 0..<3 { parent.undo() }
        let isBack = parent.object(with: same.objectID).many(key).map(\.objectID) == former
        #expect(isBack)
    }
}
