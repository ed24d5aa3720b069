import CoreDataSeeds
import CoreDataValues
import Foundation
import Testing

import class CoreDataFoundation.NSComparisonPredicate
import class CoreDataFoundation.NSCompoundPredicate
import class CoreDataFoundation.NSExpression
@testable import CoreDataFoundation

@Suite struct PredicateFormatTests {
    @Test("Every golden text prints as Apple's implementation prints it")
    func golden() throws {
        guard let rows = Corpus.rows("predicates/golden.tsv") else { return }
        var checked = 0
        for row in rows where row.count >= 3 {
            // A key path of Swift stands for its key.
            let format = row[0].replacing("(Swift DSL) \\.", with: "")
            let (raw, expected) = (row[1], row[2])
            let arguments: [Any]
            switch raw {
            case "": arguments = []
            case "attributeName, attributeValue": arguments = ["firstName", "Adam"]
            case "prefix, suffix": arguments = ["prefix", "suffix"]
            case "formatString":
                arguments = [expected.contains("?") ? "prefix?suffix" : "prefix*suffix"]
            case "@(boolValue)": arguments = [expected.hasSuffix("1")]
            default: arguments = ["$single", "b\""]
            }
            var predicate = try NSPredicate(parsing: format, arguments: arguments)
            if expected.contains("val_for_") {
                predicate = predicate.withSubstitutionVariables(["b": "val_for_$b", "c": "val_for_$c"])
            } else if expected.hasPrefix("\"a\" ==") {
                predicate = predicate.withSubstitutionVariables(["a": "a"])
            }
            #expect(predicate.description == expected, "\(format)")
            checked += 1
        }
        print("golden.tsv: \(checked) texts checked")
        #expect(checked == 41)
    }

    @Test(
        "A text that was read before takes the arguments of each call, key paths too, and misses those that are not there"
    )
    func again() throws {
        let text = "again > %d AND again < %@"
        for low in 0..<3 {
            let predicate = try NSPredicate(parsing: text, arguments: [low, low + 2])
            #expect(predicate.description == "again > \(low) AND again < \(low + 2)")
        }
        #expect(throws: (any Error).self) { try NSPredicate(parsing: text, arguments: [1]) }
        for key in ["front", "back"] {
            let predicate = try NSPredicate(parsing: "%K == %@", arguments: [key, 1])
            #expect(predicate.description == "\(key) == 1")
        }
        for number in 0..<1_000 {
            let predicate = try NSPredicate(parsing: "key\(number) == %@", arguments: [number])
            #expect(predicate.description == "key\(number) == \(number)")
        }
    }

    static let standIn: @Sendable (Int, Character) throws -> FormatArgument = { place, letter in
        letter == "K" ? .keyPath("key") : .expression(.variable("a\(place)"))
    }

    @Test(
        "A faulty text throws a sentence that names it",
        arguments: [
            "", "a ==", "== 1", "a == 'x", "a == 1 AND", "(a == 1", "a == 1)", "a = %", "a LIKE[x] 'b'", "ANY a",
            "unknown(a) == 1", "a == 1 b", "SUBQUERY(a, b, c == 1).@count > 0", "$", "#", "@", "0xZZ == a", "a == AND",
            "%K == 1", "FETCH(a, b) == 1", "TERNARY(a, 1, 2) == 1", String(repeating: "(", count: 100_000),
            String(repeating: "!", count: 9_999),
            "\u{0}", "a[0 == 1", "{1, 2", String(repeating: "-", count: 5_000) + "1 == 1",
        ])
    func faults(text: String) {
        #expect(throws: (any Error).self) { _ = try NSPredicate(parsing: text) }
    }

    @Test("Chains inside brackets inside chains are refused before they fill the stack")
    func deepChains() {
        let chain = String(repeating: "a + ", count: 100)
        let text = String(repeating: chain + "(", count: 140) + "a" + String(repeating: ")", count: 140) + " == 1"
        #expect(throws: (any Error).self) { _ = try NSPredicate(parsing: text) }
    }

    @Test("Random bytes never trap the parser")
    func noise() {
        var random = SplitMix(7)
        let parts = [
            "a", "ANY", "(", ")", "{", "}", "==", "[c]", "'", "%@", "%K", "$x", "SUBQUERY(", ",", ".", "@count", "1",
            "-", "NOT", "AND", "abs:(", "IN", "[", "]", "#", "FIRST", "0x", "1e", "\\", "é", "CAST(",
        ]
        for _ in 0..<5_000 {
            let count = Int.random(in: 0..<14, using: &random)
            let text = (0..<count).map { _ in parts.randomElement(using: &random)! }.joined(separator: " ")
            _ = try? FormatParser.predicate(text, arguments: Self.standIn)
        }
    }

