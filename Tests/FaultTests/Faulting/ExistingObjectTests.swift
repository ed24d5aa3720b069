// What asking for the existing objects of faults costs, and what it says of rows that are gone.

import CoreDataTestSupport
import Foundation
import Testing

@testable import CoreData

@Suite struct ExistingObjectTests {
    private let hospital: Hospital
    private let context: NSManagedObjectContext

    init() throws {
        hospital = try Hospital(600)
        context = hospital.context
    }

    private func code(_ id: NSManagedObjectID) -> Int? {
        do {
            _ = try context.existingObject(with: id)
            return nil
        } catch { return (error as? CocoaError)?.code.rawValue }
    }

    @Test(
        "1.15 Existing objects of the faults of one fetch, or of faults by ID, are read 256 in a statement",
        arguments: [true, false])
    func together(_ fetched: Bool) throws {
        let faults = try fetched ? hospital.fetch(values: false) : hospital.ids.map { context.object(with: $0) }
        #expect(faults.count == 600 && !faults.contains { !$0.isFault })
        try hospital.costs(3) {
            for (index, id) in hospital.ids.enumerated() {
                let found = try context.existingObject(with: id)
                #expect(found === faults[index] && !found.isFault)
            }
        }
        hospital.costs(0) { #expect(faults[599].name == "599") }
    }

    @Test("1.15 An object that is not here is one statement, and so is each fault if faults are not read together")
    func alone() throws {
        try hospital.costs(2) {
            for id in hospital.ids.prefix(2) { _ = try context.existingObject(with: id) }
        }
        context.reset()
        context.readsFaultsTogether = false
        let faults = hospital.ids.prefix(3).map { context.object(with: $0) }
        try hospital.costs(3) { for fault in faults { _ = try context.existingObject(with: fault.objectID) } }
    }

    @Test("1.15 A row that is gone is 133000, and its fault stays a fault; those beside it are read")
    func gone() throws {
        let faults = try hospital.fetch(values: false)
        try hospital.write("DELETE FROM ZPATIENT WHERE ZNAME IN ('3', '5')")
        #expect(code(hospital.ids[3]) == 133000)
        #expect(faults[3].isFault && !faults[3].isDeleted && !context.hasChanges)
        hospital.costs(0) { #expect(code(hospital.ids[4]) == nil && faults[4].name == "4") }
        #expect(code(hospital.ids[5]) == 133000)
    }

    @Test("1.15 An unreadable row is an error for its own object alone")
    func unreadable() throws {
        let faults = try hospital.fetch(values: false)
        let mend = try hospital.spoil(3)
        #expect(code(hospital.ids[3]) != nil && code(hospital.ids[3]) != 133000)
        #expect(code(hospital.ids[4]) == nil && faults[4].name == "4")
        try mend()
        #expect(code(hospital.ids[3]) == nil)
    }
}
