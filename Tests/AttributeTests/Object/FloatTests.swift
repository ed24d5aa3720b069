// Float attributes keep Floats, and decimals that are no number.

import CoreDataTestSupport
import CoreDataValues
import Testing

@testable import CoreData

@Suite struct FloatTests {
    private static func model() -> NSManagedObjectModel {
        var sample = EntityDraft(name: "Sample")
        sample.attributes = [
            Clinic.attribute("f", .float), Clinic.attribute("d", .double), Clinic.attribute("m", .decimal),
            Clinic.attribute("name", .string),
        ]
        return NSManagedObjectModel(sample)
    }

    private func found(_ format: String, _ arguments: [Any], _ context: NSManagedObjectContext) throws -> Int {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Sample")
        request.predicate = NSPredicate(format: format, argumentArray: arguments)
        return try context.fetch(request).count
    }

    // A program's own store asks the predicate about values of its own, of which nobody knows that they are Floats.
    @Test(
        "1.1 set is found as 1.1 and as Float(1.1), before and after the save, and reads as it was",
        arguments: Lab.types.filter { $0 != ShelfStore.type })
    func numbers(_ type: String) throws {
        let stack = try Stack(type, model: Self.model(), undo: false)
        _ = stack.context.make("Sample", ["f": 1.1, "d": 1.1])
        _ = stack.context.make("Sample", ["f": Float(0.7), "d": 0.7])
        _ = stack.context.make("Sample")
        for isSaved in [false, true] {
            if isSaved { try stack.context.save() }
            let context = isSaved ? stack.another() : stack.context
            for given in [
                1.1 as Any, Float(1.1), Double(Float(1.1)), NSNumber(value: 1.1), Decimal(string: "1.1") as Any,
            ] {
                #expect(try found("f == %@", [given], context) == 1, "\(given)")
                #expect(try found("%@ == f", [given], context) == 1)
                #expect(try found("f != %@", [given], context) == 2)
                #expect(try found("NOT f == %@", [given], context) == 2)
                #expect(try found("f < %@", [given], context) == 1)
                #expect(try found("f <= %@", [given], context) == 2)
                #expect(try found("f > %@", [given], context) == 0)
                #expect(try found("f >= %@", [given], context) == 1)
                #expect(try found("f IN %@", [[given, 5]], context) == 1)
                #expect(try found("f BETWEEN %@", [[0.7, given]], context) == 2)
            }
            // A Double attribute is what it was.
            #expect(try found("d == 1.1", [], context) == 1)
            #expect(try found("d == %@", [Double(Float(1.1))], context) == 0)
        }
    }

    @Test("A Float reads as one whoever set it, and reading it again changes nothing", arguments: Lab.types)
    func reading(_ type: String) throws {
        let stack = try Stack(type, model: Self.model(), undo: false)
        _ = stack.context.make("Sample", ["f": 1.1])
        try stack.context.save()
        for _ in 0..<2 {
            let context = stack.another()
            let sample = try #require(try context.all("Sample").first)
            #expect(sample.value(forKey: "f") as? Float == 1.1)
            #expect(sample.value(forKey: "f") as? Double == Double(Float(1.1)))
            #expect(NSPredicate(format: "f == 1.1 AND f == %@", argumentArray: [Float(1.1)]).evaluate(with: sample))
            sample.setValue(1.1, forKey: "f")
            #expect(sample.changedValues().isEmpty)
            context.refresh(sample, mergeChanges: true)
            #expect(sample.changedValues().isEmpty && !sample.hasPersistentChangedValues)
            try context.save()
        }
        #expect(!stack.context.hasChanges)
    }

    @Test("A file with doubles where the model has Floats is searched by what the rows read as")
    func otherWriters() throws {
        let stack = try Stack(model: Self.model(), undo: false)
        _ = stack.context.make("Sample", ["f": 1.1])
        try stack.context.save()
        try SQLiteFile(stack.folder.file("store.sqlite")).run("UPDATE ZSAMPLE SET ZF = 1.1, ZM = 'NaN'")
        let context = stack.another()
        #expect(try found("f == 1.1", [], context) == 1)
        #expect(try found("f == %@", [Float(1.1)], context) == 1)
        #expect(try found("f > 1.1 OR f < 1.1 OR f != 1.1", [], context) == 0)
        let sample = try #require(try context.all("Sample").first)
        #expect(sample.value(forKey: "f") as? Float == 1.1)
        #expect((sample.value(forKey: "m") as? NSDecimalNumber)?.decimalValue.isNaN == true)
        sample.setValue("new", forKey: "name")
        try context.save()
        #expect(
            (try #require(try stack.another().all("Sample").first).value(forKey: "m") as? NSDecimalNumber)?.decimalValue
                .isNaN == true)
        sample.setValue(NSDecimalNumber.notANumber, forKey: "m")
        #expect(throws: CocoaError.self) { try context.save() }
    }
}
