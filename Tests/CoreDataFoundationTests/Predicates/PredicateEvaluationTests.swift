import CoreDataSeeds
import CoreDataValues
import Foundation
import Testing

import class CoreDataFoundation.NSComparisonPredicate
import class CoreDataFoundation.NSCompoundPredicate
import class CoreDataFoundation.NSExpression
@testable import CoreDataFoundation

final class Person: NSObject {
    var name: String?
    var age: Int
    var friends: [Person]
    init(_ name: String?, _ age: Int, friends: [Person] = []) {
        self.name = name
        self.age = age
        self.friends = friends
    }
}

@Suite struct PredicateEvaluationTests {
    static func subject() -> [String: Any] {
        [
            "name": "Émile", "age": 30, "price": Decimal(string: "12.50")!, "ok": true,
            "date": Date(timeIntervalSince1970: 0),
            "tags": ["red", "green"], "empty": [Any](), "city": ["name": "Oslo"], "big": Int64(9_007_199_254_740_993),
            "items": [["n": 1, "t": "a"], ["n": 2, "t": "b"], ["n": 6]],
        ]
    }

    @Test("Chains of compounds, each in the one before, are asked without a call for each", arguments: [true, false])
    func chains(_ isFirst: Bool) {
        func chain(_ type: NSCompoundPredicate.LogicalType, _ last: String) -> NSPredicate {
            (0..<16_000).reduce(NSPredicate(format: last)) { chain, _ in
                let part = NSPredicate(value: type == .and)
                return NSCompoundPredicate(type: type, subpredicates: isFirst ? [chain, part] : [part, chain])
            }
        }
        nonisolated(unsafe) let chains = [
            (chain(.or, "age == 30"), true), (chain(.or, "age == 31"), false), (chain(.and, "age == 30"), true),
            (chain(.and, "age == 31"), false),
        ]
        nonisolated(unsafe) var found: [Bool] = []
        let done = DispatchSemaphore(value: 0)
        let thread = Thread {
            found = chains.map { $0.0.evaluate(with: Self.subject()) }
            done.signal()
        }
        thread.stackSize = 512 << 10
        thread.start()
        done.wait()
        #expect(found == chains.map(\.1))
        // Let go part by part: chains of objects go one inside of the other.
        for (chain, _) in chains { Self.takeApart(chain) }
    }

    /// Keeps each part until those inside of it are gone.
    private static func takeApart(_ chain: NSPredicate) {
        var parts: [NSPredicate] = [chain]
        while let compound = parts.last as? NSCompoundPredicate,
            let next = compound.parts.first(where: { $0 is NSCompoundPredicate })
        {
            parts.append(next)
        }
        while !parts.isEmpty { parts.removeFirst(min(64, parts.count)) }
    }

    @Test(
        "Conditions that hold",
        arguments: [
            "name == 'Émile'", "name ==[cd] 'emile'", "name != 'émile'", "name BEGINSWITH[d] 'Em'",
            "name ENDSWITH 'ile'",
            "name CONTAINS[c] 'MIL'", "name LIKE '?mi*'", "name LIKE[cd] 'E*E'", "name MATCHES '.m.l.'", "'mi' IN name",
            "'a*b' LIKE 'a\\*b'", "NOT 'axb' LIKE 'a\\*b'", "'' LIKE '*'", "NOT '' LIKE '?'",
            "age BETWEEN {30, 31}", "age BETWEEN {15 + 15, 40}", "age IN {1, 30.0}", "price == 12.5", "price > 12",
            "ok == YES",
            "ok = 1", "ok == true", "age / 4 == 7", "age / 4.0 == 7.5", "age ** 2 == 900", "-age < 0", "age & 2 = 2",
            "missing == nil", "missing != 'a'", "NOT missing < 1", "NOT missing >= 1", "NOT missing CONTAINS 'a'",
            "NOT missing MATCHES '.*'", "NOT missing BETWEEN {0, 1}", "missing IN {nil, 1}", "NOT missing IN {1}",
            "big != 9007199254740992.0",
            "ANY tags == 'red'", "SOME tags LIKE 'g*'", "ALL tags != 'blue'", "NONE tags == 'blue'",
            "NOT ANY empty == 1",
            "ALL empty == 1", "tags CONTAINS 'red'", "'red' IN tags", "tags.@count == 2", "tags[0] == 'red'",
            "tags[LAST] == 'green'", "tags[SIZE] == 2", "tags[FIRST] == 'red'", "city.name == 'Oslo'",
            "city['name'] == 'Oslo'",
            "items.@sum.n == 9", "items.@avg.n == 3", "items.@min.n == 1", "items.@max.n == 6", "empty.@sum.n == 0",
            "ANY items.n > 5", "ANY items.t == nil", "SUBQUERY(items, $i, $i.n > 1 AND $i.t != nil).@count == 1",
            "SUBQUERY(items, $i, $i.n < age).@count == 3", "sum:(items.n) == 9", "max({1, 5, 3}) == 5",
            "name.length == 5", "uppercase(name) == 'ÉMILE'", "FUNCTION(name, 'lowercaseString') == 'émile'",
            "abs:(-3) == 3",
            "date == CAST(-978307200, 'NSDate')", "TRUEPREDICATE", "NOT FALSEPREDICATE AND (age == 30 OR age == 31)",
            "date < now()", "median({1, 2, 9}) == 2", "(age + 1) * 2 == 62", "7 == 1 + 2 * 3",
        ])
    func holds(format: String) throws {
        #expect(try NSPredicate(parsing: format).evaluate(with: Self.subject()))
    }

