// What a change of a large to-many costs beside statements and rows: hashes of members, steps of SQLite, objects made.

import CCoreDataSQLite
import CoreDataSeeds
import CoreDataTestSupport
import CoreDataValues
import Foundation
import Synchronization
import Testing

@testable import CoreData
@testable import CoreDataSQLite

/// A member that counts how often it is hashed.
final class Hashed: NSManagedObject {
    static let hashes = Atomic<Int>(0)

    override var hash: Int {
        Hashed.hashes.wrappingAdd(1, ordering: .relaxed)
        return super.hash
    }
}

@Suite(.serialized) struct ChangeCostTests {
    /// A node with saved ordered members, in a context that holds none of them.
    func list(_ count: Int, _ key: String, _ entity: String) throws -> (
        Stack, NSManagedObjectContext, NSManagedObject
    ) {
        let stack = try Web.stack()
        let first = stack.context
        first.undoManager = nil
        let node = first.make("Node")
        node._setToMany(try node.toManyIndex(key), (0..<count).map { _ in first.make(entity) })
        try first.save()
        let context = stack.another()
        context.undoManager = UndoManager()
        return (stack, context, context.object(with: node.objectID))
    }

    /// A stack whose nodes, tags and steps count their hashes.
    func hashedStack() throws -> Stack {
        var draft = Web.draft()
        for index in draft.entities.indices where ["Node", "Tag", "Step"].contains(draft.entities[index].name) {
            draft.entities[index].className = "RelationshipTests.Hashed"
        }
        return try Stack(NSInMemoryStoreType, model: NSManagedObjectModel(draft: draft), undo: true)
    }

    // MARK: The setter

    @Test(
        "Setting a to-many hashes the members that come and go, and no other",
        arguments: ["children", "tags", "likes", "steps", "list"])
    func hashes(_ key: String) throws {
        let stack = try hashedStack()
        let context = stack.context
        let owner = context.make("Node")
        let entity = ["children": "Node", "steps": "Step"][key] ?? "Tag"
        let index = try owner.toManyIndex(key)
        let members = (0..<1000).map { _ in context.make(entity) }
        owner._setToMany(index, members)
        try context.save()
        let new = context.make(entity)
        context.processPendingChanges()
        var wanted = owner._toMany(index)
        wanted.remove(members[7])
        wanted.insert(new)
        let before = Hashed.hashes.load(ordering: .relaxed)
        owner._setToMany(index, wanted)
        owner.setValue(wanted, forKey: key)
        owner.setValue(Array(wanted.dropFirst()) + [members[7]], forKey: key)
        #expect(Hashed.hashes.load(ordering: .relaxed) - before < 40)
        let isSet = owner._toMany(index) == Set(wanted.dropFirst()).union([members[7]])
        #expect(isSet)
        context.undo()
        let isBack = owner._toMany(index) == Set(members)
        #expect(isBack)
    }

    @Test("What comes and goes is found whatever the two lists are, and no mark stays")
    func comparison() throws {
        let stack = try Web.stack(NSInMemoryStoreType)
        let context = stack.context
        let all = ContiguousArray((0..<30).map { _ in context.make("Tag") })
        for seed in 0..<300 {
            var random = SplitMix(UInt64(seed))
            let present = all.filter { _ in random.below(3) > 0 }.shuffled(using: &random)
            let wanted = ContiguousArray((0..<random.below(40)).map { _ in all[random.below(30)] })
            let change = MemberComparison(present: ContiguousArray(present), wanted: wanted)
            var seen: Set<NSManagedObject> = []
            #expect(change.wanted.elementsEqual(wanted.filter { seen.insert($0).inserted }, by: ===))
            #expect(change.came.elementsEqual(change.wanted.filter { !present.contains($0) }, by: ===))
            #expect(change.gone.elementsEqual(present.filter { !seen.contains($0) }, by: ===))
            #expect(all.allSatisfy { !$0._state.has([.present, .wanted]) })
        }
    }

    // MARK: SQLite

    /// The steps that SQLite has taken for the statements of the writer.
    func steps(_ stack: Stack) throws -> Int {
        let store = try #require(stack.coordinator.persistentStores[0].rows as? SQLiteStore)
        return try store.pool.write { connection in
            var steps = 0
            var statement = sqlite3_next_stmt(connection.handle, nil)
            while let current = statement {
                steps += Int(sqlite3_stmt_status(current, SQLITE_STMTSTATUS_VM_STEP, 0))
                statement = sqlite3_next_stmt(connection.handle, current)
            }
            return steps
        }
    }

