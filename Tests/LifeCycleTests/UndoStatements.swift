// Statements on undo, redo and rollback (behaviours, section 5).

import CoreData
import CoreDataTestSupport
import Foundation
import Testing

@Suite struct UndoStatements {
    private let stack: Stack
    private let undoManager = UndoManager()
    private var context: NSManagedObjectContext { stack.context }

    init() throws {
        stack = try Stack(undo: false)
        stack.context.undoManager = undoManager
    }

    private func set(_ object: NSManagedObject, _ key: String) -> Set<NSManagedObject> {
        object.value(forKey: key) as? Set<NSManagedObject> ?? []
    }

    @Test("5.1 A context has no undo manager until it is given one")
    func none() {
        #expect(stack.another().undoManager == nil)
        #expect(NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType).undoManager == nil)
    }

    @Test("5.2 One event is one group, registered when pending changes are processed")
    func oneGroup() throws {
        let patient = context.make("Patient", ["name": "Ada"])
        patient.setValue(3, forKey: "age")
        patient.setValue(context.make("Ward"), forKey: "ward")
        #expect(undoManager.undoCount == 1)
        context.processPendingChanges()
        patient.setValue(4, forKey: "age")
        context.processPendingChanges()
        #expect(undoManager.undoCount == 2)
        context.undo()
        #expect(patient.value(forKey: "age") as? Int == 3)
        context.undo()
        #expect(context.insertedObjects.isEmpty && !undoManager.canUndo)
    }

    @Test("5.2 Without groups by event, a change that is pending when a group opens joins it")
    func openedLater() throws {
        let patient = context.make("Patient", ["name": "Ada"])
        try context.save()
        undoManager.removeAllActions()
        undoManager.groupsByEvent = false
        patient.setValue("Bea", forKey: "name")
        undoManager.beginUndoGrouping()
        patient.setValue("Cea", forKey: "name")
        undoManager.beginUndoGrouping()
        patient.setValue("Dea", forKey: "name")
        undoManager.endUndoGrouping()
        undoManager.endUndoGrouping()
        #expect(undoManager.undoCount == 1)
        context.undo()
        #expect(patient.value(forKey: "name") as? String == "Ada")
        context.redo()
        #expect(patient.value(forKey: "name") as? String == "Dea")
    }

    @Test("5.3 Undoing a deletion restores relationships on both ends, with cascades and orders")
    func deletion() throws {
        let patient = context.make("Patient", ["name": "Ada", "ward": context.make("Ward")])
        let doctor = context.make("Doctor")
        let visits = (0..<3).map { context.make("Visit", ["code": $0]) }
        patient.setValue(Set([doctor]), forKey: "doctors")
        patient.setValue(NSOrderedSet(array: visits), forKey: "visits")
        try context.save()
        undoManager.removeAllActions()
        context.delete(patient)
        context.processPendingChanges()
        #expect(context.deletedObjects.count == 4)
        #expect(set(doctor, "patients").isEmpty)
        context.undo()
        #expect(context.deletedObjects.isEmpty)
        #expect(set(doctor, "patients") == [patient] && set(patient, "doctors") == [doctor])
        #expect((patient.value(forKey: "visits") as? NSOrderedSet)?.array as? [NSManagedObject] == visits)
        let ward = try #require(patient.value(forKey: "ward") as? NSManagedObject)
        #expect(set(ward, "patients") == [patient])
        context.redo()
        #expect(context.deletedObjects.count == 4)
    }

    @Test("5.3 Undoing a saved change leaves the context dirty again, and saving writes it")
    func savedChange() throws {
        let patient = context.make("Patient", ["name": "Ada"])
        try context.save()
        patient.setValue("Bo", forKey: "name")
        try context.save()
        #expect(!context.hasChanges)
        context.undo()
        #expect(context.hasChanges && patient.value(forKey: "name") as? String == "Ada")
        try context.save()
        #expect(try stack.another().all("Patient").first?.value(forKey: "name") as? String == "Ada")
        context.redo()
        try context.save()
        #expect(try stack.another().all("Patient").first?.value(forKey: "name") as? String == "Bo")
    }

    @Test("5.4 Rollback restores the values last read, without reading again, and empties the stacks")
    func rollback() throws {
        let patient = context.make("Patient", ["name": "Ada"])
        try context.save()
        let other = stack.another()
        let same = try #require(try other.all("Patient").first)
        same.setValue("Zoe", forKey: "name")
        try other.save()
        patient.setValue("Bo", forKey: "name")
        context.rollback()
        // The other context's value is in the store, not here.
        #expect(patient.value(forKey: "name") as? String == "Ada")
        #expect(!undoManager.canUndo && !undoManager.canRedo && !context.hasChanges)
        context.redo()
        #expect(patient.value(forKey: "name") as? String == "Ada")
    }

    @Test("Objects of dropped undo groups are let go")
    func memory() throws {
        undoManager.levelsOfUndo = 3
        var first: NSManagedObject? = context.make("Patient", ["name": "Ada"])
        try context.save()
        first?.setValue("Bo", forKey: "name")
        try context.save()
        weak let held = first
        first = nil
        #expect(held != nil)
        let kept = context.make("Ward")
        for code in 0..<5 {
            kept.setValue(code, forKey: "code")
            try context.save()
        }
        #expect(held == nil)
    }
}
