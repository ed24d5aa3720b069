// Values of batch requests that Swift and expressions give in forms of their own.

import CoreDataTestSupport
import CoreDataValues
import Foundation
import Testing

@testable import CoreData

@Suite struct BatchValueTests {
    private func stack(_ type: String) throws -> Stack {
        var probe = EntityDraft(name: "Probe")
        probe.attributes = [
            Clinic.attribute("name", .string), Clinic.attribute("rank", .integer32), Clinic.attribute("flag", .boolean),
            Clinic.attribute("data", .binary), Clinic.attribute("photo", .binary, external: true),
        ]
        return try Stack(type, model: NSManagedObjectModel(probe), undo: false)
    }

    private func update(_ stack: Stack, _ properties: [AnyHashable: Any]) throws {
        let request = NSBatchUpdateRequest(entityName: "Probe")
        request.propertiesToUpdate = properties
        _ = try stack.another().execute(request)
    }

    private func values(_ stack: Stack, _ key: String) throws -> [Any?] {
        return try stack.another().fetch(NSFetchRequest<NSManagedObject>("Probe", by: "rank")).map {
            $0.value(forKey: key)
        }
    }

    @Test("An optional is what it holds, and nil where it holds nothing", arguments: StoreMaker.types)
    func optionals(_ type: String) throws {
        let stack = try stack(type)
        let none = Optional<String>.none as Any, some = Optional("n") as Any
        let rows: [[String: Any]] = [["rank": Optional(1) as Any, "name": none], ["rank": 2, "name": some]]
        _ = try stack.context.execute(NSBatchInsertRequest(entityName: "Probe", objects: rows))
        #expect(try values(stack, "name").map { $0 as? String } == [nil, "n"])
        try update(stack, ["name": some])
        #expect(try values(stack, "name").map { $0 as? String } == ["n", "n"])
        try update(stack, ["name": none])
        #expect(try values(stack, "name").allSatisfy { $0 == nil })
    }

    @Test("A Boolean may be chosen by TERNARY, of nothing but Booleans", arguments: StoreMaker.types)
    func booleans(_ type: String) throws {
        let stack = try stack(type)
        for rank in 1...3 { _ = stack.context.make("Probe", ["rank": rank, "flag": rank == 1]) }
        try stack.context.save()
        try update(stack, ["flag": NSExpression(format: "TERNARY(rank > 2, YES, TERNARY(rank > 1, nil, flag))")])
        #expect(try values(stack, "flag").map { $0 as? Bool } == [true, nil, true])
        try update(stack, ["flag": NSExpression(format: "TERNARY(rank > 2, NO, 1)")])
        #expect(try values(stack, "flag").map { $0 as? Bool } == [true, true, false])
        for format in ["TERNARY(rank > 2, 2, NO)", "TERNARY(rank > 2, rank, NO)"] {
            #expect(throws: CocoaError.self) { try update(stack, ["flag": NSExpression(format: format)]) }
        }
    }

    @Test("What may lie in a file is not computed, and the error says so", arguments: StoreMaker.types)
    func externalData(_ type: String) throws {
        let stack = try stack(type)
        let error = #expect(throws: CocoaError.self) {
            try update(stack, ["photo": NSExpression(forKeyPath: "data")])
        }
        #expect(error.map { "\($0)" }?.contains("the property allows external storage") == true)
    }
}