    @Test("A dictionary's absent key, nil and NSNull are all nil")
    func nils() {
        let predicate = NSPredicate(format: "a == nil")
        #expect(predicate.evaluate(with: ["b": 1]))
        #expect(predicate.evaluate(with: ["a": NSNull()]))
        #expect(predicate.evaluate(with: ["a": Optional<Int>.none as Any]))
        #expect(!predicate.evaluate(with: ["a": 0]))
    }

    @Test("Plain objects are asked for their stored properties, also through collections")
    func plainObjects() {
        let ann = Person("Ann", 30)
        let people = [ann, Person("Bob", 5, friends: [ann]), Person(nil, 70)]
        let adults = (people as NSArray).filtered(using: NSPredicate(format: "age >= %d AND name != nil", 18))
        #expect(adults.count == 1)
        #expect(NSPredicate(format: "ANY friends.name == 'Ann'").evaluate(with: people[1]))
        #expect(NSPredicate(format: "friends CONTAINS %@", ann).evaluate(with: people[1]))
        #expect(!NSPredicate(format: "friends CONTAINS %@", people[2]).evaluate(with: people[1]))
        #expect(NSPredicate(format: "SELF == %@", ann).evaluate(with: ann))
        #expect(NSPredicate(format: "SELF IN %@", [ann]).evaluate(with: ann))
    }

    @Test("SELF may be a plain value or a collection")
    func plainValues() {
        #expect(NSPredicate(format: "SELF > 3").evaluate(with: 4))
        #expect(NSPredicate(format: "SELF LIKE[c] 'A*'").evaluate(with: "abc"))
        #expect(NSPredicate(format: "SELF[SIZE] = 3").evaluate(with: [1, 2, 3]))
        #expect(NSPredicate(format: "SELF.@count == 0").evaluate(with: [Int]()))
    }

    @Test("Variables are filled in at evaluation or by substitution")
    func variables() {
        let template = NSPredicate(format: "age > $least")
        #expect(template.evaluate(with: ["age": 3], substitutionVariables: ["least": 2]))
        #expect(template.withSubstitutionVariables(["least": 5]).description == "age > 5")
        #expect(!template.withSubstitutionVariables(["least": 5]).evaluate(with: ["age": 3]))
        // An expression is calculated, in either way.
        let sum = NSPredicate(format: "age == $sum AND name == $name")
        let values: [String: Any] = ["sum": NSExpression(format: "2 + years"), "name": "Ada"]
        let ada: [String: Any] = ["age": 5, "years": 3, "name": "Ada"]
        #expect(sum.evaluate(with: ada, substitutionVariables: values))
        #expect(sum.withSubstitutionVariables(values).evaluate(with: ada))
        #expect(!sum.evaluate(with: ["age": 6, "years": 3, "name": "Ada"], substitutionVariables: values))
    }

    @Test("Compounds ask blocks and Foundation's own predicates too")
    func mixed() {
        let block = NSPredicate(block: { object, _ in (object as? Int) == 4 })
        let both = NSCompoundPredicate(andPredicateWithSubpredicates: [block, NSPredicate(format: "SELF > 3")])
        #expect(both.evaluate(with: 4))
        #expect(!both.evaluate(with: 5))
        #expect(NSCompoundPredicate(notPredicateWithSubpredicate: both).evaluate(with: 5))
    }

    @Test("Expressions answer values that programs can cast")
    func expressions() {
        let sum = NSExpression(format: "a + %d", 2).expressionValue(with: ["a": 3], context: nil)
        #expect(sum as? Int == 5)
        #expect((sum as? NSNumber)?.doubleValue == 5)
        let total = NSExpression(forFunction: "sum:", arguments: [NSExpression(forKeyPath: "list")])
        #expect(total.expressionValue(with: ["list": [1, 2, 3]], context: nil) as? Int == 6)
        #expect(total.description == "sum:(list)")
    }

    @Test("Long constant lists agree with comparing one by one", arguments: [1, 2, 3])
    func membership(seed: UInt64) throws {
        var random = SplitMix(seed)
        let pool: [Value] = [
            .null, .int(1), .double(1), .double(1.5), .bool(true), .text("e\u{301}"), .text("é"), .date(2), .uri("a"),
            .text("a"), .decimal(1), .data(Data([1])),
        ]
        for _ in 0..<300 {
            let values = (0..<4).map { _ in pool.randomElement(using: &random)! }
            let value = pool.randomElement(using: &random)!
            let list = CoreDataValues.Expression.list(values.map { .constant($0) })
            let evaluator = try Evaluator(.comparison(Comparison(.this, .in, list)))
            let expected = values.contains { ValueOrder.isEqual(value, $0) }
            #expect(evaluator.matches(.value(value)) == expected, "\(value) in \(values)")
        }
    }
}
