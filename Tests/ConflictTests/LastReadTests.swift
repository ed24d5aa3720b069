// What a deletion is compared with: the versions that the context has last read, whether or not the program holds the objects.

import CoreDataTestSupport
import CoreDataValues
import Foundation
import Testing

@testable import CoreData

@Suite struct LastReadTests {
    @Test(
        "6.2 What a save answers to a deletion does not depend on what the program holds",
        arguments: [NSSQLiteStoreType, NSInMemoryStoreType], LastRead.kinds)
    func sameAnswer(_ type: String, _ kind: LastRead.Kind) throws {
        let run = try LastRead(type)
        var wrong: [String] = []
        for item in LastRead.cases(kind) {
            let answers = try LastRead.Holding.allCases.map { try run.answer(item, $0) }
            if Set(answers).count > 1 { wrong.append("\(item): \(answers)") }
        }
        #expect(wrong.isEmpty, "\(wrong.count) of \(LastRead.cases(kind).count):\n\(wrong.prefix(40).joined(separator: "\n"))")
    }

    @Test(
        "6.2 A member that another writer has changed since it was read here is not deleted or changed with its owner",
        arguments: [NSSQLiteStoreType, NSInMemoryStoreType], LastRead.kinds)
    func nothingLost(_ type: String, _ kind: LastRead.Kind) throws {
        let run = try LastRead(type)
        var wrong: [String] = []
        let cases = LastRead.cases(kind).filter { item in
            // A to-one that is read leads to a fault.
            let isRead = item.reading == .value || item.getting == .prefetch || item.reading == .members && !kind.isToOne
            return isRead && [.nothing, .save, .refreshOther].contains(item.between)
                && item.writing == .value && kind.changesMembers
        }
        for item in cases {
            for holding in LastRead.Holding.allCases where try run.answer(item, holding) != .refused {
                wrong.append("\(item), held \(holding)")
            }
        }
        #expect(wrong.isEmpty, "\(wrong.count) of \(3 * cases.count):\n\(wrong.prefix(40).joined(separator: "\n"))")
    }
}
