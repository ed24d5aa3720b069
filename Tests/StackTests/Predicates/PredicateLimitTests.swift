// Predicates as long and as deep as programs make them.

import CoreDataAgreement
import CoreDataTestSupport
import Foundation
import Testing

@testable import CoreData

@Suite("Limits of predicates") struct PredicateLimitTests {
    static let types = [NSSQLiteStoreType, NSInMemoryStoreType]

    private func works(_ type: String) throws -> [PredicateSide] {
        Array(try PredicateSide.all(type, Library.world(seed: 1))[...1])
    }

    private func expect(
        _ sides: [PredicateSide], _ long: NSPredicate, as short: String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        for side in sides {
            let (found, wanted) = (side.fetched(long), side.fetched(NSPredicate(format: short)))
            #expect(found == wanted && !wanted.hasPrefix("refused"), "\(side.name)", sourceLocation: sourceLocation)
        }
    }

    @Test("Thousands of Floats in a list or a chain are one list", arguments: types)
    func floats(_ type: String) throws {
        let sides = try works(type)
        let numbers = (0..<4001).map { Float($0) + 0.5 }
        expect(sides, NSPredicate(format: "f IN %@", numbers), as: "f == 1.5")
        expect(sides, NSPredicate(format: "NOT (f IN %@)", numbers), as: "f != 1.5")
        let equal = numbers.map { NSPredicate(format: "f == %@", NSNumber(value: $0)) }
        expect(sides, NSCompoundPredicate(orPredicateWithSubpredicates: equal), as: "f == 1.5")
        let different = numbers.map { NSPredicate(format: "f != %@", NSNumber(value: $0)) }
        expect(sides, NSCompoundPredicate(andPredicateWithSubpredicates: different), as: "f != 1.5")
        // Fewer are ranges, and equal the same rows.
        for count in 1...5 {
            let few = [0.1, 0.2, 1.5, -2, 7].prefix(count)
            expect(
                sides, NSPredicate(format: "f IN %@", Array(few)),
                as: few.map { "f == \($0)" }.joined(separator: " OR "))
        }
    }

    @Test("Thousands of ranges that overlap are few", arguments: types)
    func ranges(_ type: String) throws {
        let sides = try works(type)
        let steps = (0..<5000).map { "i32 BETWEEN {\($0), \($0 + 1)}" }
        expect(sides, NSPredicate(format: steps.joined(separator: " OR ")), as: "i32 >= 0")
        expect(sides, NSPredicate(format: steps.map { "NOT (\($0))" }.joined(separator: " AND ")), as: "NOT (i32 >= 0)")
        let inside = (0..<5000).map { "i32 BETWEEN {\(-$0 - 1), \($0 + 1)}" }
        expect(sides, NSPredicate(format: inside.joined(separator: " AND ")), as: "i32 BETWEEN {-1, 1}")
        expect(
            sides,
            NSPredicate(
                format: "i32 BETWEEN {3, 1} OR i32 BETWEEN {-3, -2} OR i32 BETWEEN {2, 2} OR i32 BETWEEN {2, 9}"),
            as: "i32 IN {-3, -2, 2, 3}")
        expect(
            sides,
            NSPredicate(
                format: "s BETWEEN {'a', 'b'} OR s BETWEEN {'b', 'c'} OR s BETWEEN {'A', 'B'} OR s BETWEEN {'y', 'z'}"),
            as: "(s >= 'a' AND s <= 'c') OR (s >= 'A' AND s <= 'B') OR (s >= 'y' AND s <= 'z')")
        expect(
            sides, NSPredicate(format: "f BETWEEN {0.1, 0.1} AND f BETWEEN {0.2, 0.2} AND i16 != 1 AND i32 != 2"),
            as: "FALSEPREDICATE")
    }

    @Test("At the very limit a count answers as a fetch does, whatever is unsaved", arguments: types)
    func atTheLimit(_ type: String) throws {
        let sides = try works(type)
        let parts = (0..<4000).map { NSPredicate(format: "s LIKE %@", $0 == 17 ? "a*" : "x\($0)*") }
        expect(sides, NSCompoundPredicate(orPredicateWithSubpredicates: parts), as: "s BEGINSWITH 'a'")
        let more = NSCompoundPredicate(orPredicateWithSubpredicates: parts + [NSPredicate(format: "s LIKE 'y*'")])
        #expect(Set(sides.map { $0.fetched(more) }).count == 1)
        for depth in 60...75 {
            var format = "i16 == 1"
            for step in 0..<depth {
                format = step % 2 == 0 ? "(\(format)) AND i32 != \(step)" : "(\(format)) OR i32 == \(step)"
            }
            let predicate = NSPredicate(format: format)
            let found = Set(sides.map { $0.fetched(predicate) })
            #expect(found.count == 1 && !found.contains { $0.contains("SQLite") }, "\(depth): \(found)")
        }
    }

    @Test(
        "Conditions nested without end are refused in words, and long chains that lean to one side are none",
        arguments: types)
    func nested(_ type: String) throws {
        let sides = try works(type)
        for depth in [1000, 4000] {
            var (alternating, leaning) = (NSPredicate(format: "i32 == 1"), NSPredicate(format: "i32 == 1"))
            for step in 0..<depth {
                let next = NSPredicate(format: "i32 == %d", step + 100)
                leaning = NSCompoundPredicate(orPredicateWithSubpredicates: [leaning, next])
                alternating =
                    step % 2 == 0
                    ? NSCompoundPredicate(orPredicateWithSubpredicates: [alternating, next])
                    : NSCompoundPredicate(andPredicateWithSubpredicates: [alternating, next])
            }
            expect(sides, leaning, as: "i32 == 1")
            for side in sides {
                let said = side.fetched(alternating)
                #expect(said.hasPrefix("refused") && said.contains("nested"), "\(said)")
            }
        }
    }
}
