// Numbers that are none, and infinite ones, in batch requests: what becomes of them is what becomes of them in a save.

import CoreDataTestSupport
import CoreDataValues
import Foundation
import Testing

@testable import CoreData

@Suite struct BatchNumberTests {
    private static let attributes: [(name: String, type: AttributeType)] = [
        ("real", .double), ("short", .float), ("day", .date), ("price", .decimal), ("whole", .integer64),
    ]

    private func stack(_ type: String) throws -> Stack {
        var probe = EntityDraft(name: "Probe")
        probe.attributes =
            Self.attributes.map { Clinic.attribute($0.name, $0.type) } + [Clinic.attribute("name", .string)]
        return try Stack(type, model: NSManagedObjectModel(probe), undo: false)
    }

    private static var cases: [(key: String, value: Any)] {
        let reals: [Double] = [.nan, .infinity, -.infinity]
        return reals.flatMap { real -> [(String, Any)] in
            [
                ("real", real), ("short", Float(real)), ("short", real),
                ("day", Date(timeIntervalSinceReferenceDate: real)),
            ]
        } + [("price", Decimal.nan), ("price", NSDecimalNumber.notANumber), ("real", NSNumber(value: Double.nan))]
    }

    /// What another context reads afterwards, or the code of the error.
    private func outcome(_ stack: Stack, _ key: String, _ body: (NSManagedObjectContext) throws -> Void) throws
        -> String
    {
        do { try body(stack.another()) } catch { return "\((error as? CocoaError)?.errorCode ?? 0)" }
        let found = try #require(try stack.another().all("Probe").last)
        switch found.value(forKey: key) {
        case let number as NSNumber: return "\(number.doubleValue)"
        case let date as Date: return "\(date.timeIntervalSinceReferenceDate)"
        case let other: return "\(other ?? "nil")"
        }
    }

    @Test("A batch insertion and a batch update take and refuse what a save does", arguments: StoreMaker.types)
    func constants(_ type: String) throws {
        for (key, value) in Self.cases {
            let saved = try stack(type), inserted = try stack(type), filled = try stack(type), updated = try stack(type)
            let wanted = try outcome(saved, key) { context in
                context.make("Probe").setValue(value, forKey: key)
                try context.save()
            }
            let isNaN =
                [(value as? Date)?.timeIntervalSinceReferenceDate, (value as? NSNumber)?.doubleValue, value as? Double]
                .contains { $0?.isNaN == true }
                || (value as? Decimal)?.isNaN == true
            #expect(isNaN ? ["1550", "1650"].contains(wanted) : ["inf", "-inf"].contains(wanted), "\(key) \(wanted)")
            #expect(
                try outcome(inserted, key) {
                    _ = try $0.execute(NSBatchInsertRequest(entityName: "Probe", objects: [[key: value]]))
                } == wanted)
            var isDone = false
            let filling = NSBatchInsertRequest(
                entityName: "Probe",
                managedObjectHandler: { object in
                    defer { isDone = true }
                    if !isDone { object.setValue(value, forKey: key) }
                    return isDone
                })
            #expect(try outcome(filled, key) { _ = try $0.execute(filling) } == wanted, "\(key)")
            _ = try updated.context.execute(NSBatchInsertRequest(entityName: "Probe", objects: [["name": "a"]]))
            let update = NSBatchUpdateRequest(entityName: "Probe")
            update.propertiesToUpdate = [key: value]
            #expect(try outcome(updated, key) { _ = try $0.execute(update) } == wanted, "\(key)")
            if isNaN { #expect(try updated.another().all("Probe").first?.value(forKey: key) == nil) }
        }
    }

    @Test(
        "What a batch update computes is nil where it is no number, and infinite where it is infinite",
        arguments: StoreMaker.types)
    func computed(_ type: String) throws {
        for (key, format, wanted) in [
            ("real", "real / 0", "inf"), ("real", "(real - real) / 0.0", "nil"), ("short", "real / 0", "inf"),
            ("real", "sqrt:(0 - real)", "nil"),
            ("price", "real / 0", "nil"), ("day", "day + (real - real) / 0.0", "nil"), ("whole", "real / 0", "134060"),
        ] {
            let stack = try stack(type)
            let row: [String: Any] = ["real": 2.0, "short": 2.0, "price": 2, "day": Date(), "whole": 2]
            _ = try stack.context.execute(NSBatchInsertRequest(entityName: "Probe", objects: [row]))
            let update = NSBatchUpdateRequest(entityName: "Probe")
            update.propertiesToUpdate = [key: NSExpression(format: format)]
            #expect(try outcome(stack, key) { _ = try $0.execute(update) } == wanted, "\(key) = \(format)")
        }
    }
}
