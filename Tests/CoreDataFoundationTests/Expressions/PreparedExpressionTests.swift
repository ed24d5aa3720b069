// Expressions that are translated once against the same ones that are translated for each object.

import CoreDataValues
import Foundation
import Testing

@testable import CoreDataFoundation

private typealias Expression = CoreDataFoundation.NSExpression

@Suite struct PreparedExpressionTests {
    private static let texts = [
        "$a", "$a + 1", "1 + $a", "$a - $b", "$a * $b", "$a / $b", "$a ** 2", "$a + 0.5", "($a + $b) * 2 - $a",
        "$a + 'x'",
        "-$a", "abs:($a)", "sqrt:($a)", "floor:($a / 2)", "uppercase:($a)", "length:($a)", "$a.length", "$a.name",
        "$a.owner.name", "$a.owner.owner.name", "$a.@count", "$a.@sum.self", "max:($a)", "max:({$a, $b, 3})",
        "sum:({$a, $b})", "count:($a)", "{$a, $b, 1}", "TERNARY($a > 1, $a, $b)", "TERNARY($a == nil, 'none', $a)",
        "TERNARY($a == $b, 1, 0)", "TERNARY($a IN {1, 2, 'text'}, 1, 0)", "TERNARY(ANY $a > 1, 1, 0)",
        "TERNARY(name == 'box', $a, $b)", "name", "owner.name", "owner.owner.name", "SELF.name", "length:(name) + $a",
        "FUNCTION($a, 'uppercaseString')", "FUNCTION($a, 'pow:', 2)", "SUBQUERY($a, $x, $x > 1).@count",
        "SUBQUERY($a, $b, $b > 1).@count", "SUBQUERY($a, $x, $x == $b).@count", "$a UNION $b", "$a MINUS {1, 2}",
        "CAST($a, 'NSNumber')", "CAST($a, 'NSString')", "$unknown", "$unknown + $a", "1 + 2", "'text'", "nil", "$a[0]",
        "$a.$b", "$a & 3", "$a << 2",
    ]

    private final class Box: NSObject, KeyValueCoding {
        let (name, owner): (String?, Box?)
        init(_ name: String?, _ owner: Box? = nil) { (self.name, self.owner) = (name, owner) }
        func value(forKey key: String) -> Any? { key == "name" ? name : key == "owner" ? owner : nil }
        func setValue(_ value: Any?, forKey key: String) {}
    }

    private static var values: [Any?] {
        [
            nil, NSNull(), 0, 1, -7, Int.max, Int.min, UInt64.max, Int16(3), 2.5, -0.0, Double.nan, Double.infinity,
            Float(0.1), NSNumber(value: Float(0.1)), true, NSNumber(value: true), NSNumber(value: 4),
            Decimal(string: "1.1"),
            NSDecimalNumber(string: "2.2"), "text", "", "12", "name", "ß" as NSString,
            Date(timeIntervalSinceReferenceDate: 5),
            Data([1, 2]), UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16)),
            URL(string: "http://x.y"),
            [1, 2, 3], [Any](), ["a", nil] as [String?], NSArray(array: [3, 1]), NSSet(array: [2]),
            NSOrderedSet(array: [5, 6]),
            ["name": "entry"], NSDictionary(dictionary: ["name": 3]), Box(nil), Box("box", Box("owner")),
        ]
    }

    private func shown(_ value: Any?) -> String { value.map { "\(type(of: $0)) \($0)" } ?? "nil" }

    @Test(arguments: texts)
    private func comesToTheSame(_ text: String) throws {
        let expression = Expression(format: text)
        let prepared = try #require(PreparedExpression(expression, variables: ["a", "b"]))
        let objects: [Any?] = [nil, Box("box", Box(nil)), Box(nil), "text", ["name": "box"]]
        let values = Self.values
        for (place, a) in values.enumerated() {
            for b in [values[(place + 7) % values.count], values[3], nil] {
                let object = objects[place % objects.count]
                let context = NSMutableDictionary(dictionary: ["a": a ?? NSNull(), "b": b ?? NSNull()])
                let general = expression.expressionValue(with: object, context: context)
                let once = prepared.value(with: object, [PreparedExpression.operand(a), PreparedExpression.operand(b)])
                    .object
                #expect(shown(once) == shown(general), "\(text) of \(shown(a)), \(shown(b)) and \(shown(object))")
            }
        }
    }

    private final class Doubling: Expression, @unchecked Sendable {
        init() { super.init(expressionType: .function) }
        required init?(coder: NSCoder) { nil }
        override func expressionValue(with object: Any?, context: NSMutableDictionary?) -> Any? { 2 }
    }

    /// Answers in its own way although it was made as a constant.
    private final class Counting: Expression, @unchecked Sendable {
        init() { super.init(content: .constant(1)) }
        required init?(coder: NSCoder) { nil }
        override func expressionValue(with object: Any?, context: NSMutableDictionary?) -> Any? { 3 }
    }

    @Test("What only its own code evaluates is asked anew for each object")
    func unprepared() {
        let block = Expression(block: { _, _, _ in 1 }, arguments: nil)
        let expressions = [
            block, Doubling(), Counting(), Expression(forConstantValue: Box("box")),
            Expression(forFunction: "add:to:", arguments: [block, 1]),
            Expression(forFunction: "abs:", arguments: [Doubling()]), Expression(format: "FETCH(a, b, NO)"),
            Expression(forFunction: "noSuch:", arguments: [1]), Expression(forFunction: "abs:", arguments: [1, 2]),
        ]
        for expression in expressions {
            #expect(PreparedExpression(expression, variables: ["a"]) == nil, "\(expression)")
        }
    }

    @Test("The object is asked for only where the expression leads from it")
    func object() throws {
        var count = 0
        func object() -> Any? {
            count += 1
            return Box("box")
        }
        for text in ["$a + 1", "$a.name", "SUBQUERY($a, $x, $x.name == 'box').@count", "TERNARY($a == 1, 1, 2)"] {
            let prepared = try #require(PreparedExpression(Expression(format: text), variables: ["a"]))
            _ = prepared.value(with: object(), [Operand(any: 1)])
        }
        #expect(count == 0)
        for text in [
            "name", "SELF", "$a + length:(name)", "SUBQUERY($a, $x, $x == name).@count", "TERNARY(name == 'a', 1, 2)",
        ] {
            let prepared = try #require(PreparedExpression(Expression(format: text), variables: ["a"]))
            _ = prepared.value(with: object(), [Operand(any: 1)])
        }
        #expect(count == 5)
    }
}
