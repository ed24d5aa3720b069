// What unsaved changes cost a fetch: what has changed, and nothing for objects that the query cannot read.

import CoreData
import CoreDataTestSupport
import Foundation
import Testing

@Suite struct OverlayCostTests {
    private func stack() throws -> Stack {
        let stack = try Stack(NSSQLiteStoreType, undo: false)
        let wards = (0..<10).map { stack.context.make("Ward", ["name": "w\($0)"]) }
        for code in 0..<500 {
            stack.context.make("Patient", ["name": "p\(code)", "code": code]).setValue(wards[code % 10], forKey: "ward")
        }
        try stack.context.save()
        return stack
    }

    private func request(_ format: String?, by key: String = "code", limit: Int = 2) -> NSFetchRequest<NSManagedObject>
    {
        let request = NSFetchRequest<NSManagedObject>("Patient", format, by: key)
        request.fetchLimit = limit
        return request
    }

    private func codes(_ objects: [NSManagedObject]) -> [Int] {
        objects.compactMap { $0.value(forKey: "code") as? Int }
    }

    @Test("A fetch with a limit reads no row more where what is unsaved cannot matter")
    func unrelated() throws {
        let stack = try stack()
        let other = stack.another()
        _ = other.make("Doctor", ["name": "new"])
        var (found, count): ([NSManagedObject], Int) = ([], 0)
        let fetched = try stack.costs { found = try other.fetch(request(nil)) }.rows
        #expect(fetched == 2 && codes(found) == [0, 1])
        let counted = try stack.costs { count = try other.count(for: request("code > 10", limit: 0)) }.rows
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
        let fetched = try stack.costs { _ = try context.fetch(request("code > 1")) }.rows
        #expect(fetched <= 4)
        #expect(try context.count(for: request("code > 1", limit: 0)) == 499)
        let counted = try stack.costs { _ = try context.count(for: request("code > 1", limit: 0)) }.rows
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

    // MARK: What each relationship costs

    /// A query on patients, and an object whose change matters to it and one whose change does not.
    struct Case: Sendable, CustomStringConvertible {
        let kind: String
        let format: String
        let related: String
        let unrelated: String
        /// How many rows the change of one related object may cost more: those that lead to it, and as many of the store's answer.
        let rows: Int
        var description: String { "\(kind): \(format)" }
    }

    static let cases = [
        Case(kind: "own attribute", format: "code >= 0", related: "Patient", unrelated: "Ward", rows: 1),
        Case(kind: "to-one", format: "ward.beds == 0", related: "Ward", unrelated: "Doctor", rows: 100),
        Case(
            kind: "sub-entity of an abstract one", format: "ward.name BEGINSWITH 'w'", related: "Ward",
            unrelated: "Bed", rows: 100),
        Case(kind: "to-many", format: "ANY visits.code == 0", related: "Visit", unrelated: "Ward", rows: 4),
        Case(kind: "many-to-many", format: "ANY doctors.code == 0", related: "Doctor", unrelated: "Visit", rows: 8),
        Case(kind: "one-to-one", format: "bed.number == 0", related: "Bed", unrelated: "Doctor", rows: 4),
        Case(kind: "count of members", format: "visits.@count == 1", related: "Visit", unrelated: "Bed", rows: 4),
        Case(kind: "two hops", format: "ANY ward.patients.age == 0", related: "Ward", unrelated: "Doctor", rows: 150),
    ]

    /// 200 patients of one visit, bed and doctor each, 50 a ward; every condition above holds for all.
    private func clinic() throws -> Stack {
        let stack = try Stack(NSSQLiteStoreType, undo: false)
        let context = stack.context
        let wards = (0..<4).map { context.make("Ward", ["name": "w\($0)", "beds": 0]) }
        for code in 0..<200 {
            let patient = context.make(
                "Patient", ["name": "p\(code)", "code": code, "age": 0, "ward": wards[code % 4]])
            _ = context.make("Visit", ["code": 0, "patient": patient])
            _ = context.make("Bed", ["number": 0, "patient": patient])
            patient.mutableSetValue(forKey: "doctors").add(context.make("Doctor", ["name": "d\(code)", "code": 0]))
        }
        try context.save()
        return stack
    }

    private func change(_ entity: String, in context: NSManagedObjectContext) throws -> NSManagedObject {
        let request = NSFetchRequest<NSManagedObject>(entityName: entity)
        request.fetchLimit = 1
        let object = try #require(try context.fetch(request).first)
        let key = entity == "Bed" ? "number" : "code"
        object.setValue((object.value(forKey: key) as? Int ?? 0) + 1_000, forKey: key)
        return object
    }

    private func keys(_ format: String, _ context: NSManagedObjectContext) throws -> Int {
        let request = NSFetchRequest<NSManagedObjectID>("Patient", format)
        request.resultType = .managedObjectIDResultType
        request.fetchLimit = 2
        return try context.fetch(request).count
    }

    @Test(
        "Each kind of relationship costs what has changed at its end, and nothing else that is unsaved costs anything",
        arguments: cases)
    func kinds(_ item: Case) throws {
        let stack = try clinic()
        func cost(_ context: NSManagedObjectContext) throws -> (fetch: Int, ids: Int, count: Int, statements: Int) {
            let before = stack.coordinator.counters.statements
            let fetch = try stack.costs { _ = try context.fetch(request(item.format)) }.rows
            let ids = try stack.costs { _ = try keys(item.format, context) }.rows
            let count = try stack.costs { _ = try context.count(for: request(item.format, limit: 0)) }.rows
            return (fetch, ids, count, stack.coordinator.counters.statements - before)
        }
        let clean = try cost(stack.another())
        #expect(clean.fetch == 2 && clean.ids == 2 && clean.count == 0 && clean.statements == 3)
        for isInParent in [false, true] {
            let context = stack.another()
            let held = try change(item.unrelated, in: context)
            let reader = isInParent ? context.child() : context
            let unrelated = try cost(reader)
            #expect(unrelated == clean, "\(unrelated)")
            withExtendedLifetime(held) {}
        }
        for isInParent in [false, true] {
            let context = stack.another()
            let held = try change(item.related, in: context)
            let reader = isInParent ? context.child() : context
            let related = try cost(reader)
            #expect(
                related.fetch <= 2 + item.rows && related.ids <= 2 + item.rows && related.count <= item.rows,
                "\(related)")
            withExtendedLifetime(held) {}
        }
    }
}
