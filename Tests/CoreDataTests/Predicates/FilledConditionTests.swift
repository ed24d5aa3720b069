// Comparisons of texts that were read before, which a fetch takes without making trees of them.

import CoreDataTestSupport
import Foundation
import Testing

@testable import CoreData

@Suite struct FilledConditionTests {
    private func filled(_ names: [String]) throws -> Stack {
        let stack = try Stack(undo: false)
        for (index, name) in names.enumerated() { _ = stack.context.make("Patient", ["name": name, "age": index]) }
        try stack.context.save()
        return stack
    }

    private func ages(_ predicate: NSPredicate, limit: Int = 0, _ context: NSManagedObjectContext) throws -> [Int] {
        let request = NSFetchRequest<NSManagedObject>("Patient", by: "age")
        request.predicate = predicate
        request.fetchLimit = limit
        return try context.fetch(request).compactMap { $0.value(forKey: "age") as? Int }
    }

    @Test("Two texts of one meaning, and a comparison made of expressions, run one statement with their own values")
    func shared() throws {
        let stack = try filled(["a", "b", "c", "d"])
        let context = stack.another()
        let made = NSComparisonPredicate(
            leftExpression: NSExpression(forKeyPath: "age"), rightExpression: NSExpression(forConstantValue: 2),
            modifier: .direct, type: .greaterThan)
        #expect(try ages(NSPredicate(format: "age > %d", 1), context) == [2, 3])
        let before = stack.coordinator.counters.preparedStatements
        for _ in 0..<2 {
            #expect(try ages(made, context) == [3])
            #expect(try ages(NSPredicate(format: "age > %@", 0), context) == [1, 2, 3])
            #expect(try ages(NSPredicate(format: "(age > %d)", 1), context) == [2, 3])
        }
        #expect(stack.coordinator.counters.preparedStatements == before)
        #expect(try ages(NSPredicate(format: "age < %d", 1), context) == [0])
        #expect(stack.coordinator.counters.preparedStatements == before + 1)
    }

    @Test("A comparison of a text that was read before has the sides, the text and the answers that it had at first")
    func sides() throws {
        let date = Date(timeIntervalSinceReferenceDate: 5)
        for argument in ["x", 3, 2.5, date, date as NSDate, NSNumber(value: 4), NSNull(), [1, 2]] as [Any] {
            let texts = try (0..<2).map { _ in
                let predicate = NSPredicate(format: "ward.name >= %@", argument)
                let comparison = try #require(predicate as? NSComparisonPredicate)
                #expect(comparison.leftExpression.keyPath == "ward.name")
                #expect(comparison.predicateOperatorType == .greaterThanOrEqualTo)
                #expect(Swift.type(of: comparison) == NSComparisonPredicate.self)
                return "\(comparison.predicateFormat) \(String(describing: comparison.rightExpression.constantValue))"
            }
            #expect(texts[0] == texts[1])
        }
        for age in [3, 5] {
            #expect(NSPredicate(format: "age == %d", age).evaluate(with: ["age": 5]) == (age == 5))
        }
        #expect(NSPredicate(format: "SELF == %@", "a").evaluate(with: "a"))
    }

    @Test("Texts of any length are found, one after the other and several at once")
    func lengths() throws {
        let names = [0, 1, 15, 16, 100, 200, 255, 256, 257, 3000].map {
            String(repeating: "é", count: $0 / 2) + "\($0)"
        }
        let stack = try filled(names)
        let context = stack.another()
        for _ in 0..<2 {
            for (index, name) in names.enumerated() {
                #expect(try ages(NSPredicate(format: "name == %@", name), context) == [index])
            }
            let all = names.map { NSPredicate(format: "name == %@", $0) }
            let any = NSCompoundPredicate(orPredicateWithSubpredicates: all)
            #expect(try ages(any, context) == Array(names.indices))
        }
    }

    @Test("A limit finds as many rows as there are, up to it, and no more")
    func limits() throws {
        let stack = try filled((0..<40).map { "n\($0)" })
        let context = stack.another()
        for limit in [0, 1, 2, 31, 32, 33, 39, 40, 41] {
            for least in [0, 1, 39, 40] {
                let count = limit == 0 ? 40 - least : min(limit, 40 - least)
                let found = try ages(NSPredicate(format: "age >= %d", least), limit: limit, context)
                #expect(found == Array(least..<least + count))
            }
        }
    }
}
