// Statements on what counts as changed (behaviours, section 3).

import CoreData
import CoreDataTestSupport
import Foundation
import Testing

@Suite struct ChangeStatements {
    private let stack: Stack
    private var context: NSManagedObjectContext { stack.context }

    init() throws { stack = try Stack() }

    @Test("3.1 Flags and hasChanges tell of an unprocessed change at once")
    func unprocessed() throws {
        let patient = try stack.saved()
        #expect(!context.hasChanges)
        patient.setValue("Bo", forKey: "name")
        #expect(patient.isUpdated && patient.hasChanges && context.hasChanges)
        context.processPendingChanges()
        #expect(context.updatedObjects == [patient])
    }

    @Test("3.3 What was inserted and deleted without a save is in no notification of the save")
    func cameAndWent() throws {
        _ = try stack.saved()
        let brief = context.make("Patient", ["name": "Eve"])
        context.delete(brief)
        _ = context.make("Ward", ["name": "North"])
        let log = NotificationLog(context)
        try context.save()
        let saved = try #require(log.entries.firstIndex { $0.name == "didSave:" })
        #expect(log.objects(saved, NSInsertedObjectsKey).count == 1)
        #expect(log.objects(saved, NSDeletedObjectsKey).isEmpty)
        #expect(!log.objects(saved, NSInsertedObjectsKey).contains(brief))
    }

    @Test("3.4 isDeleted holds while the deletion is pending; saved, the object has no context")
    func deleted() throws {
        let patient = try stack.saved()
        context.delete(patient)
        #expect(patient.isDeleted)
        context.processPendingChanges()
        #expect(patient.isDeleted && patient.managedObjectContext === context)
        try context.save()
        #expect(!patient.isDeleted && patient.managedObjectContext == nil)
    }

    @Test("3.5 changedValuesForCurrentEvent has the values from before the event, of the event's changes only")
    func currentEvent() throws {
        let patient = try stack.saved("Ada")
        let wards = ["North", "South"].map { context.make("Ward", ["name": $0]) }
        let doctors = (0..<2).map { context.make("Doctor", ["code": $0]) }
        patient.setValue(wards[0], forKey: "ward")
        patient.setValue(Set([doctors[0]]), forKey: "doctors")
        context.processPendingChanges()
        #expect(patient.changedValuesForCurrentEvent().isEmpty)
        for name in ["Bo", "Cy"] { patient.setValue(name, forKey: "name") }
        patient.setValue(36, forKey: "age")
        patient.setValue(wards[1], forKey: "ward")
        patient.setValue(Set(doctors), forKey: "doctors")
        let event = patient.changedValuesForCurrentEvent()
        #expect(Set(event.keys) == ["name", "age", "ward", "doctors"])
        #expect(event["name"] as? String == "Ada")
        #expect(event["age"] is NSNull)
        #expect(event["ward"] as? NSManagedObject === wards[0])
        #expect(event["doctors"] as? Set<NSManagedObject> == [doctors[0]])
        #expect(wards[0].changedValuesForCurrentEvent()["patients"] as? Set<NSManagedObject> == [patient])
        #expect(wards[1].changedValuesForCurrentEvent()["patients"] as? Set<NSManagedObject> == [])
        context.processPendingChanges()
        #expect(patient.changedValuesForCurrentEvent().isEmpty)
        #expect(patient.changedValues()["name"] as? String == "Cy")
    }

    @Test("3.6 An equal value is a change event that writes no column")
    func equal() throws {
        let patient = try stack.saved()
        patient.setValue("Ada", forKey: "name")
        context.processPendingChanges()
        #expect(context.updatedObjects == [patient] && context.hasChanges)
        #expect(!patient.hasPersistentChangedValues)
        let log = NotificationLog(context)
        try context.save()
        #expect(log.entries.contains { $0.name == "didSave:" })
        #expect(!context.hasChanges)
    }

    @Test("3.7 hasChanges of an object is inserted, deleted or updated")
    func hasChanges() throws {
        let inserted = context.make("Ward")
        #expect(inserted.isInserted && inserted.hasChanges)
        let (updated, deleted) = (try stack.saved(), try stack.saved("Bo"))
        #expect(!inserted.hasChanges && !updated.hasChanges)
        updated.setValue(1, forKey: "age")
        context.delete(deleted)
        #expect(updated.isUpdated && updated.hasChanges)
        #expect(deleted.isDeleted && deleted.hasChanges)
    }
}
