// Whole numbers beside decimals, of which there are more than doubles.

import CoreDataTestSupport
import CoreDataValues
import Foundation
import Testing

@testable import CoreData

@Suite("Whole numbers beside decimals") struct WholeNumberTests {
    private static let numbers: [Int64] = [
        .min, .min + 1, -9_007_199_254_740_993, -6, -5, -1, 0, 1, 5, 6, 9_007_199_254_740_992, 9_007_199_254_740_993,
        9_007_199_254_740_994, .max - 1, .max,
    ]
    private static let decimals = [
        "9007199254740993", "9007199254740992.5", "-9007199254740993", "9223372036854775807", "9223372036854775806",
        "9223372036854775806.5", "9223372036854775807.5", "9223372036854775808", "-9223372036854775808",
        "-9223372036854775808.5", "-9223372036854775809", "5.0000000000000000000001", "4.9999999999999999999999",
        "-5.5",
        "5", "0", "-0.1", "1e30",
    ]

    private func stack(_ type: String) throws -> Stack {
        var probe = EntityDraft(name: "Probe")
        probe.attributes = [
            Clinic.attribute("number", .integer64), Clinic.attribute("flag", .boolean),
            Clinic.attribute("name", .string),
        ]
        let stack = try Stack(type, model: NSManagedObjectModel(probe), undo: false)
        for number in Self.numbers {
            _ = stack.context.make("Probe", ["number": number, "flag": number > 0, "name": "\(number)"])
        }
        _ = stack.context.make("Probe", ["name": "nil"])
        try stack.context.save()
        return stack
    }

    private func names(_ predicate: NSPredicate?, _ context: NSManagedObjectContext) throws -> [String] {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Probe")
        request.predicate = predicate
        return try context.fetch(request).compactMap { $0.value(forKey: "name") as? String }.sorted()
    }

    @Test("A fetch finds what the predicate finds in memory, whatever the decimal is", arguments: StoreMaker.types)
    func fetches(_ type: String) throws {
        let stack = try stack(type)
        let all = try stack.another().fetch(NSFetchRequest<NSManagedObject>(entityName: "Probe"))
        let forms = [
            "number == %@", "number != %@", "number < %@", "number <= %@", "number > %@", "number >= %@", "%@ < number",
            "%@ == number", "number IN {%@, 6}", "number IN {%@, 0.5, 1, 2, 3, 4, 5, 6}", "NOT number == %@",
            "number BETWEEN {%@, 9223372036854775807}", "number BETWEEN {-9223372036854775808, %@}", "flag < %@",
            "number + 0 == %@",
        ]
        for form in forms {
            for text in Self.decimals {
                let predicate = NSPredicate(format: form, NSDecimalNumber(string: text))
                // What is calculated is calculated with doubles in no store; with integers here.
                let expected = all.filter { predicate.evaluate(with: $0) }
                    .compactMap { $0.value(forKey: "name") as? String }.sorted()
                #expect(try names(predicate, stack.another()) == expected, "\(predicate)")
            }
        }
        withExtendedLifetime(all) {}
    }

    @Test("Changes of many rows change those that the decimal names, and give what it is", arguments: StoreMaker.types)
    func batches(_ type: String) throws {
        let stack = try stack(type)
        let decimal = NSDecimalNumber(string: "9007199254740993")
        let named = NSPredicate(format: "number == %@", decimal)
        let update = NSBatchUpdateRequest(entityName: "Probe")
        update.predicate = named
        update.propertiesToUpdate = ["name": "changed", "number": NSExpression(forConstantValue: decimal)]
        _ = try stack.another().execute(update)
        #expect(try names(NSPredicate(format: "number == 9007199254740993"), stack.another()) == ["changed"])
        let request = NSFetchRequest<any NSFetchRequestResult>(entityName: "Probe")
        request.predicate = named
        _ = try stack.another().execute(NSBatchDeleteRequest(fetchRequest: request))
        let rest = Self.numbers.filter { $0 != 9_007_199_254_740_993 }.map { "\($0)" } + ["nil"]
        #expect(try names(nil, stack.another()) == rest.sorted())
    }
}
