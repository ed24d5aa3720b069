// Expressions of every kind: parts, values, text, copies, equality, archives.

import CoreDataValues
import Foundation
import Testing

import class CoreDataFoundation.NSComparisonPredicate
import class CoreDataFoundation.NSCompoundPredicate
import class CoreDataFoundation.NSExpression
@testable import CoreDataFoundation

@Suite("Kinds of expressions") struct ExpressionKindTests {
    typealias Expression = NSExpression

    private static func key(_ path: String) -> Expression { Expression(forKeyPath: path) }
    private static func value(_ value: Any?) -> Expression { Expression(forConstantValue: value) }

    /// Of every kind one, with the text that it prints and the value that it has for the subject of the evaluation tests.
    private static var kinds: [(expression: Expression, type: Expression.ExpressionType, text: String, value: Any?)] {
        [
            (value(5), .constantValue, "5", 5), (value("it's"), .constantValue, "\"it's\"", "it's"),
            (value(nil), .constantValue, "nil", nil),
            (value(Date(timeIntervalSinceReferenceDate: 60)), .constantValue, "CAST(60.000000, \"NSDate\")", nil),
            (Expression.expressionForEvaluatedObject(), .evaluatedObject, "SELF", nil),
            (Expression(forVariable: "x"), .variable, "$x", 7),
            (key("city.name"), .keyPath, "city.name", "Oslo"),
            (Expression(forFunction: "add:to:", arguments: [key("age"), value(1)]), .function, "age + 1", 31),
            (
                Expression(forFunction: value("ab"), selectorName: "uppercaseString"), .function,
                "FUNCTION(\"ab\", \"uppercaseString\")", "AB"
            ),
            (
                Expression(forFunction: key("age"), selectorName: "pow:", arguments: [2]), .function,
                "FUNCTION(age, \"pow:\" , 2)", 900.0
            ),
            (Expression(forAggregate: [value(1), key("age")]), .aggregate, "{1, age}", [1, 30]),
            (
                Expression(forUnionSet: key("tags"), with: Expression(forAggregate: ["red", "blue"])), .unionSet,
                "tags UNION {\"red\", \"blue\"}",
                ["red", "green", "blue"]
            ),
            (
                Expression(forIntersectSet: key("tags"), with: Expression(forAggregate: ["red"])), .intersectSet,
                "tags INTERSECT {\"red\"}", ["red"]
            ),
            (
                Expression(forMinusSet: key("tags"), with: Expression(forAggregate: ["red"])), .minusSet,
                "tags MINUS {\"red\"}", ["green"]
            ),
            (
                Expression(
                    forSubquery: key("tags"), usingIteratorVariable: "t",
                    predicate: NSPredicate(format: "$t BEGINSWITH 'g'")), .subquery,
                "SUBQUERY(tags, $t, $t BEGINSWITH \"g\")", ["green"]
            ),
            (
                Expression(
                    forConditional: NSPredicate(format: "age > 3"), trueExpression: value("old"),
                    falseExpression: value("new")), .conditional,
                "TERNARY(age > 3, \"old\", \"new\")", "old"
            ),
            (Expression(format: "tags[LAST]"), .function, "tags[LAST]", "green"),
            (Expression(format: "median:({1, 2, 9})"), .function, "median:({1, 2, 9})", 2.0),
            (Expression(format: "CAST(age, 'NSString')"), .function, "CAST(age, \"NSString\")", "30"),
            (Expression(format: "city.$x", argumentArray: []), .function, "city.$x", nil),
        ]
    }

