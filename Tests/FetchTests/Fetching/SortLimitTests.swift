// How many sort keys a fetch may have, and numbers that change their type on the way.

import CoreDataTestSupport
import Foundation
import Testing

@testable import CoreData

@Suite("Sort keys and converted numbers") struct SortLimitTests {
    private static let types = [NSSQLiteStoreType, NSInMemoryStoreType]

    @Test("Sixty-two sort keys sort, through a to-one as well; more are refused", arguments: types)
    func keys(_ type: String) throws {
        let stack = try Stack(type, undo: false)
        let ward = stack.context.make("Ward", ["name": "North"])
        for name in ["b", "a"] { stack.context.make("Patient", ["name": name]).setValue(ward, forKey: "ward") }
        try stack.context.save()
        let request = NSFetchRequest<NSManagedObject>(entityName: "Patient")
        let keys = (0..<63).map { $0 == 3 ? "ward.name" : ["name", "code", "age"][$0 % 3] }
        request.sortDescriptors = keys.dropLast().map { NSSortDescriptor(key: $0, ascending: true) }
        #expect(try stack.context.fetch(request).map { $0.value(forKey: "name") as? String } == ["a", "b"])
        request.sortDescriptors = keys.map { NSSortDescriptor(key: $0, ascending: true) }
        let refusal = #expect(throws: CocoaError.self) { try stack.context.fetch(request) }
        #expect(refusal?.code.rawValue == 134060)
        #expect(refusal?.localizedDescription.contains("63 sort descriptors") == true)
    }

    @Test("A decimal becomes the double that is nearest to it, wherever it becomes one", arguments: types)
    func decimals(_ type: String) throws {
        let stack = try Stack(type, undo: false)
        let patient = stack.context.make("Patient", ["name": "p", "fee": NSDecimalNumber(string: "0.07")])
        patient.setValue(NSDecimalNumber(string: "0.07"), forKey: "weight")
        #expect(patient.value(forKey: "weight") as? Double == 0.07)
        try stack.context.save()
        let batch = NSBatchInsertRequest(
            entityName: "Patient", objects: [["name": "q", "weight": NSDecimalNumber(string: "0.07")]])
        try stack.context.execute(batch)
        let request = NSFetchRequest<NSDictionary>(entityName: "Patient")
        request.resultType = .dictionaryResultType
        request.predicate = NSPredicate(format: "weight == 0.07")
        let sum = NSExpressionDescription()
        (sum.name, sum.expressionResultType) = ("sum", .doubleAttributeType)
        sum.expression = NSExpression(format: "sum:(fee)")
        let count = NSExpressionDescription()
        (count.name, count.expressionResultType) = ("count", .integer64AttributeType)
        count.expression = NSExpression(format: "count:(name)")
        request.propertiesToFetch = [sum, count]
        let found = try #require(try stack.context.fetch(request).first)
        #expect(found["sum"] as? Double == 0.07 && found["count"] as? Int == 2)
    }
}
