// Saves that fail, and that nothing has changed then.

import CoreDataTestSupport
import CoreDataValues
import Foundation
import Testing

@testable import CoreData

/// A save that fails leaves everything as it was, and the next one works once the cause is removed.
@Suite struct FailedSaveTests {
    static let stores = [NSSQLiteStoreType, NSInMemoryStoreType]

    private static func model() -> NSManagedObjectModel {
        var draft = Clinic.draft()
        for index in draft.entities.indices where draft.entities[index].name == "Doctor" {
            draft.entities[index].uniquenessConstraints = [["name"]]
        }
        return NSManagedObjectModel(draft: draft)
    }

    /// Everything that a failed save must not touch, as text.
    private func picture(_ stack: Stack, _ objects: [NSManagedObject]) throws -> [String] {
        let context = stack.context
        var lines = objects.map { object in
            let changed = object.changedValues().keys.sorted()
            let flags = [object.isInserted, object.isUpdated, object.isDeleted, object.isFault]
            return "\(text(object)) \(flags) \(changed)"
        }
        let undoManager = context.undoManager
        lines.append("\(undoManager?.undoCount ?? -1) \(undoManager?.redoCount ?? -1) \(context.hasChanges)")
        lines.append("\(context.insertedObjects.count) \(context.updatedObjects.count)")
        lines.append("\(context.deletedObjects.count)")
        let reader = stack.another()
        for entity in ["Patient", "Ward", "Doctor", "Visit", "Bed"] {
            lines += try reader.all(entity).map { row in
                _ = row.value(forKey: "code")
                return "\(text(row)) version \(row._state.version)"
            }.sorted()
        }
        return lines
    }

    private func text(_ object: NSManagedObject) -> String {
        let values = object.dictionaryOfValues().sorted { $0.key < $1.key }.map { "\($0): \($1)" }
        return "\(object.objectID) \(values.joined(separator: ", "))"
    }

    private func expectSame(_ now: [String], _ before: [String]) {
        #expect(now.count == before.count)
        for (now, before) in zip(now, before) { #expect(now == before) }
    }

    private func code(_ body: () throws -> Void) -> Int? {
        do {
            try body()
            return nil
        } catch { return (error as? CocoaError)?.code.rawValue }
    }

    @Test("A broken uniqueness constraint fails with 133021 and changes nothing", arguments: stores)
    func constraint(_ type: String) throws {
        let stack = try Stack(type, model: FailedSaveTests.model())
        let context = stack.context
        let first = context.make("Doctor", ["name": "Bo"])
        let patient = context.make("Patient", ["name": "Ada"])
        let gone = context.make("Ward", ["name": "North"])
        try context.save()
        let second = context.make("Doctor", ["name": "Bo"])
        second.setValue(NSSet(array: [patient]), forKey: "patients")
        patient.setValue(36, forKey: "age")
        context.delete(gone)
        context.processPendingChanges()
        let before = try picture(stack, [first, second, patient, gone])
        #expect(code { try context.save() } == 133021)
        expectSame(try picture(stack, [first, second, patient, gone]), before)
        #expect(second.objectID.isTemporaryID)
        second.setValue("Eve", forKey: "name")
        try context.save()
        #expect(!second.objectID.isTemporaryID)
        let reader = stack.another()
        #expect(try reader.all("Doctor").count == 2)
        #expect(try reader.all("Ward").isEmpty)
        let found = try #require(try reader.all("Patient").first)
        #expect(found.value(forKey: "age") as? Int == 36)
        #expect((found.value(forKey: "doctors") as? NSSet)?.count == 1)
    }

    @Test("A row that another context changed fails with 133020 and changes nothing", arguments: stores)
    func conflict(_ type: String) throws {
        let stack = try Stack(type)
        let context = stack.context
        let patient = context.make("Patient", ["name": "Ada"])
        try context.save()
        let other = stack.another()
        let same = try #require(try other.all("Patient").first)
        same.setValue("Bo", forKey: "name")
        try other.save()
        patient.setValue(36, forKey: "age")
        let ward = context.make("Ward", ["name": "North"])
        patient.setValue(ward, forKey: "ward")
        context.processPendingChanges()
        let before = try picture(stack, [patient, ward])
        #expect(code { try context.save() } == 133020)
        expectSame(try picture(stack, [patient, ward]), before)
        context.refresh(patient, mergeChanges: true)
        #expect(patient.value(forKey: "name") as? String == "Bo")
        #expect(patient.value(forKey: "age") as? Int == 36)
        try context.save()
        let reader = stack.another()
        let found = try #require(try reader.all("Patient").first)
        #expect(found.value(forKey: "age") as? Int == 36)
        let its = found.value(forKey: "ward") as? NSManagedObject
        #expect(its?.value(forKey: "name") as? String == "North")
    }

    @Test(
        "A row that another context deleted fails with 133020; after a rollback the next save passes",
        arguments: stores)
    func deletedElsewhere(_ type: String) throws {
        let stack = try Stack(type)
        let patient = stack.context.make("Patient", ["name": "Ada"])
        try stack.context.save()
        let other = stack.another()
        for object in try other.all("Patient") { other.delete(object) }
        try other.save()
        patient.setValue("Bo", forKey: "name")
        let before = try picture(stack, [patient])
        #expect(code { try stack.context.save() } == 133020)
        expectSame(try picture(stack, [patient]), before)
        stack.context.rollback()
        _ = stack.context.make("Ward", ["name": "North"])
        try stack.context.save()
        #expect(try stack.another().all("Ward").count == 1)
    }

    @Test("A value that validation refuses changes nothing", arguments: stores)
    func validation(_ type: String) throws {
        let stack = try Stack(type)
        let patient = stack.context.make("Patient")
        let ward = stack.context.make("Ward", ["name": "North"])
        stack.context.processPendingChanges()
        let before = try picture(stack, [patient, ward])
        #expect(code { try stack.context.save() } == 1570)
        expectSame(try picture(stack, [patient, ward]), before)
        patient.setValue("Ada", forKey: "name")
        try stack.context.save()
        #expect(try stack.another().all("Patient").count == 1)
    }
}