    @Test("Of every kind an expression knows its type, prints its text, and has its value")
    func values() throws {
        let subject = PredicateEvaluationTests.subject()
        for (expression, type, text, value) in Self.kinds {
            #expect(expression.expressionType == type, "\(text)")
            #expect(expression.description == text)
            guard let value else { continue }
            let found = expression.expressionValue(with: subject, context: ["x": 7])
            #expect(
                NSArray(object: found ?? NSNull()).isEqual(NSArray(object: value)),
                "\(text): \(String(describing: found))")
        }
    }

    @Test("A text makes expressions with the same parts as the initialisers")
    func parts() {
        let ternary = Expression(format: "TERNARY(a == 1, b, 'c')")
        #expect(
            ternary.true.keyPath == "b" && ternary.false.constantValue as? String == "c"
                && ternary.predicate.predicateText == "a == 1")
        let union = Expression(format: "a UNION {1, 2}")
        #expect(
            union.expressionType == .unionSet && union.left.keyPath == "a"
                && (union.right.collection as? [Expression])?.count == 2)
        let function = Expression(format: "FUNCTION(a, 'pow:', 3)")
        #expect(function.function == "pow:" && function.operand.keyPath == "a" && function.arguments?.count == 1)
        let fetch = Expression(format: "FETCH(%@, %@, YES)", "request", "context")
        #expect(fetch.expressionType == .fetchRequest && fetch.description == "FETCH(\"request\", \"context\", YES)")
        #expect(Expression.expressionForAnyKey().expressionType == .anyKey)
        #expect(Expression(format: "ANYKEY") == Expression.expressionForAnyKey())
        #expect(Expression(format: "$x := a + 1").description == "$x := (a + 1)")
        let subquery = Expression(format: "SUBQUERY(a, $x, $x.b > 1)")
        #expect(subquery.variable == "x" && (subquery.collection as? Expression)?.keyPath == "a")
    }

    @Test("Every expression equals the one of its own text, its copy and its archive, and no other")
    func identity() throws {
        for (place, (expression, _, text, _)) in Self.kinds.enumerated() {
            #expect(expression.copy() as? Expression == expression)
            #expect(Expression(format: text) == expression, "\(text)")
            #expect(Expression(format: text).hash == expression.hash)
            let data = try NSKeyedArchiver.archivedData(withRootObject: expression, requiringSecureCoding: true)
            let read = try NSKeyedUnarchiver.unarchivedObject(ofClass: Expression.self, from: data)
            #expect(read == expression, "\(text)")
            for other in Self.kinds[..<place] { #expect(other.expression != expression) }
        }
    }

    @Test("A block is given the object, the values of its arguments and the context, also inside conditions")
    func blocks() throws {
        let block = Expression(
            block: { object, arguments, context in
                ((object as? [String: Int])?["a"] ?? 0) * ((arguments.first as? NSNumber)?.intValue ?? 0)
                    + (context?["x"] as? Int ?? 0)
            }, arguments: [Expression(format: "b + 1")])
        #expect(
            block.expressionType == .block && block.description == "BLOCK(b + 1)"
                && block == block.copy() as? Expression)
        #expect(block.expressionValue(with: ["a": 3, "b": 4], context: ["x": 100]) as? Int == 115)
        let comparison = NSComparisonPredicate(
            leftExpression: Expression(forFunction: "add:to:", arguments: [block, Expression(forConstantValue: 1)]),
            rightExpression: Expression(forVariable: "sum"), modifier: .direct, type: .equalTo)
        #expect(comparison.evaluate(with: ["a": 3, "b": 4], substitutionVariables: ["sum": 16]))
        #expect(!comparison.evaluate(with: ["a": 3, "b": 5], substitutionVariables: ["sum": 16]))
        #expect(
            NSPredicate(format: "SUBQUERY(items, $i, $i.n > %@).@count == 1", block).evaluate(with: [
                "items": [["n": 1], ["n": -1]]
            ]))
        #expect(throws: (any Error).self) { _ = try comparison.tree() }
        #expect(comparison == comparison.copy() as? NSPredicate)
        let archive = try NSKeyedArchiver.archivedData(withRootObject: block, requiringSecureCoding: true)
        #expect((try? NSKeyedUnarchiver.unarchivedObject(ofClass: Expression.self, from: archive)) == nil)
    }

    final class Doubling: Expression, @unchecked Sendable {
        init() { super.init(expressionType: .fetchRequest) }
        required init?(coder: NSCoder) { super.init(coder: coder) }
        override func expressionValue(with object: Any?, context: NSMutableDictionary?) -> Any? {
            ((object as? Int) ?? 0) * 2
        }
    }

    @Test("A subclass that evaluates itself can stand in a condition and in a function")
    func subclasses() {
        let predicate = NSComparisonPredicate(
            leftExpression: Doubling(), rightExpression: Expression(forConstantValue: 6), modifier: .direct,
            type: .equalTo)
        #expect(predicate.evaluate(with: 3) && !predicate.evaluate(with: 4))
        #expect(
            Expression(forFunction: "abs:", arguments: [Doubling()]).expressionValue(with: -4, context: nil) as? Int
                == 8)
    }

    @Test("Predicates of every shape are archived, copied and compared")
    func predicates() throws {
        for text in [
            "a == 1", "a == YES", "ANY a.b ==[cd] 'x'", "ALL a IN {1, 2.5, nil}", "NOT (a < 1 OR b > 2)",
            "a == 1 AND (b == 2 OR c == 3)",
            "d == CAST(5.5, 'NSDate')", "TERNARY(a == 1, b, c) BETWEEN {1, 2}",
            "SUBQUERY(a, $x, $x.b LIKE '*').@count > 0",
            "a == $x AND b MATCHES '.*'", "a ==[l] 'b'", "a ==[n] 'b'", "#size == 1", "NONE a == 1",
        ] {
            let predicate = NSPredicate(format: text)
            let data = try NSKeyedArchiver.archivedData(withRootObject: predicate, requiringSecureCoding: true)
            let read =
                try NSKeyedUnarchiver.unarchivedObject(
                    ofClasses: [NSComparisonPredicate.self, NSCompoundPredicate.self], from: data) as? NSPredicate
            #expect(read == predicate, "\(text)")
            #expect(read?.predicateText == predicate.predicateText)
            #expect(predicate.copy() as? NSPredicate == predicate)
            #expect(NSPredicate(format: text) == predicate && NSPredicate(format: text).hash == predicate.hash)
            #expect(NSPredicate(format: text + " AND z == 1") != predicate)
        }
        for (text, flag) in [("TRUEPREDICATE", true), ("FALSEPREDICATE", false)] {
            let predicate = NSPredicate(format: text)
            let data = try NSKeyedArchiver.archivedData(withRootObject: predicate, requiringSecureCoding: true)
            let read = try NSKeyedUnarchiver.unarchivedObject(ofClasses: [NSPredicate.self], from: data) as? NSPredicate
            #expect(
                read?.hash == predicate.hash && read == predicate && read?.evaluate(with: nil) == flag
                    && read?.predicateText == text)
            #expect(predicate == NSPredicate(value: flag) && NSPredicate(value: flag) == predicate)
            #expect(predicate.copy() as? NSPredicate == predicate && predicate != NSPredicate(value: !flag))
        }
        let everything: [Any] = [
            1, true, false, NSNumber(value: true), [true, 2] as [Any], 2.5, "x", Date(), Data([1, 2]), UUID(),
            URL(string: "x:y") as Any, Decimal(string: "1.25") as Any, [1, 2], NSNull(),
        ]
        for value in everything {
            let predicate = NSPredicate(format: "a IN %@ OR a == %@", [value], value)
            let data = try NSKeyedArchiver.archivedData(withRootObject: predicate, requiringSecureCoding: true)
            #expect(
                try NSKeyedUnarchiver.unarchivedObject(ofClass: NSCompoundPredicate.self, from: data) == predicate,
                "\(value)")
        }
    }

    @Test("Variables are replaced everywhere, key paths that variables name too")
    func substitution() {
        let texts = [
            "TERNARY($a == 1, $b, c) == 2": "TERNARY(3 == 1, \"n\", c) == 2", "city.$b == 'Oslo'": "city.n == \"Oslo\"",
            "tags UNION {$b} == tags": "tags UNION {\"n\"} == tags",
            "SUBQUERY(x, $a, $a > 1).@count == $a": "SUBQUERY(x, $a, $a > 1).@count == 3",
            "abs:($a) == $c": "abs:(3) == $c",
        ]
        for (text, wanted) in texts {
            #expect(NSPredicate(format: text).withSubstitutionVariables(["a": 3, "b": "n"]).predicateText == wanted)
        }
        #expect(
            NSPredicate(format: "city.$b == 'Oslo'").evaluate(
                with: PredicateEvaluationTests.subject(), substitutionVariables: ["b": "name"]))
        #expect(
            NSPredicate(format: "$a.$b == 'x'").withSubstitutionVariables(["a": ["k": "x"], "b": "k"]).predicateText
                == "\"x\" == \"x\"")
    }

    /// A plain class that answers for its own keys.
    final class Animal: KeyValueCoding {
        var values: [String: Any] = [:]
        init(_ values: [String: Any]) { self.values = values }
        func value(forKey key: String) -> Any? { values[key] }
        func setValue(_ value: Any?, forKey key: String) { values[key] = value }
    }

    @Test("Dictionaries, plain objects and objects that code their keys are asked alike")
    func subjects() {
        struct Plain {
            var legs = 4
            var name = "Rex"
            var friends: [Plain] = []
        }
        let subjects: [Any] = [
            ["legs": 4, "name": "Rex", "friends": [["legs": 2]]], Plain(friends: [Plain(legs: 2)]),
            Animal(["legs": 4, "name": "Rex", "friends": [Animal(["legs": 2])]]),
        ]
        for text in [
            "legs == 4", "name BEGINSWITH 'R'", "ANY friends.legs == 2", "friends.@sum.legs == 2",
            "friends[0].legs == 2", "nosuch == nil",
            "TERNARY(legs > 3, name, 'none') == 'Rex'", "SUBQUERY(friends, $f, $f.legs < legs).@count == 1",
            "legs ** 2 == 16", "SELF.legs == 4",
        ] {
            for subject in subjects {
                #expect(NSPredicate(format: text).evaluate(with: subject), "\(text), \(subject)")
            }
        }
    }
}

extension NSPredicate {
    /// What it prints.
    fileprivate var predicateText: String { description }
}
