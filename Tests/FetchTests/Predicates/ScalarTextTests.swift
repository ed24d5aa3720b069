// Texts that are equivalent and not the same: one with é, and one with e and an accent.

import CoreDataTestSupport
import Foundation
import Testing

@testable import CoreData

@Suite("Equivalent texts") struct ScalarTextTests {
    private static let composed = "caf\u{e9}", decomposed = "cafe\u{301}"

    @Test(
        "Two formats of equivalent texts are two predicates, and each holds for its own text", arguments: [true, false])
    func formats(_ isFirst: Bool) throws {
        let texts = isFirst ? [Self.composed, Self.decomposed] : [Self.decomposed, Self.composed]
        for text in texts {
            for other in texts {
                #expect(
                    NSPredicate(format: "SELF == '\(text)'").evaluate(with: other)
                        == (text.utf8.count == other.utf8.count))
            }
            #expect(try NSPredicate(validating: "SELF == '\(text)'").evaluate(with: text))
        }
        let made = texts.map { NSPredicate(format: "name == %@", $0) }
        #expect(made[0] != made[1] && made[0] == NSPredicate(format: "name == %@", texts[0]))
    }

    @Test("A fetch finds the one of two equivalent texts that it names", arguments: UserPredicateTests.types)
    func fetches(_ type: String) throws {
        let stack = try Stack(type, undo: false)
        for text in [Self.composed, Self.decomposed] { _ = stack.context.make("Patient", ["name": text]) }
        try stack.context.save()
        for text in [Self.composed, Self.decomposed] {
            let request = NSFetchRequest<NSManagedObject>("Patient", "name == '\(text)'")
            let names = try stack.context.fetch(request).compactMap { $0.value(forKey: "name") as? String }
            #expect(names.map(\.utf8.count) == [text.utf8.count])
        }
        let sums = NSFetchRequest<NSDictionary>(entityName: "Patient")
        sums.resultType = .dictionaryResultType
        sums.propertiesToFetch = ["one", "two"].enumerated().map { place, name in
            let description = NSExpressionDescription()
            description.name = name
            description.expression = NSExpression(
                format: "sum:(TERNARY(name == %@, %d, 0))", [Self.composed, Self.decomposed][place], place + 1)
            description.expressionResultType = .integer64AttributeType
            return description
        }
        let found = try #require(try stack.context.fetch(sums).first)
        #expect(found["one"] as? Int == 1 && found["two"] as? Int == 2)
    }
}