    @Test(
        "SQLite takes the same steps to save a change of an ordered to-many of 300 members and of 5,000",
        arguments: [("steps", "Step"), ("list", "Tag")])
    func steps(_ key: String, _ entity: String) throws {
        let costs = try [300, 5000].map { count in
            let (stack, context, owner) = try list(count, key, entity)
            let set = owner.mutableOrderedSetValue(forKey: key)
            var wanted = owner.many(key)
            // The first append looks for the last position.
            wanted.append(context.make(entity))
            set.add(wanted[count])
            try context.save()
            let changes: [() -> Void] = [
                {
                    wanted.append(context.make(entity))
                    set.add(wanted[count + 1])
                },
                {
                    set.moveObjects(at: [0], to: count)
                    wanted.insert(wanted.remove(at: 0), at: count)
                },
                {
                    set.exchangeObject(at: count / 2, withObjectAt: 3)
                    wanted.swapAt(count / 2, 3)
                },
                {
                    for _ in 0..<14 {
                        wanted.insert(context.make(entity), at: count / 3)
                        set.insert(wanted[count / 3], at: count / 3)
                    }
                },
                {
                    set.removeObject(at: count / 2)
                    wanted.remove(at: count / 2)
                },
            ]
            var costs: [Int] = []
            for change in changes {
                change()
                let before = try steps(stack)
                try context.save()
                costs.append(try steps(stack) - before)
                let reader = stack.another()
                #expect(reader.object(with: owner.objectID).many(key).map(\.objectID) == wanted.map(\.objectID))
            }
            return costs
        }
        for (few, many) in zip(costs[0], costs[1]) { #expect(many < few * 3 / 2, "\(costs)") }
    }

    @Test(
        "An append comes last also when another connection has appended since the last one",
        arguments: [("steps", "Step"), ("list", "Tag")])
    func otherWriter(_ key: String, _ entity: String) throws {
        let (stack, context, owner) = try list(5, key, entity)
        let second = try NSPersistentStoreCoordinator(
            stack.coordinator.managedObjectModel, at: stack.coordinator.persistentStores[0].url)
        let index = try owner.toManyIndex(key)
        let uri = owner.objectID.uriRepresentation()
        context.stalenessInterval = 0
        for round in 0..<4 {
            let mine = context.make(entity, ["n": 2 * round])
            owner._add([mine], toMany: index)
            try context.save()
            let other = second.context()
            other.stalenessInterval = 0
            let id = try #require(second.managedObjectID(forURIRepresentation: uri))
            let same = other.object(with: id)
            same._add([other.make(entity, ["n": 2 * round + 1])], toMany: index)
            try other.save()
            context.refresh(owner, mergeChanges: false)
        }
        let reader = stack.another()
        reader.stalenessInterval = 0
        let numbers = reader.object(with: owner.objectID).many(key).dropFirst(5).map { $0.value(forKey: "n") as? Int }
        #expect(numbers == [0, 1, 2, 3, 4, 5, 6, 7])
    }

    // MARK: Objects made

    @Test(
        "Undo and redo of a saved append make no object of another member, and read none",
        arguments: [("steps", "Step"), ("list", "Tag")])
    func undoneAppend(_ key: String, _ entity: String) throws {
        let (stack, context, owner) = try list(400, key, entity)
        _ = owner.value(forKey: "n")
        let index = try owner.toManyIndex(key)
        let new = context.make(entity)
        context.processPendingChanges()
        owner._add([new], toMany: index)
        context.processPendingChanges()
        context.undo()
        context.redo()
        try context.save()
        let rows = stack.coordinator.counters.rows
        for _ in 0..<2 {
            context.undo()
            try context.save()
            context.redo()
            try context.save()
        }
        #expect(context.registeredObjects.count == 2 && stack.coordinator.counters.rows < rows + 40)
        #expect(owner.hasFault(forRelationshipNamed: key))
        #expect(owner.many(key).count == 401 && owner.many(key).last?.objectID == new.objectID)
        context.undo()
        #expect(owner.many(key).count == 400)
        try context.save()
        let reader = stack.another()
        #expect(reader.object(with: owner.objectID).many(key).count == 400)
    }

    @Test(
        "A child's append makes no object of the other members, neither here nor in the parent",
        arguments: [("steps", "Step"), ("list", "Tag")])
    func pushedAppend(_ key: String, _ entity: String) throws {
        let (stack, parent, owner) = try list(400, key, entity)
        let child = parent.child()
        let same = child.object(with: owner.objectID)
        let index = try same.toManyIndex(key)
        let new = (0..<3).map { child.make(entity, ["n": $0]) }
        same._add(new, toMany: index)
        try child.save()
        #expect(child.registeredObjects.count == 4 && parent.registeredObjects.count == 4)
        try parent.save()
        let reader = stack.another()
        let read = reader.object(with: owner.objectID).many(key)
        #expect(read.count == 403 && read.suffix(3).map { $0.value(forKey: "n") as? Int } == [0, 1, 2])
    }

    @Test(
        "A member taken out of an ordered to-many and put back by an undo stands where it stood",
        arguments: [("steps", "Step"), ("list", "Tag")])
    func restored(_ key: String, _ entity: String) throws {
        for seed in 0..<40 {
            var random = SplitMix(UInt64(seed))
            let (stack, context, owner) = try list(12, key, entity)
            defer { withExtendedLifetime(stack) {} }
            let index = try owner.toManyIndex(key)
            var states = [owner.many(key)]
            for _ in 0..<8 {
                var now = states[states.count - 1]
                let place = random.below(now.count)
                switch random.below(4) {
                case 0:
                    owner._remove(at: place, toMany: index)
                    now.remove(at: place)
                case 1:
                    let member = now.remove(at: place)
                    owner._remove([member], toMany: index)
                    context.processPendingChanges()
                    states.append(now)
                    owner._add([member], toMany: index)
                    now.append(member)
                case 2:
                    let to = random.below(now.count)
                    owner.mutableOrderedSetValue(forKey: key).moveObjects(at: [place], to: to)
                    if to == place { continue }
                    now.insert(now.remove(at: place), at: to)
                default:
                    let new = context.make(entity)
                    owner._insert([new], toMany: index, at: place)
                    now.insert(new, at: place)
                }
                context.processPendingChanges()
                states.append(now)
                #expect(owner.many(key) == now)
                if random.below(3) == 0 { try context.save() }
            }
            for state in states.dropLast().reversed() {
                context.undo()
                #expect(owner.many(key).map(\.objectID) == state.map(\.objectID), "seed \(seed)")
                if random.below(3) == 0 { try context.save() }
            }
            for state in states.dropFirst() {
                context.redo()
                #expect(owner.many(key) == state, "seed \(seed)")
            }
            try context.save()
            let reader = stack.another()
            let read = reader.object(with: owner.objectID).many(key)
            #expect(read.map(\.objectID) == states[states.count - 1].map(\.objectID), "seed \(seed)")
        }
    }

    // MARK: Members not read

    @Test(
        "A change of a to-many that is not read asks for one pair: it reads no member, nor does its undo after the save",
        arguments: [("tags", "Tag"), ("likes", "Tag"), ("friends", "Node")])
    func unread(_ key: String, _ entity: String) throws {
        let (stack, context, owner) = try list(400, key, entity)
        let writer = stack.another()
        let ids = (0..<2).map { _ in writer.make(entity) }
        try writer.save()
        _ = owner.value(forKey: "n")
        let index = try owner.toManyIndex(key)
        let others = ids.map { context.object(with: $0.objectID) }
        for other in others { _ = other.value(forKey: "n") }
        let rows = stack.coordinator.counters.rows
        owner._add(others, toMany: index)
        owner._add(others, toMany: index)
        try context.save()
        for _ in 0..<2 {
            context.undo()
            try context.save()
            context.redo()
            try context.save()
        }
        #expect(stack.coordinator.counters.rows < rows + 60)
        #expect(context.registeredObjects.count == 3 && owner.hasFault(forRelationshipNamed: key))
        #expect(Set(owner.many(key)).isSuperset(of: others) && owner.many(key).count == 402)
        context.undo()
        #expect(owner.many(key).count == 400)
    }

    @Test(
        "Every store tells of one pair what its members tell",
        arguments: [NSSQLiteStoreType, NSInMemoryStoreType, NSBinaryStoreType],
        ["tags", "likes", "friends", "children", "steps", "list"])
    func pairs(_ type: String, _ key: String) throws {
        let stack = try Web.stack(type)
        let first = stack.context
        let entity = ["children": "Node", "friends": "Node", "steps": "Step"][key] ?? "Tag"
        let owners = (0..<2).map { _ in first.make("Node") }
        let members = (0..<6).map { _ in first.make(entity) }
        let index = try owners[0].toManyIndex(key)
        owners[0]._setToMany(index, members[..<3])
        owners[1]._setToMany(index, members[3..<5])
        try first.save()
        let reader = stack.another()
        let store = try #require(reader.reader(of: owners[0]._state.key.store))
        for owner in owners {
            for member in members {
                let answer = try store.isMember(
                    member._state.key.row, of: owner.relationship(toMany: index).index, owner: owner._state.key.row,
                    .latest)
                #expect(answer == owner.many(key).contains(member))
                let (mine, other) = (reader.object(with: owner.objectID), reader.object(with: member.objectID))
                #expect(mine.isMember(other, at: index) == answer && mine.hasFault(forRelationshipNamed: key))
            }
        }
        // A child hears what its parent has pending, and no more of what that has deleted.
        let child = first.child()
        owners[0]._remove([members[0]], toMany: index)
        owners[0]._add([members[5]], toMany: index)
        first.delete(members[1])
        first.processPendingChanges()
        let same = child.object(with: owners[0].objectID)
        let present = members.map { same.isMember(child.object(with: $0.objectID), at: index) }
        #expect(present == [false, false, true, false, false, true])
    }

    @Test("Many questions whether objects are in a to-many that is not read end with one look at all members")
    func questions() throws {
        let (stack, context, owner) = try list(40, "tags", "Tag")
        let tags = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Tag"))
        let index = try owner.toManyIndex("tags")
        let statements = stack.coordinator.counters.statements
        for tag in tags { #expect(owner.isMember(tag, at: index)) }
        #expect(stack.coordinator.counters.statements - statements == ToMany.searches + 1)
        #expect(!owner.hasFault(forRelationshipNamed: "tags"))
    }
}
