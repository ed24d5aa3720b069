// Wrong format texts: what they are told, and that texts from outside never end the process.

import CoreDataSeeds
import CoreDataValues
import Foundation
import Testing

import class CoreDataFoundation.NSExpression
@testable import CoreDataFoundation

@Suite("Wrong format texts") struct PredicateFaultTests {
    static let told: [(text: String, words: [String])] = [
        ("name CONATINS 'x'", ["character 6", "a comparison operator", "“CONATINS”", "CONTAINS is near"]),
        ("name BEGINWITH 'x'", ["BEGINSWITH is near"]), ("name LKIE 'x'", ["LIKE is near"]),
        ("age BETWEN {1, 2}", ["BETWEEN is near"]),
        ("age === 25", ["character 7", "a value", "write =="]), ("a == 1 ADN b == 2", ["character 8", "AND is near"]),
        ("a == 1 ORR b == 2", ["OR is near"]), ("a ≠ 1", ["character 3", "write !="]), ("a ≤ 1", ["write <="]),
        ("a == @\"x\"", ["character 6", "no @ before its quotes"]), ("a == “x”", ["write \""]),
        ("uppercse:(a) == 'A'", ["uppercase: is near"]),
        ("a IN (1, 2", ["character 11", "ends", "“)”"]), ("a == 'x", ["character 6", "no closing '"]),
        ("a LIKE[x] 'b'", ["“x” is no option", "c, d, n and l"]),
        ("a == in", ["#in"]), ("self isKindOfClass: %@", ["isKindOfClass:", "a block"]),
        ("isDone", ["ends", "a comparison operator"]), ("a == 1 b", ["character 8", "AND, OR", "“b”"]),
        ("a =! 1", ["write !="]), ("a NOT IN {1}", ["a comparison operator", "“NOT”"]),
        ("a == 1 && & b == 2", ["write AND"]),
        ("CAST(a) == 1", ["CAST needs a value and a text"]), ("FETCH(a, b) == 1", ["FETCH needs"]),
        ("a ? 1 : 2", ["TERNARY"]),
        ("SUBQUERY(a, b, c == 1).@count > 0", ["a $variable", "“b”"]), ("a == %", ["“%” opens no placeholder"]),
        ("a == %%", ["character 6", "belongs in quotes"]),
    ]

    @Test("A wrong text is told the place, what should stand there, and what was probably meant", arguments: told)
    func sentences(text: String, words: [String]) {
        let error = #expect(throws: CocoaError.self) { _ = try NSPredicate(validating: text) }
        let sentence = error?.localizedDescription ?? ""
        #expect(error?.code == .formatting)
        for word in words { #expect(sentence.contains(word), "\(text): \(sentence)") }
    }

    @Test("A wrong text in a program ends the process with the sentence, and so do arguments of the wrong kind")
    func traps() async {
        expect(
            await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                _ = NSPredicate(format: "name CONATINS 'x'")
            },
            ["character 6", "CONTAINS is near"])
        expect(
            await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                _ = NSPredicate(format: "age == %d", "12")
            },
            ["“%d” needs a number; argument 1 is of type String"])
        expect(
            await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                _ = NSPredicate(format: "a == %@ AND b == %@", 1)
            },
            ["There is no argument 2"])
        expect(
            await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                _ = NSPredicate(format: "%K == 1", 5)
            },
            ["“%K” needs a text"])
        expect(
            await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                _ = NSPredicate(format: "a == $x").evaluate(with: ["a": 1])
            },
            ["without a value for $x"])
        expect(
            await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                _ = NSExpression(format: "nosuch(a)")
            },
            ["no function “nosuch”"])
    }

    private func expect(
        _ result: ExitTest.Result?, _ words: [String], at place: Testing.SourceLocation = #_sourceLocation
    ) {
        let told = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        for word in ["CoreData misuse"] + words { #expect(told.contains(word), "\(told)", sourceLocation: place) }
    }

    @Test("Arguments of another kind or number are refused, whether the text was read before or not")
    func arguments() throws {
        for _ in 0..<2 {
            #expect(throws: CocoaError.self) { _ = try NSPredicate(validating: "age > %d", "x") }
            #expect(throws: CocoaError.self) { _ = try NSPredicate(validating: "age > %lf", [1]) }
            #expect(throws: CocoaError.self) { _ = try NSPredicate(validating: "age > %d") }
            #expect(throws: CocoaError.self) { _ = try NSPredicate(validating: "age > %d", 1, 2) }
            #expect(throws: CocoaError.self) { _ = try NSPredicate(validating: "%K > 1", 3) }
            #expect(throws: CocoaError.self) { _ = try NSPredicate(validating: "a == $x") }
            #expect(throws: CocoaError.self) { _ = try NSPredicate(validating: "a MATCHES '('") }
            #expect(try NSPredicate(validating: "age > %d", 1).evaluate(with: ["age": 2]))
            #expect(try NSPredicate(validating: "age > %f", NSNumber(value: 1.5)).evaluate(with: ["age": 2]))
            #expect(
                try NSPredicate(validating: "%K IN %@", argumentArray: ["age", [1, 2]]).evaluate(with: ["age": 2]))
        }
    }

    @Test(
        "Ten thousand damaged texts are refused or answered, and never end the process",
        arguments: [1, 2, 3, 4] as [UInt64])
    func damaged(seed: UInt64) throws {
        var random = SplitMix(seed)
        let own =
            Self.told.map(\.text) + [
                "name CONTAINS[cd] %@ AND age BETWEEN {%d, %d}",
                "SUBQUERY(items, $i, $i.n > age AND $i.t != nil).@count >= 1", "%K == %@ OR NOT tags.@count < 3",
                "TERNARY(age > 3, price, 0) * 2 >= price ** 2", "ANY items.n IN {1, 2, 3}",
                "CAST(price, 'NSString') LIKE '1*'", "(age + 1) << 2 == 4 / age",
                "median({1, age, 9}) == tags[FIRST].length", "name MATCHES '[A-Z].*'",
            ]
        let real = Corpus.rows("predicates/formats.tsv")?.map { $0[0] } ?? []
        let arguments: [Any] = [
            "age", 3, 2.5, [1, "x"], Date(), Optional<Int>.none as Any, NSNull(), Data([1]), ["a": 1], Decimal(1),
            UUID(),
        ]
        let subject = PredicateEvaluationTests.subject()
        var (taken, refused) = (0, 0)
        for round in 0..<2_500 {
            let whole = (round % 2 == 0 || real.isEmpty ? own : real).randomElement(using: &random) ?? ""
            var text = whole
            for _ in 0..<Int.random(in: 1...3, using: &random) { text = DamagedText.damaged(text, &random) }
            while text == whole { text = DamagedText.damaged(text, &random) }
            var given: [Any] = []
            let count = round % 4 == 0 ? Int.random(in: 0...3, using: &random) : text.count { $0 == "%" }
            for _ in 0..<count { given.append(arguments.randomElement(using: &random) ?? 0) }
            do {
                let predicate = try NSPredicate(validating: text, argumentArray: given)
                taken += 1
                _ = predicate.evaluate(with: subject)
                _ = predicate.evaluate(with: nil)
                _ = predicate.evaluate(with: 5)
                _ = predicate.description
            } catch {
                refused += 1
            }
        }
        print("damaged texts: \(taken) taken, \(refused) refused")
        // One to three damages leave about one text in thirteen that can be read.
        #expect(taken >= 150 && refused >= 2_000)
    }
}
