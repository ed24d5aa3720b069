// What unsaved changes cost a fetch: what has changed, and nothing for objects that the query cannot read.

import CoreData
import CoreDataTestSupport
import Foundation
import Testing

@Suite struct OverlayCostTests {
    private func stack() throws -> Stack {
        let stack = try Stack(NSSQLiteStoreType, undo: false)
        let wards = (0..<10).map { stack.context.make("Ward", ["name": "w\($0)"]) }
        for code in 0..<500 { stack.context.make("Patient", ["name": "p\(code)", "code": code]).setValue(wards[code % 10], forKey: "ward") }
        try stack.context.save()
        return stack
    }

    private func rows(_ stack: Stack, _ work: () throws -> Void) rethrows -> Int {
        let before = stack.coordinator.counters.rows
        try work()
        return stack.coordinator.counters.rows - before
    }

    private func request(_ format: String?, by key: String = "code", limit: Int = 2) -> NSFetchRequest<NSManagedObject> {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Patient")
        request.predicate = format.map { NSPredicate(format: $0) }
        request.sortDescriptors = [NSSortDescriptor(key: key, ascending: true)]
        request.fetchLimit = limit
        return request
    }

    private func codes(_ objects: [NSManagedObject]) -> [Int] { objects.compactMap { $0.value(forKey: "code") as? Int } }

    @Test("A fetch with a limit reads no row more where what is unsaved cannot matter")
    func unrelated() throws {
        let stack = try stack()
        let other = stack.another()
        _ = other.make("Doctor", ["name": "new"])
        var (found, count): ([NSManagedObject], Int) = ([], 0)
        let fetched = try rows(stack) { found = try other.fetch(request(nil)) }
        #expect(fetched == 2 && codes(found) == [0, 1])
        let counted = try rows(stack) { count = try other.count(for: request("code > 10", limit: 0)) }
        #expect(counted == 0 && count == 489)
    }

    @Test("Where changes matter a fetch reads as many rows more as changed, and a count none")
    func related() throws {
        let stack = try stack()
        let context = stack.another()
        let first = try #require(try context.fetch(request("code == 0")).first)
        first.setValue(1_000, forKey: "code")
        let new = context.make("Patient", ["name": "new", "code": 1])
        #expect(codes(try context.fetch(request("code > 0"))) == [1, 1])
        let fetched = try rows(stack) { _ = try context.fetch(request("code > 1")) }
        #expect(fetched <= 4)
        #expect(try context.count(for: request("code > 1", limit: 0)) == 499)
        let counted = try rows(stack) { _ = try context.count(for: request("code > 1", limit: 0)) }
        #expect(counted == 0)
        context.delete(new)
        #expect(codes(try context.fetch(request("code >= 0"))) == [1, 2])
    }

    @Test("A change at the other end of a relationship is seen by the rows that lead to it")
    func linked() throws {
        let stack = try stack()
        let context = stack.another()
        let ward = try #require(try context.all("Ward").first { $0.value(forKey: "name") as? String == "w3" })
        ward.setValue("a", forKey: "name")
        let found = try context.fetch(request("ward.name == 'a'", limit: 3))
        #expect(codes(found) == [3, 13, 23])
        #expect(try context.count(for: request("ward.name == 'w3'", limit: 0)) == 0)
        #expect(codes(try context.fetch(request(nil, by: "ward.name", limit: 1))).map { $0 % 10 } == [3])
    }
}
