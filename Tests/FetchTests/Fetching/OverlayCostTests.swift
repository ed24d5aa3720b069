// What a fetch reads while objects are unsaved.

import CoreDataTestSupport
import CoreDataValues
import Foundation
import Testing

@testable import CoreData

@Suite struct OverlayCostTests {
    private func request(_ entity: String, _ predicate: String?, limit: Int = 0, offset: Int = 0) -> NSFetchRequest<
        NSManagedObject
    > {
        let request = NSFetchRequest<NSManagedObject>(entity, predicate)
        request.sortDescriptors = [NSSortDescriptor(key: entity == "Patient" ? "code" : "name", ascending: true)]
        (request.fetchLimit, request.fetchOffset) = (limit, offset)
        return request
    }

    private func codes(_ objects: [NSManagedObject]) -> [Int32] {
        objects.compactMap { $0.value(forKey: "code") as? Int32 }
    }

    /// Patients 0 …, each with both doctors.
    private func stack(_ count: Int, _ type: String = NSSQLiteStoreType) throws -> Stack {
        let stack = try Stack(type, undo: false)
        let doctors = ["a", "b"].map { stack.context.make("Doctor", ["name": $0]) }
        for code in 0..<count {
            stack.context.make("Patient", ["name": "p\(code)", "code": Int32(code)]).mutableSetValue(forKey: "doctors")
                .addObjects(from: doctors)
        }
        try stack.context.save()
        stack.context.reset()
        return stack
    }

    @Test("A change that the query does not read costs it nothing; one that it reads, a statement a relationship")
    func links() throws {
        let stack = try stack(500)
        let context = stack.context
        let byName = request("Patient", "ANY doctors.name == 'b'", limit: 2)
        let doctor = try #require(try context.fetch(request("Doctor", "name == 'a'")).first)
        doctor.setValue(Int32(5), forKey: "code")
        #expect(doctor.hasChanges)
        var found: [NSManagedObject] = []
        let unread = try stack.costs { found = try context.fetch(byName) }
        #expect(unread.statements == 1 && unread.rows == 2 && codes(found) == [0, 1], "\(unread)")
        doctor.setValue("b", forKey: "name")
        let read = try stack.costs { found = try context.fetch(byName) }
        #expect(read.statements < 12 && codes(found) == [0, 1], "\(read)")
        doctor.setValue("q", forKey: "name")
        #expect(codes(try context.fetch(request("Patient", "ANY doctors.name == 'q'", limit: 3))) == [0, 1, 2])
        #expect(try context.fetch(request("Patient", "ANY doctors.name == 'a'")).isEmpty)
        var count = 0
        let counted = try stack.costs { count = try context.count(for: byName) }
        #expect(counted.statements < 12 && count == 2, "\(counted)")
    }

    @Test("A page reads its rows, and as many more as there are changed ones, wherever it begins")
    func pages() throws {
        let stack = try stack(300)
        let context = stack.context
        _ = context.make("Patient", ["name": "new", "code": Int32(1_000)])
        _ = context.make("Patient", ["name": "new", "code": Int32(-1)])
        let changed = try context.fetch(request("Patient", "code IN {10, 299}"))
        changed[0].setValue(Int32(150), forKey: "code")
        context.delete(changed[1])
        let all = codes(try context.fetch(request("Patient", nil)))
        #expect(all.count == 301 && all == all.sorted())
        for offset in stride(from: 0, through: 310, by: 7) {
            var found: [NSManagedObject] = []
            let costs = try stack.costs {
                found = try context.fetch(self.request("Patient", nil, limit: 5, offset: offset))
            }
            #expect(codes(found) == Array(all.dropFirst(offset).prefix(5)), "\(offset)")
            if offset < 295 { #expect(costs.statements <= 2 && costs.rows <= 12, "\(offset): \(costs)") }
        }
    }

    @Test("Limits and offsets as large as numbers are end nothing", arguments: StoreMaker.types)
    func largest(_ type: String) throws {
        let stack = try stack(3, type)
        let context = stack.context
        try #require(try context.fetch(request("Patient", nil)).first).setValue(Int32(7), forKey: "code")
        _ = context.make("Patient", ["name": "new", "code": Int32(5)])
        for (limit, offset, expected) in [
            (Int.max, 0, [1, 2, 5, 7]), (Int.max, 1, [2, 5, 7]), (2, Int.max, []), (Int.max, Int.max, []),
        ] {
            #expect(
                codes(try context.fetch(request("Patient", nil, limit: limit, offset: offset)))
                    == expected.map(Int32.init))
            let unordered = request("Patient", nil, limit: limit, offset: offset)
            unordered.sortDescriptors = nil
            #expect(try context.fetch(unordered).count == expected.count)
            #expect(try context.count(for: unordered) == expected.count)
        }
    }
}
