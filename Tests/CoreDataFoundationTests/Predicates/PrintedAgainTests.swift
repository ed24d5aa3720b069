// Numbers at the ends of their range and keys that are no words print so that they read back.

import CoreDataSeeds
import CoreDataValues
import Foundation
import Testing

@testable import CoreDataFoundation

@Suite("Printed and read again") struct PrintedAgainTests {
    private static let edges: [Int64] = [
        .min, .min + 1, .max, .max - 1, -1, 0, 1, 1 << 53, -(1 << 53) - 1, Int64(Int32.min),
    ]
    private static let pieces = [
        "a", "Z", "é", "日本", "_", "0", "9", " ", "-", "@", "#", "$", "%", "%@", "\"", "'", "\\", "\n", "(", ")", "{",
        "[", ":", ":=", "+", "\u{0}", "\u{301}", "👍",
        "SELF", "in", "FIRST", "AND", "count", "UNION", "FUNCTION", "nil",
    ]

    private func key(_ random: inout SplitMix) -> String {
        (0..<Int.random(in: 0...4, using: &random)).map { _ in Self.pieces.randomElement(using: &random) ?? "" }
            .joined()
    }

    @Test("A predicate with any whole number and any key names reads back from its text as the same")
    func random() throws {
        var random = SplitMix(20_261_123)
        for _ in 0..<4000 {
            let path = (0..<Int.random(in: 1...3, using: &random)).map { _ in key(&random) }.joined(separator: ".")
            // What Apple prints for these reads back as the object itself and as a variable.
            if path.lowercased() == "self" || path.hasPrefix("$") { continue }
            let number =
                Bool.random(using: &random)
                ? Self.edges.randomElement(using: &random) ?? 0 : Int64.random(in: .min ... .max, using: &random)
            let other = Self.edges.randomElement(using: &random) ?? 0
            for predicate in [
                NSPredicate(format: "%K == %@", path, NSNumber(value: number)),
                NSPredicate(format: "ANY %K IN {%@, %@}", path, number, other),
                NSPredicate(format: "%K + %@ < %@ - %K", path, number, other, path),
                NSPredicate(format: "SUBQUERY(%K, $x, $x.%K == %@).@count > 0", path, path, number),
            ] {
                let text = predicate.description
                let again = try NSPredicate(validating: text.isEmpty ? "x" : text)
                #expect(again == predicate && again.description == text, "\(path.debugDescription): \(text)")
            }
        }
    }

    @Test("The least whole number is one, and is calculated with as such; keys that are words print bare")
    func texts() {
        for (format, text) in [
            ("a == -9223372036854775808", "a == -9223372036854775808"),
            ("a == 9223372036854775808", "a == 9.223372036854775808e+18"),
            ("a == -9223372036854775808.0", "a == -9.223372036854775808e+18"),
            ("a == -9223372036854775809", "a == -9.223372036854775808e+18"),
            ("#\"my key\".b.#'' == 1", "#\"my key\".b.#\"\" == 1"), ("#size.in == 1", "#size.in == 1"),
            ("a.@count == 1", "a.@count == 1"),
        ] {
            let printed = NSPredicate(format: format).description
            #expect(printed == text || Double(printed.dropFirst(5)) == Double(text.dropFirst(5)), "\(printed)")
        }
        #expect(NSPredicate(format: "a == -9223372036854775808").evaluate(with: ["a": Int64.min]))
        #expect(!NSPredicate(format: "a == -9223372036854775808").evaluate(with: ["a": Int64.min + 1]))
        #expect(NSPredicate(format: "%K == 3", "my key").evaluate(with: ["my key": 3]))
        #expect(NSPredicate(format: NSPredicate(format: "%K == 3", "my key").description).evaluate(with: ["my key": 3]))
    }
}
