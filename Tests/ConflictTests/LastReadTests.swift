// What a deletion is compared with: the versions that the context has last read, whether or not the program holds the objects.

import CoreDataTestSupport
import CoreDataValues
import Foundation
import Testing

@testable import CoreData

@Suite struct LastReadTests {
    @Test(
        "6.2 A deletion is compared with what was last read, whatever the program holds, and loses no other writer's change",
        arguments: [NSSQLiteStoreType, NSInMemoryStoreType], LastRead.kinds)
    func enumerated(_ type: String, _ kind: LastRead.Kind) throws {
        let run = try LastRead(type)
        let cases = LastRead.cases(kind)
        var wrong: [String] = []
        for item in cases {
            let answers = try LastRead.Holding.allCases.map { try run.answer(item, $0) }
            if Set(answers).count > 1 || item.mustBeRefused && answers[0] != .refused { wrong.append("\(item): \(answers)") }
        }
        #expect(wrong.isEmpty, "\(wrong.count) of \(cases.count):\n\(wrong.prefix(40).joined(separator: "\n"))")
    }
}
