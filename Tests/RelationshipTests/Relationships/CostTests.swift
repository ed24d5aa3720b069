// What writing a large to-many touches: counted, not timed.

import CoreDataTestSupport
import CoreDataValues
import Foundation
import Testing

@testable import CoreData

@Suite struct CostTests {
    /// A node with many saved children, read into a second context.
    private func family(_ count: Int, _ type: String = NSInMemoryStoreType) throws -> (Stack, NSManagedObject) {
        let stack = try Web.stack(type)
        let context = stack.context
        context.undoManager = nil
        let parent = context.make("Node", ["n": -1])
        let children = ContiguousArray((0..<count).map { _ in context.make("Node") })
        parent._setToMany(try parent.toManyIndex("children"), children)
        try context.save()
        context.undoManager = UndoManager()
        return (stack, parent)
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

    /// What adding members to a saved to-many makes a context and its store do.
    private struct Cost: Equatable, CustomStringConvertible {
        var rows = 0, statements = 0, faults = 0, logged = 0, dirty = 0, registered = 0
        var description: String {
            "\(rows) rows, \(statements) statements, \(faults) faults, \(logged) logged, \(dirty) dirty, \(registered) registered"
        }

        init(_ context: NSManagedObjectContext) {
            let counters = context.persistentStoreCoordinator?.counters ?? .init()
            (rows, statements, faults) = (counters.rows, counters.statements, counters.faults)
            (logged, dirty) = (context.tracker.log.count, context.tracker.dirty.count)
            registered = context.registeredObjects.count
        }

        static func - (a: Cost, b: Cost) -> Cost {
            var cost = a
            cost.rows -= b.rows
            cost.statements -= b.statements
            cost.faults -= b.faults
            cost.logged -= b.logged
            cost.dirty -= b.dirty
            cost.registered -= b.registered
            return cost
        }
    }

    /// Adds three members in three ways, each saved.
    private func costsOfAdding(_ stack: Stack, _ parent: NSManagedObject, isRead: Bool) throws -> [Cost] {
        let context = stack.another()
        context.undoManager = UndoManager()
        let owner = context.object(with: parent.objectID)
        let index = try owner.toManyIndex("children")
        _ = owner.value(forKey: "n")
        if isRead { #expect(owner.mutableSetValue(forKey: "children").count >= 1000) }
        let ways: [(NSManagedObject) -> Void] = [
            { owner.mutableSetValue(forKey: "children").add($0) }, { owner._add([$0], toMany: index) },
            { $0.setValue(owner, forKey: "parent") },
        ]
        return try ways.flatMap { add in
            let new = context.make("Node")
            context.processPendingChanges()
            let before = Cost(context)
            add(new)
            let added = Cost(context)
            try context.save()
            return [added - before, Cost(context) - added]
        }
    }

    @Test(
        "In SQLite a to-many of 100,000 costs what its change costs: the rows written are those that differ, and adding reads none"
    )
    func stored() throws {
        let (stack, parent) = try family(100_000, NSSQLiteStoreType)
        let (few, small) = try family(1000, NSSQLiteStoreType)
        #expect(try costsOfAdding(stack, parent, isRead: false) == costsOfAdding(few, small, isRead: false))

        let context = stack.another()
        let owner = context.object(with: parent.objectID)
        let present = owner.many("children")
        #expect(present.count == 100_003)
        var wanted = Set(present)
        for member in present[..<3] { wanted.remove(member) }
        for _ in 0..<3 { wanted.insert(context.make("Node")) }
        owner.setValue(wanted, forKey: "children")
        let before = Cost(context)
        try context.save()
        let cost = Cost(context) - before
        // Three come, three go, and the owner's version.
        #expect(cost.rows == 7 && cost.statements <= 20, "\(cost)")
        #expect(present[..<3].allSatisfy { $0.one("parent") == nil })
    }

    @Test("Adding to a to-many that was read costs the same whether it has 1,000 members or 20,000")
    func storedAndRead() throws {
        let (many, parent) = try family(20_000, NSSQLiteStoreType)
        let (few, small) = try family(1000, NSSQLiteStoreType)
        // The first addition after the reading; then the members are read anew when they are asked for.
        #expect(try costsOfAdding(many, parent, isRead: true) == costsOfAdding(few, small, isRead: true))
    }

    /// A node with ordered saved members, in a second context, which has no undo manager.
    private func list(_ count: Int, _ key: String, _ entity: String) throws -> (
        Stack, NSManagedObjectContext, NSManagedObject
    ) {
        let stack = try Web.stack()
        let first = stack.context
        let node = first.make("Node")
        node.setValue(NSOrderedSet(array: (0..<count).map { _ in first.make(entity) }), forKey: key)
        try first.save()
        let context = stack.another()
        return (stack, context, context.object(with: node.objectID))
    }

    @Test(
        "In SQLite a change of an ordered to-many costs the same rows and statements in 500 members and in 10,000",
        arguments: [("steps", "Step"), ("list", "Tag")])
    func storedInOrder(_ key: String, _ entity: String) throws {
        let costs = try [500, 10_000].map { count in
            let (stack, context, owner) = try list(count, key, entity)
            defer { withExtendedLifetime(stack) {} }
            let set = owner.mutableOrderedSetValue(forKey: key)
            var wanted = owner.many(key)
            let changes: [() -> Void] = [
                {
                    set.moveObjects(at: [count / 2], to: 3)
                    wanted.insert(wanted.remove(at: count / 2), at: 3)
                },
                {
                    wanted.append(context.make(entity))
                    set.add(wanted[count])
                },
                {
                    wanted.insert(context.make(entity), at: 7)
                    set.insert(wanted[7], at: 7)
                },
                {
                    set.removeObject(at: count / 3)
                    wanted.remove(at: count / 3)
                },
            ]
            return try changes.map { change in
                change()
                let before = Cost(context)
                try context.save()
                let cost = Cost(context) - before
                context.refreshAllObjects()
                #expect(owner.many(key) == wanted)
                return cost
            }
        }
        #expect(costs[0] == costs[1])
        // The rows of the owner and of a member that comes or goes, and what a save always runs.
        #expect(costs[1].allSatisfy { $0.rows <= 3 && $0.statements <= 12 }, "\(costs[1])")
    }

    @Test(
        "Adding to an ordered to-many reads no member, nor do undo and redo before the save",
        arguments: [("steps", "Step"), ("list", "Tag")])
    func addedInOrder(_ key: String, _ entity: String) throws {
        let costs = try [1000, 20_000].map { count in
            let (stack, context, owner) = try list(count, key, entity)
            defer { withExtendedLifetime(stack) {} }
            context.undoManager = UndoManager()
            _ = owner.value(forKey: "n")
            let index = try owner.toManyIndex(key)
            let before = Cost(context)
            let new = (0..<2).map { _ in context.make(entity) }
            owner._add([new[0]], toMany: index)
            if key == "steps" {
                new[1].setValue(owner, forKey: "node")
            } else {
                new[1].setValue(NSSet(object: owner), forKey: "lists")
            }
            context.processPendingChanges()
            context.undo()
            context.redo()
            try context.save()
            #expect(owner.hasFault(forRelationshipNamed: key))
            let cost = Cost(context) - before
            #expect(owner.many(key).count == count + 2 && owner.many(key).suffix(2) == new)
            let reader = stack.another()
            #expect(reader.object(with: owner.objectID).many(key).map(\.objectID) == owner.many(key).map(\.objectID))
            return cost
        }
        #expect(costs[0] == costs[1])
        #expect(costs[1].rows <= 12 && costs[1].registered == 2, "\(costs[1])")
    }

    /// The processor time of this thread, in seconds.
    private static func time(_ body: () throws -> Void) rethrows -> Double {
        func now() -> Double {
            var time = timespec()
            clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
            return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
        }
        let start = now()
        try body()
        return now() - start
    }

    /// Ways to write a whole ordered to-many, and what its members must be then.
    private static let orders:
        [(String, @Sendable (NSManagedObject, NSManagedObject, [NSManagedObject]) throws -> [NSManagedObject])] = [
            (
                "one member moved",
                { owner, _, steps in
                    let moved = Array(steps.dropFirst()) + steps.prefix(1)
                    owner.setValue(NSOrderedSet(array: moved), forKey: "steps")
                    return moved
                }
            ),
            (
                "the reverse",
                { owner, _, steps in
                    owner.setValue(NSOrderedSet(array: steps.reversed()), forKey: "steps")
                    return steps.reversed()
                }
            ),
            (
                "inserted at the front",
                { owner, _, steps in
                    guard case .toMany(let index)? = owner.place(of: "steps") else { return [] }
                    let new = steps.compactMap { $0.managedObjectContext?.make("Step") }
                    owner._insert(new, toMany: index, at: 0)
                    return new + steps
                }
            ),
            (
                "added one by one, each asked for",
                { owner, _, steps in
                    let set = owner.mutableOrderedSetValue(forKey: "steps")
                    let new = steps.compactMap { $0.managedObjectContext?.make("Step") }
                    for step in new {
                        set.add(step)
                        guard set.contains(step) else { return [] }
                    }
                    return steps + new
                }
            ),
            (
                "inserted at the front one by one",
                { owner, _, steps in
                    guard case .toMany(let index)? = owner.place(of: "steps") else { return [] }
                    let new = steps.compactMap { $0.managedObjectContext?.make("Step") }
                    for step in new { owner._insert([step], toMany: index, at: 0) }
                    return new.reversed() + steps
                }
            ),
            (
                "removed one by one",
                { owner, _, steps in
                    for step in steps.dropLast() { step.setValue(nil, forKey: "node") }
                    return steps.suffix(1)
                }
            ),
            (
                "all members given to another",
                { owner, other, steps in
                    other.setValue(NSOrderedSet(array: steps), forKey: "steps")
                    return []
                }
            ),
        ]

    @Test(
        "Writing an ordered to-many costs in proportion to its members, not to their square", .timeLimit(.minutes(30)),
        arguments: orders.map(\.0))
    func proportion(_ name: String) throws {
        let way = try #require(Self.orders.first { $0.0 == name }?.1)
        let times = try [2000, 20_000].map { count in
            try (0..<(count == 2000 ? 2 : 1)).map { _ in
                let stack = try Web.stack(NSInMemoryStoreType)
                let context = stack.context
                let (owner, other) = (context.make("Node"), context.make("Node"))
                let steps = (0..<count).map { _ in context.make("Step") }
                owner.setValue(NSOrderedSet(array: steps), forKey: "steps")
                try context.save()
                context.processPendingChanges()
                let depth = context.undoManager?.undoCount
                var expected: [NSManagedObject] = []
                let time = try Self.time {
                    expected = try way(owner, other, steps)
                    context.processPendingChanges()
                }
                #expect(owner.many("steps") == expected && (expected.isEmpty ? other.many("steps") == steps : true))
                let back = Self.time { context.undo() }
                #expect(owner.many("steps") == steps && other.many("steps").isEmpty)
                #expect(context.undoManager?.undoCount == depth)
                return time + back
            }.min() ?? 0
        }
        // Ten times the members; a square would be a hundred times the work.
        #expect(times[1] < 40 * times[0], "\(times)")
    }
}
