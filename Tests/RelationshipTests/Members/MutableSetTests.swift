// The live sets of `mutableSetValue(forKey:)` and `mutableOrderedSetValue(forKey:)`, through Foundation's whole interface.

import CoreDataTestSupport
import CoreDataValues
import Foundation
import Testing

@testable import CoreData

@Suite struct MutableSetTests {
    private let stack: Stack
    private let owner: NSManagedObject
    private let tags: [NSManagedObject]

    init() throws {
        stack = try Web.stack()
        owner = stack.context.make("Node", ["n": 0])
        tags = (0..<6).map { [context = stack.context] in context.make("Tag", ["n": $0]) }
    }

    private func numbers(_ objects: some Sequence<Any>) -> [Int] {
        objects.compactMap { ($0 as? NSManagedObject)?["n"] as? Int }
    }

    /// The numbers of the owner's tags, and a check that the tags agree.
    private func present(_ key: String = "tags", _ back: String = "nodes") -> [Int] {
        for tag in tags { #expect(tag.members(back).contains(owner) == owner.members(key).contains(tag)) }
        return numbers(owner.many(key))
    }

    @Test("A mutable set reads the relationship as it is, whoever changed it")
    func reading() {
        let set = owner.mutableSetValue(forKey: "tags")
        #expect(set.count == 0 && set.allObjects.isEmpty && set.anyObject() == nil)
        tags[1].setValue(NSSet(array: [owner]), forKey: "nodes")
        owner.setValue(Set(tags[1...3]), forKey: "tags")
        #expect(set.count == 3)
        #expect(set.contains(tags[2]) && !set.contains(tags[0]) && !set.contains("tag"))
        #expect(set.member(tags[2]) as? NSManagedObject === tags[2])
        #expect(numbers(set.allObjects).sorted() == [1, 2, 3])
        #expect(numbers(set).sorted() == [1, 2, 3])
        var seen: [Any] = []
        set.enumerateObjects { object, _ in seen.append(object) }
        #expect(numbers(seen).sorted() == [1, 2, 3])
        #expect(set.isEqual(NSSet(array: Array(tags[1...3]))) && NSSet(array: Array(tags[1...3])).isEqual(set))
        #expect(set.isSubset(of: Set(tags)) && set.intersects(Set([tags[1]])))
        #expect((set.copy() as? NSSet)?.count == 3)
        #expect(((set.copy() as? NSSet) as? Set<NSManagedObject>)?.count == 3)
        #expect((set.mutableCopy() as? NSMutableSet)?.count == 3)
        #expect(numbers(set.sortedArray(using: [NSSortDescriptor(key: "n", ascending: false)])) == [3, 2, 1])
        #expect(set.filtered(using: NSPredicate(format: "n > 1")).count == 2)
        #expect(set.description.contains("Tag"))
        #expect((set.value(forKey: "n") as? NSSet)?.count == 3)
        #expect(set.value(forKeyPath: "@sum.n") as? Int == 6)
        tags[1].mutableSetValue(forKey: "nodes").removeAllObjects()
        #expect(set.count == 2)
    }

    @Test("Every writing method of a mutable set writes both sides")
    func writing() {
        let set = owner.mutableSetValue(forKey: "tags")
        set.add(tags[0])
        set.add(tags[0])
        #expect(present() == [0])
        set.addObjects(from: [tags[1], tags[2]])
        #expect(present().sorted() == [0, 1, 2])
        set.remove(tags[1])
        set.remove(tags[5])
        #expect(present().sorted() == [0, 2])
        set.union(Set(tags[3...4]))
        #expect(present().sorted() == [0, 2, 3, 4])
        set.minus(Set([tags[0], tags[5]]))
        #expect(present().sorted() == [2, 3, 4])
        set.intersect(Set(tags[0...3]))
        #expect(present().sorted() == [2, 3])
        set.setSet(Set([tags[3], tags[5]]))
        #expect(present().sorted() == [3, 5])
        set.filter(using: NSPredicate(format: "n > 3"))
        #expect(present() == [5])
        set.removeAllObjects()
        #expect(present().isEmpty)
    }

    @Test("A set of saved objects is written and read in another context, and outlives a save")
    func saved() throws {
        try stack.context.save()
        let set = owner.mutableSetValue(forKey: "tags")
        set.addObjects(from: tags)
        try stack.context.save()
        #expect(set.count == 6)
        set.remove(tags[0])
        let other = stack.another()
        let same = other.object(with: owner.objectID).mutableSetValue(forKey: "tags")
        #expect(same.count == 6 && same.contains(other.object(with: tags[0].objectID)))
        try stack.context.save()
        #expect(stack.another().object(with: owner.objectID).isFault)
        #expect(set.count == 5 && !set.contains(tags[0]))
    }

    @Test("Accessors of generated classes add, remove, insert and replace on both sides")
    func accessors() throws {
        guard case .toMany(let set)? = owner.place(of: "tags"), case .toMany(let list)? = owner.place(of: "list") else {
            throw CocoaError(.coreData)
        }
        owner._add(tags[0...2], toMany: set)
        owner._remove([tags[1]], toMany: set)
        #expect(present().sorted() == [0, 2])
        owner._insert(tags[0...2], toMany: list, at: 0)
        owner._insert([tags[4], tags[5]], toMany: list, at: 1)
        #expect(present("list", "lists") == [0, 4, 5, 1, 2])
        owner._remove(at: 2, toMany: list)
        owner._replace(at: 0, toMany: list, with: tags[3])
        #expect(present("list", "lists") == [3, 4, 1, 2])
        #expect(numbers(owner._orderedSet(list).array) == [3, 4, 1, 2])
        let other = stack.context.make("Node", ["parent": owner])
        other.mutableSetValue(forKeyPath: "parent.tags").remove(tags[2])
        other.mutableOrderedSetValue(forKeyPath: "parent.list").add(tags[5])
        #expect(present() == [0] && present("list", "lists") == [3, 4, 1, 2, 5])
        owner._add([tags[2]], toMany: set)
        owner._remove([tags[5]], toMany: list)
        #expect(owner._mutableSet(set).count == 2 && owner._mutableOrderedSet(list).count == 4)
    }

    @Test("A mutable ordered set reads the relationship as it is, whoever changed it")
    func orderedReading() {
        let set = owner.mutableOrderedSetValue(forKey: "list")
        #expect(set.count == 0 && set.array.isEmpty && set.firstObject == nil)
        owner.setValue(NSOrderedSet(array: [tags[3], tags[1], tags[2]]), forKey: "list")
        #expect(numbers(set.array) == [3, 1, 2])
        #expect(set.count == 3 && set.object(at: 1) as? NSManagedObject === tags[1])
        #expect(set[2] as? NSManagedObject === tags[2])
        #expect(set.index(of: tags[2]) == 2 && set.index(of: tags[0]) == NSNotFound)
        #expect(set.contains(tags[1]) && !set.contains(tags[5]))
        #expect(numbers(set) == [3, 1, 2])
        tags[5].mutableSetValue(forKey: "lists").add(owner)
        #expect((set.lastObject as? NSManagedObject) === tags[5] || set.count == 4)
        #expect(numbers(set.array) == [3, 1, 2, 5])
        #expect(numbers(set.reversed.array) == [5, 2, 1, 3])
        #expect(set.set.count == 4)
        #expect(set.isEqual(to: NSOrderedSet(array: [tags[3], tags[1], tags[2], tags[5]])))
        #expect(set.isSubset(of: NSOrderedSet(array: tags)))
        #expect((set.copy() as? NSOrderedSet)?.count == 4)
        #expect(numbers((set.mutableCopy() as? NSMutableOrderedSet)?.array ?? []) == [3, 1, 2, 5])
        var seen: [Any] = []
        set.enumerateObjects { object, _, _ in seen.append(object) }
        #expect(numbers(seen) == [3, 1, 2, 5])
        #expect(numbers(set.objects(at: IndexSet([0, 2]))) == [3, 2])
        #expect(set.filtered(using: NSPredicate(format: "n > 1")).count == 3)
        #expect(set.description.contains("Tag"))
    }

    @Test("Every writing method of a mutable ordered set writes both sides and the order")
    func orderedWriting() {
        let set = owner.mutableOrderedSetValue(forKey: "list")
        func now() -> [Int] {
            let found = present("list", "lists")
            #expect(numbers(set.array) == found && numbers(set) == found)
            return found
        }
        set.add(tags[0])
        set.add(tags[0])
        set.insert(tags[1], at: 0)
        #expect(now() == [1, 0])
        set.addObjects(from: [tags[2], tags[0], tags[3]])
        #expect(now() == [1, 0, 2, 3])
        set.removeObject(at: 1)
        set.remove(tags[3])
        set.remove(tags[5])
        #expect(now() == [1, 2])
        set.insert([tags[4], tags[5]], at: IndexSet([0, 2]))
        #expect(now() == [4, 1, 5, 2])
        set.replaceObject(at: 1, with: tags[0])
        set.replaceObject(at: 0, with: tags[5])
        #expect(now() == [4, 0, 5, 2])
        set.setObject(tags[1], at: 4)
        set[0] = tags[3]
        #expect(now() == [3, 0, 5, 2, 1])
        set.exchangeObject(at: 0, withObjectAt: 4)
        #expect(now() == [1, 0, 5, 2, 3])
        set.moveObjects(at: IndexSet([0, 1]), to: 2)
        #expect(now() == [5, 2, 1, 0, 3])
        set.replaceObjects(at: IndexSet([0]), with: [tags[4]])
        set.removeObjects(at: IndexSet([1, 2]))
        #expect(now() == [4, 0, 3])
        set.sort(comparator: { a, b in
            let (x, y) = ((a as? NSManagedObject)?["n"] as? Int ?? 0, (b as? NSManagedObject)?["n"] as? Int ?? 0)
            return x < y ? .orderedAscending : x > y ? .orderedDescending : .orderedSame
        })
        #expect(now() == [0, 3, 4])
        set.sort(using: [NSSortDescriptor(key: "n", ascending: false)])
        #expect(now() == [4, 3, 0])
    }

    @Test("Set arithmetic of a mutable ordered set writes both sides and the order")
    func orderedArithmetic() {
        let set = owner.mutableOrderedSetValue(forKey: "list")
        func now() -> [Int] { present("list", "lists") }
        set.addObjects(from: [tags[4], tags[3], tags[0]])
        set.union(NSOrderedSet(array: [tags[0], tags[1]]))
        #expect(now() == [4, 3, 0, 1])
        set.unionSet(Set([tags[2]]))
        #expect(now() == [4, 3, 0, 1, 2])
        set.minus(NSOrderedSet(array: [tags[3]]))
        set.minusSet(Set([tags[2]]))
        #expect(now() == [4, 0, 1])
        set.intersect(NSOrderedSet(array: [tags[1], tags[4], tags[5]]))
        #expect(now() == [4, 1])
        set.intersectSet(Set([tags[1]]))
        #expect(now() == [1])
        set.addObjects(from: tags)
        set.removeObjects(in: NSRange(location: 1, length: 2))
        set.removeObjects(in: [tags[5]])
        #expect(now() == [1, 3, 4])
        set.removeAllObjects()
        #expect(now().isEmpty)
    }

    @Test("What live sets did is undone and redone")
    func undo() {
        let context = stack.context
        let list = owner.mutableOrderedSetValue(forKey: "list")
        let set = owner.mutableSetValue(forKey: "tags")
        list.addObjects(from: Array(tags[0...3]))
        set.add(tags[0])
        context.processPendingChanges()
        list.moveObjects(at: IndexSet([3]), to: 0)
        list.removeObject(at: 1)
        list.insert(tags[5], at: 1)
        set.setSet(Set([tags[4]]))
        context.processPendingChanges()
        #expect(present("list", "lists") == [3, 5, 1, 2] && present() == [4])
        context.undo()
        #expect(present("list", "lists") == [0, 1, 2, 3] && present() == [0])
        context.redo()
        #expect(present("list", "lists") == [3, 5, 1, 2] && present() == [4])
        #expect(numbers(list.array) == [3, 5, 1, 2] && set.count == 1)
    }
}
