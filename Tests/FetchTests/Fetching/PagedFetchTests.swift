// Fetches by the page: keys first, then the rows of a batch when one of its objects is read.

import CoreDataTestSupport
import CoreDataValues
import Foundation
import Testing

@testable import CoreData

@Suite struct PagedFetchTests {
    /// A store of things `t0` …, and another context, which knows none of them.
    private func stack(_ count: Int, _ type: String = NSSQLiteStoreType) throws -> (Stack, NSManagedObjectContext) {
        let stack = try Stack(type, model: Shelf.model(), undo: false)
        for rank in 0..<count {
            _ = stack.context.make("Thing", ["name": "t\(rank)", "rank": Int64(rank), "shelf": "A"])
        }
        try stack.context.save()
        stack.context.reset()
        let context = stack.another()
        context.stalenessInterval = 0
        return (stack, context)
    }

    private func request(_ size: Int) -> NSFetchRequest<NSManagedObject> {
        let request = Shelf.request(["rank"])
        request.fetchBatchSize = size
        return request
    }

    /// The statements and rows of a block.
    private func costs(_ stack: Stack, _ body: () throws -> Void) rethrows -> [Int] {
        let costs = try stack.costs(of: body)
        return [costs.statements, costs.rows]
    }

    private func names(_ objects: some Sequence<NSManagedObject>) -> [String] {
        objects.map { $0.value(forKey: "name") as? String ?? "-" }
    }

    @Test("8.7 A fetch reads keys; the first read of an object reads its batch, and no other")
    func batches() throws {
        let (stack, context) = try stack(1_000)
        var things: [NSManagedObject] = []
        #expect(try costs(stack) { things = try context.fetch(self.request(20)) } == [1, 1_000])
        #expect(things.count == 1_000 && things.allSatisfy(\.isFault))
        var read: [String] = []
        #expect(costs(stack) { read = self.names(things[40..<60]) } == [1, 20])
        #expect(read == (40..<60).map { "t\($0)" })
        #expect(costs(stack) { read = self.names(things[990...]) } == [1, 20])
        #expect(read == (990..<1_000).map { "t\($0)" })
        #expect(
            things.count(where: \.isFault) == 1_000 - 20 - 10, "Those beside the last ten have rows and still sleep.")
        #expect(costs(stack) { read = self.names(things) } == [48, 960])
        #expect(read == (0..<1_000).map { "t\($0)" })
    }

    @Test("8.7 Small batches, uneven ones, and ones larger than 256")
    func sizes() throws {
        let (stack, _) = try stack(600)
        for (size, statements) in [(1, 600), (7, 86), (300, 2), (599, 2), (5_000, 1)] {
            let context = stack.another()
            context.stalenessInterval = 0
            let things = try context.fetch(request(size))
            var read: [String] = []
            let found = costs(stack) { read = self.names(things) }
            #expect(found == [statements, 600] && read == (0..<600).map { "t\($0)" }, "\(size)")
        }
    }

    @Test("A batch that the limit is within reads everything at once; so do refreshing fetches")
    func wholeFetches() throws {
        let (stack, context) = try stack(50)
        let limited = request(20)
        limited.fetchLimit = 10
        let refreshing = request(20)
        refreshing.shouldRefreshRefetchedObjects = true
        for request in [limited, refreshing] {
            context.reset()
            let things = try context.fetch(request)
            #expect(costs(stack) { _ = self.names(things) } == [0, 0])
        }
        limited.fetchLimit = 40
        context.reset()
        let things = try context.fetch(limited)
        #expect(costs(stack) { _ = self.names(things) } == [2, 40])
    }

    @Test(
        "8.7 With unsaved changes, in a child, and in other stores the objects are the same",
        arguments: StoreMaker.types)
    func everywhere(_ type: String) throws {
        let (stack, context) = try stack(60, type)
        let all = try context.fetch(request(0))
        all[5].setValue(Int64(100), forKey: "rank")
        context.delete(all[6])
        _ = context.make("Thing", ["name": "new", "rank": Int64(30), "shelf": "B"])
        let expected = names(try context.fetch(request(0)))
        #expect(names(try context.fetch(request(10))) == expected && expected.count == 60)
        let child = context.child()
        #expect(try child.performAndWait { self.names(try child.fetch(self.request(10))) } == expected)
        try context.save()
        #expect(names(try stack.another().fetch(request(10))).count == 60)
    }

    @Test("Objects that go, and rows that another writer has deleted meanwhile, hurt no batch")
    func gone() throws {
        let (stack, context) = try stack(40)
        var things = try context.fetch(request(10))
        things.removeSubrange(1...3)
        let other = stack.another()
        for thing in try other.fetch(request(0)).prefix(10).suffix(3) { other.delete(thing) }
        try other.save()
        context.shouldDeleteInaccessibleFaults = true
        #expect(names(things).filter { $0 != "-" } == ["t0", "t4", "t5", "t6"] + (10..<40).map { "t\($0)" })
    }
}
