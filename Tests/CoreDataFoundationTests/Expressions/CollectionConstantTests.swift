// Swift arrays and sets of any members as constants: they mean what Foundation's collections of the same members mean.

import Foundation
import Testing

@testable import CoreDataFoundation

@Suite("Collections as constants") struct CollectionConstantTests {
    @Test("Members of every type are found in a Swift collection")
    func members() throws {
        let moment = Date(timeIntervalSinceReferenceDate: 7)
        let (id, data) = (UUID(), Data([1, 2]))
        let url = try #require(URL(string: "https://example.org"))
        let cases: [(list: Any, inside: Any, outside: Any)] = [
            ([1, 2], 2, 3), ([Int16(1), 2], 2, 3), ([UInt8(1), 2], 2, 3), ([1.5, 2], 1.5, 1.25),
            ([Float(1.5)], 1.5, 1.25),
            ([Decimal(3), 4], 4, 5), ([true], true, false), (["a", "b"], "b", "c"), ([Substring("ab")], "ab", "a"),
            ([Character("a")], "a", "b"), ([moment], moment, Date()), ([id], id, UUID()), ([data], data, Data()),
            ([url], url, url.appendingPathComponent("a")),
            (["a", nil] as [String?], "a", "b"), ([1, "a"] as [Any], "a", "b"),
            ([AnyHashable(1), AnyHashable("a")], "a", "b"),
            ([1, "a"] as [any Hashable], "a", "b"), ([1, "a"] as [any CVarArg], "a", "b"),
            ([[1, 2], "a"] as [Any], "a", "b"),
            (Set([1, 2]), 2, 3), (Set(["a"]), "a", "b"), (Set([AnyHashable(1), AnyHashable("a")]), "a", "b"),
            ([NSNumber(value: 1), NSNumber(value: 2)], 2, 3), (NSArray(array: [1, 2]), 2, 3),
            (NSSet(array: ["a"]), "a", "b"),
            (NSOrderedSet(array: ["a"]), "a", "b"), (["x": 1, "y": 2], 2, 3), (Optional([1, 2]) as Any, 2, 3),
        ]
        for (list, inside, outside) in cases {
            for predicate in [
                NSPredicate(format: "SELF IN %@", list), NSPredicate(format: "SELF IN %@", argumentArray: [list]),
                NSComparisonPredicate(
                    leftExpression: .expressionForEvaluatedObject(),
                    rightExpression: NSExpression(forConstantValue: list), modifier: .direct, type: .in),
            ] {
                #expect(predicate.evaluate(with: inside), "\(type(of: list)) \(predicate)")
                #expect(!predicate.evaluate(with: outside), "\(type(of: list)) \(predicate)")
            }
        }
    }

    @Test("An empty collection has no member, collections hold collections, and expressions in one are computed")
    func nesting() {
        #expect(!NSPredicate(format: "SELF IN %@", [String]()).evaluate(with: "a"))
        #expect(!NSPredicate(format: "SELF IN %@", Set<Int>()).evaluate(with: 1))
        #expect(NSPredicate(format: "SELF BETWEEN %@", [1, 3]).evaluate(with: 2))
        #expect(NSPredicate(format: "%@ CONTAINS SELF", [1, 3]).evaluate(with: 3))
        #expect(NSPredicate(format: "%@ CONTAINS %@", [[1, 3], [2]], [2]).evaluate(with: nil))
        #expect(NSPredicate(format: "SELF IN %@", [NSExpression(format: "1 + 1")]).evaluate(with: 2))
    }

    @Test("SELF is told in any case, and other names of four letters are not it")
    func selfName() {
        #expect(
            NSPredicate(format: "SELF == 1").evaluate(with: 1) && NSPredicate(format: "Self == 1").evaluate(with: 1))
        #expect(
            NSPredicate(format: "name == 1").evaluate(with: ["name": 1])
                && NSPredicate(format: "sElF == 1").evaluate(with: 1))
    }
}
