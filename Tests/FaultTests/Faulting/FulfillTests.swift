// Loading faults beforehand, and the members of many owners in one statement.

import CoreDataTestSupport
import CoreDataValues
import Foundation
import Testing

@testable import CoreData

@Suite struct FulfillTests {
    @Test("fulfill reads a hundred faults with one statement and fires none that is loaded")
    func oneStatement() throws {
        let stack = try Stack()
        let ids = (0..<100).map { stack.context.make("Patient", ["name": "\($0)"]) }
        try stack.context.save()
        let other = stack.another()
        let faults = ids.map { other.object(with: $0.objectID) }
        #expect(!faults.contains { !$0.isFault })
        let before = stack.statements
        try other.fulfill(faults)
        #expect(stack.statements - before == 1)
        #expect(faults.map { $0.value(forKey: "name") as? String } == (0..<100).map { "\($0)" })
        try other.fulfill(faults)
        #expect(stack.statements - before == 1)
    }

    @Test("4.12 A fault whose row is gone reads as empty and deleted; told not to, fulfill throws")
    func missingRow() throws {
        let stack = try Stack()
        let patient = stack.context.make("Patient", ["name": "Ada"])
        try stack.context.save()
        let (lenient, strict) = (stack.another(), stack.another())
        strict.shouldDeleteInaccessibleFaults = false
        let (lost, missed) = (lenient.object(with: patient.objectID), strict.object(with: patient.objectID))
        stack.context.delete(patient)
        try stack.context.save()
        try lenient.fulfill([lost])
        #expect(lost.isDeleted)
        #expect(lost.value(forKey: "name") as? String == nil)
        try lenient.save()
        #expect(!lenient.hasChanges)
        #expect(throws: CocoaError.self) { try strict.fulfill([missed]) }
        #expect(!missed.isDeleted)
    }

    @Test("Members of many owners come with their owners, in order", arguments: StoreMaker.types)
    func targets(_ type: String) throws {
        let stack = try Stack(type)
        let context = stack.context
        let doctors = (0..<2).map { context.make("Doctor", ["name": "\($0)"]) }
        let patients = (0..<3).map { context.make("Patient", ["name": "\($0)"]) }
        for patient in patients {
            let visits = (0..<4).map { context.make("Visit", ["code": $0]) }
            patient.setValue(NSOrderedSet(array: visits.reversed()), forKey: "visits")
            patient.setValue(Set(doctors), forKey: "doctors")
        }
        try context.save()
        let store = try #require(stack.coordinator.persistentStores.first?.rows)
        let owners = patients.prefix(2).map { $0._state.pointee.number }.sorted()
        var found: [String: [Int64]] = [:]
        var codes: [Value] = []
        let before = stack.statements
        for key in ["visits", "doctors"] {
            let relationships = patients[0]._state.info.relationships
            let relationship = try #require(relationships.first { $0.name == key })
            try store.targets(of: relationship.index, from: owners, .latest) { batch in
                found[key, default: []] += batch.owners
                if key == "visits" {
                    let slots = context.runtime.schema[batch.rows.first.layout.entity].slots
                    let slot = slots.firstIndex { $0.name == "code" } ?? 0
                    codes += (0..<batch.rows.count).map { batch.rows.first.value(row: $0, slot: slot) }
                }
                return .more
            }
        }
        if type == NSSQLiteStoreType { #expect(stack.statements - before == 2) }
        #expect(found["visits"] == owners.flatMap { Array(repeating: $0, count: 4) })
        #expect(found["doctors"] == owners.flatMap { [$0, $0] })
        #expect(codes == (0..<2).flatMap { _ in [3, 2, 1, 0].map { Value.int($0) } })
    }
}