    @Test("A predicate made of a text is of the class that its shape asks for")
    func classes() {
        #expect(NSPredicate(format: "a == 1") is NSComparisonPredicate)
        #expect(NSPredicate(format: "a == 1 AND b == 2") is NSCompoundPredicate)
        #expect(NSPredicate(format: "a == %@ OR NOT b == %ld", Date() as any CVarArg, 3) is NSCompoundPredicate)
        let comparison = NSPredicate(format: "%K BEGINSWITH[cd] %@", "name", "x") as? NSComparisonPredicate
        #expect(comparison?.leftExpression.keyPath == "name")
        #expect(comparison?.rightExpression.constantValue as? String == "x")
        #expect(comparison?.options == [.caseInsensitive, .diacriticInsensitive])
        #expect(NSPredicate(format: "a == 1") == NSPredicate(format: "a = 1"))
        #expect(NSPredicate(format: "a == 1") != NSPredicate(format: "a == 2"))
    }

    @Test("Random predicates read back from their own text as they were printed")
    func roundTrip() throws {
        var random = SplitMix(2026)
        for _ in 0..<2_000 {
            let predicate = RandomPredicate.condition(3, &random)
            let printed = predicate.predicateFormat
            let again = try FormatParser.predicate(printed)
            #expect(again == predicate, "\(printed)")
        }
    }

    @Test("Objects that are no values are converted by the caller or refused by name")
    func bridge() throws {
        final class Person: NSObject {}
        let person = Person()
        let key = ObjectKey(number: 4, entity: EntityIndex(1), store: 1)
        let predicate = NSPredicate(format: "owner IN %@", [person])
        let tree = try predicate.tree { $0 is Person ? .key(key) : nil }
        #expect(tree == .comparison(Comparison(.keyPath(["owner"]), .in, .list([.constant(.key(key))]))))
        #expect(throws: (any Error).self) { _ = try predicate.tree() }
        #expect(throws: (any Error).self) { _ = try NSPredicate(block: { _, _ in true }).tree() }
    }
}

enum RandomPredicate {
    typealias Tree = CoreDataValues.Predicate
    typealias Term = CoreDataValues.Expression

    static func condition(_ depth: Int, _ random: inout SplitMix) -> Tree {
        switch depth == 0 ? 0 : Int.random(in: 0..<5, using: &random) {
        case 1: return .and([condition(depth - 1, &random), condition(depth - 1, &random)])
        case 2: return .or([condition(depth - 1, &random), condition(depth - 1, &random), .constant(true)])
        case 3: return .not(condition(depth - 1, &random))
        default:
            let op = Comparison.Operator.allCases.randomElement(using: &random)!
            let modifier: Comparison.Modifier = [.direct, .direct, .any, .all].randomElement(using: &random)!
            let options = Comparison.Options(rawValue: UInt8.random(in: 0..<16, using: &random))
            return .comparison(Comparison(term(2, &random), op, term(2, &random), modifier: modifier, options: options))
        }
    }

    static func term(_ depth: Int, _ random: inout SplitMix) -> Term {
        switch Int.random(in: 0..<(depth == 0 ? 6 : 11), using: &random) {
        case 0: return .constant(.int(Int64.random(in: -1_000...1_000, using: &random)))
        case 1: return .constant(.double(Double.random(in: -10...10, using: &random)))
        case 2: return .constant(.text(["", "a\"b", "it's", "\\", "ü\n\t", "%@ $x"].randomElement(using: &random)!))
        case 3:
            return .keyPath(
                [["a"], ["size"], ["a", "b"], ["in", "x"], ["a", "@count"]].randomElement(using: &random)!)
        case 4: return [.this, .variable("v"), .constant(.null)].randomElement(using: &random)!
        case 5: return .constant([.date(12.5), .data(Data([0, 255])), .uri("x:y")].randomElement(using: &random)!)
        case 6: return .list([term(depth - 1, &random), term(depth - 1, &random)])
        case 7:
            let name = PredicateFunctions.infix.keys.sorted().randomElement(using: &random)!
            return .function(name, [term(depth - 1, &random), term(depth - 1, &random)])
        case 8:
            return .function(["sum:", "abs:", "uppercase:"].randomElement(using: &random)!, [term(depth - 1, &random)])
        case 9: return .function("valueForKeyPath:", [.variable("v"), .keyPath(["a", "b"])])
        default:
            let predicate = condition(0, &random)
            return .subquery(collection: .keyPath(["a"]), variable: "x", predicate: predicate)
        }
    }
}
