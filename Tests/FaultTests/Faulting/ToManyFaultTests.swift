// Reading a to-many of a fault: it fires the fault, as reading any value does.

import CoreDataTestSupport
import CoreDataValues
import Foundation
import Testing

@testable import CoreData

@Suite struct ToManyFaultTests {
    /// How a program reads the members.
    enum Reading: CaseIterable {
        case value, live, count, contains, predicate, path

        func read(_ owner: NSManagedObject, _ key: String, _ other: NSManagedObject) {
            switch self {
            case .value: _ = owner.value(forKey: key)
            case .live: for _ in owner.mutableSetValue(forKey: key) {}
            case .count: _ = owner.mutableSetValue(forKey: key).count
            case .contains: _ = owner.mutableSetValue(forKey: key).contains(other)
            case .predicate: _ = NSPredicate(format: "%K.@count > 0", key).evaluate(with: owner)
            case .path: _ = owner.value(forKeyPath: "\(key).@count")
            }
        }
    }

    private func ward(_ stack: Stack, patients: Int = 3) throws -> NSManagedObjectID {
        let writer = stack.another()
        let ward = writer.make("Ward", ["name": "North"])
        for number in 0..<patients { _ = writer.make("Patient", ["name": "\(number)", "ward": ward]) }
        try writer.save()
        return ward.objectID
    }

    @Test("1.2 Reading a to-many of a fault fires it", arguments: StoreMaker.types, Reading.allCases)
    func fires(_ type: String, _ reading: Reading) throws {
        let stack = try Stack(type)
        let ward = stack.context.object(with: try ward(stack))
        let other = stack.context.make("Patient", ["name": "other"])
        #expect(ward.isFault)
        reading.read(ward, "patients", other)
        #expect(!ward.isFault)
    }

    @Test("1.2 A merge that takes a member away tells of the owner whose members were read")
    func merged() throws {
        let stack = try Stack()
        let ward = stack.context.object(with: try ward(stack))
        #expect((ward.value(forKey: "patients") as? NSSet)?.count == 3)
        let log = NotificationLog(stack.context)
        let writer = stack.another()
        let patient = try #require(try writer.all("Patient").first)
        patient.setValue(nil, forKey: "ward")
        try writer.save()
        let saved = [NSUpdatedObjectsKey: Set([patient, writer.object(with: ward.objectID)])]
        stack.context.mergeChanges(
            fromContextDidSave: Notification(name: .NSManagedObjectContextDidSave, object: writer, userInfo: saved))
        let told = try #require(log.entries.indices.last { log.entries[$0].name == "didChange" })
        #expect(log.objects(told, NSRefreshedObjectsKey).contains(ward))
        #expect((ward.value(forKey: "patients") as? NSSet)?.count == 2)
    }

    @Test(
        "1.2 The owners of many faults are still read together, and the members of fetched objects cost one statement")
    func statements() throws {
        let stack = try Stack()
        for _ in 0..<20 { _ = try ward(stack, patients: 1) }
        let context = stack.another()
        context.stalenessInterval = 0
        let request = NSFetchRequest<NSManagedObject>(entityName: "Ward")
        request.includesPropertyValues = false
        request.relationshipKeyPathsForPrefetching = ["patients"]
        let wards = try context.fetch(request)
        let before = stack.coordinator.counters.statements
        for ward in wards { #expect((ward.value(forKey: "patients") as? NSSet)?.count == 1) }
        #expect(stack.coordinator.counters.statements - before == 1)
        let reader = stack.another()
        let loaded = try reader.all("Ward")
        let counted = stack.coordinator.counters.statements
        #expect((loaded[0].value(forKey: "patients") as? NSSet)?.count == 1)
        #expect(stack.coordinator.counters.statements - counted == 1)
    }
}
