// Fetches that differ in nothing but their values are compiled once.

import CoreDataTestSupport
import CoreDataValues
import Foundation
import Testing

@testable import CoreData

@Suite struct FetchShapeTests {
    private func filled(_ type: String = NSSQLiteStoreType) throws -> Stack {
        let stack = try Stack(type, undo: false)
        for index in 0..<60 {
            var values: [String: Any] = ["name": index % 7 == 0 ? "é" : "p\(index % 5)", "age": index % 20]
            if index % 4 == 0 {
                values["tag"] = UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3, 4, 5, 6, UInt8(index)))
            }
            _ = stack.context.make("Patient", values)
        }
        try stack.context.save()
        return stack
    }

    private func request(
        _ format: String, _ arguments: [Any], limit: Int = 0, offset: Int = 0, ascending: Bool = true
    ) -> NSFetchRequest<NSManagedObject> {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Patient")
        request.predicate = NSPredicate(format: format, argumentArray: arguments)
        request.sortDescriptors = [
            NSSortDescriptor(key: "age", ascending: ascending), NSSortDescriptor(key: "name", ascending: true),
        ]
        (request.fetchLimit, request.fetchOffset) = (limit, offset)
        return request
    }

    private func text(_ patient: NSManagedObject) -> String {
        "\(patient.value(forKey: "age") as? Int ?? -1) \(patient.value(forKey: "name") as? String ?? "")"
    }

    @Test("A fetch with other values runs the statement of the one before it, and finds its own rows")
    func values() throws {
        let stack = try filled()
        let context = stack.another()
        // One with an offset is another statement than one without.
        for offset in [0, 1] {
            _ = try context.fetch(request("age >= %d AND age < %d", [0, 3], limit: 5, offset: offset))
        }
        let before = stack.coordinator.counters.preparedStatements
        for low in 0..<15 {
            for (limit, offset) in [(5, 0), (3, 2), (0, 1)] {
                let found = try context.fetch(
                    request("age >= %d AND age < %d", [low, low + 3], limit: limit, offset: offset))
                let ages = found.compactMap { $0.value(forKey: "age") as? Int }
                let all = (low..<low + 3).flatMap { Array(repeating: $0, count: 3) }
                #expect(ages == Array(all.dropFirst(offset).prefix(limit > 0 ? limit : .max)))
            }
        }
        #expect(stack.coordinator.counters.preparedStatements == before)
    }

    @Test("Fetches that look alike and are not find what memory finds, in any order")
    func kinds() throws {
        let (file, memory) = (try filled(), try filled(NSInMemoryStoreType))
        let id = UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3, 4, 5, 6, 8))
        let cases: [(String, [Any])] = [
            ("name == %@", ["p1"]), ("name == %@", ["é"]), ("name == %@", [NSNull()]), ("name == %@", [3]),
            ("name ==[c] %@", ["P1"]), ("name == %@", ["P1"]), ("name != %@", ["p1"]), ("name > %@", ["p2"]),
            ("age == %@", [3]), ("age == %@", [3.0]), ("age == %@", [NSNull()]), ("age == %@", ["3"]),
            ("age == %@", [true]),
            ("age IN %@", [[1, 2]]), ("age IN %@", [[1, 2, 3]]), ("age BETWEEN %@", [[1, 4]]),
            ("age BETWEEN %@", [[5, 9]]),
            ("age IN %@", [[2, 7]]), ("age IN %@", [[1.0, 2]]), ("age IN %@", [[1, NSNull()]]),
            ("age IN %@", [["1", 2]]),
            ("age IN %@", [[Any]()]), ("age IN %@", [[3]]), ("name IN %@", [["p1", "é"]]),
            ("name IN %@", [["p2", "p3"]]),
            ("name IN[c] %@", [["P1", "p2"]]), ("name IN %@", [[3, "p1"]]), ("NOT name IN %@", [["p1", "p2"]]),
            ("age IN %@ AND name IN %@", [[1, 2, 3], ["p1", "p2"]]), ("age IN %@ OR name == %@", [[5, 6], "é"]),
            ("tag IN %@", [[id, UUID()]]), ("tag IN %@", [["x", "y"]]), ("age IN %@", [[1, 2, 3, 4, 5]]),
            ("tag == %@", [id]), ("tag == %@", [UUID()]), ("tag == nil", []), ("NOT age > %@", [4]),
            ("NOT age > %@", [16]),
            ("age > %@ OR name == %@", [17, "p2"]), ("age > %@ AND name == %@", [7, "p2"]),
            ("age > %@ OR name == %@", [2, "é"]),
            ("%@ < age", [15]), ("%@ < age", [2]), ("age < ward.patients.@count", []), ("TRUEPREDICATE", []),
            ("FALSEPREDICATE", []),
            ("age == %@", [7]), ("name == %@", ["p4"]),
        ]
        let (a, b) = (file.another(), memory.another())
        for step in 0..<3 {
            for (format, arguments) in cases.shuffled() {
                for (limit, offset) in [(0, 0), (4, step)] {
                    let ask = { request(format, arguments, limit: limit, offset: offset, ascending: step != 1) }
                    let found = try a.fetch(ask()).map(text)
                    let expected = try b.fetch(ask()).map(text)
                    #expect(found == expected, "\(format) \(arguments)")
                }
            }
        }
    }

    @Test("Short lists of as many values of the same kinds are of one shape")
    func lists() throws {
        let context = try filled().another()
        func plan(_ values: [Any]) throws -> FetchPlan { try context.bound(request("age IN %@", [values])).plan }
        let known = try plan([1, 2])
        #expect(try known.values(ofSameShape: plan([3, 4])) == [.int(3), .int(4)])
        for other in [[3], [1, 2, 3], [1.5, 2], [1, "2"], [1, NSNull()]] as [[Any]] {
            #expect(try known.values(ofSameShape: plan(other)) == nil, "\(other)")
        }
        #expect(try plan([1, 2, 3, 4, 5]).values(ofSameShape: plan([1, 2, 3, 4, 5])) == nil)
        // Counted once a row, not once a value.
        let counted = try context.bound(request("ward.patients.@count IN %@", [[1, 2]])).plan
        #expect(counted.values(ofSameShape: counted) == nil)
    }

    @Test("More shapes than are kept still find their rows, with statements that are prepared once")
    func many() throws {
        let stack = try filled()
        let context = stack.another()
        var prepared = 0
        for round in 0..<2 {
            for count in 1...40 {
                let format = Array(repeating: "age != %d", count: count).joined(separator: " AND ")
                let found = try context.count(for: request(format, (0..<count).map { $0 + round }))
                let fetched = try context.fetch(request(format, (0..<count).map { $0 + round })).count
                #expect(fetched == max(0, 60 - 3 * min(count, 20 - round)))
                #expect(fetched == found)
            }
            if round == 0 { prepared = stack.coordinator.counters.preparedStatements }
        }
        #expect(stack.coordinator.counters.preparedStatements == prepared)
    }
}
