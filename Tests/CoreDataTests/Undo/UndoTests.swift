// What a person may undo, redo and name.

import CoreDataTestSupport
import Foundation
import Testing

@testable import CoreData

/// A context together with its undo manager.
@Suite struct UndoTests {
    private let stack: Stack
    private let undoManager = UndoManager()
    private var context: NSManagedObjectContext { stack.context }

    init() throws {
        stack = try Stack(undo: false)
        stack.context.undoManager = undoManager
    }

    private func name(_ object: NSManagedObject) -> String? { object.value(forKey: "name") as? String }

    private func rename(_ object: NSManagedObject, _ names: String...) {
        for name in names {
            object.setValue(name, forKey: "name")
            context.processPendingChanges()
        }
    }

    @Test("levelsOfUndo keeps the latest groups only")
    func levels() {
        let patient = context.make("Patient", ["name": "a"])
        undoManager.levelsOfUndo = 2
        rename(patient, "a", "b", "c", "d")
        for _ in 0..<4 { context.undo() }
        #expect(name(patient) == "b")
        #expect(!undoManager.canUndo)
    }

    @Test("A change can be undone, and named, before pending changes are processed")
    func names() {
        let patient = context.make("Patient", ["name": "a"])
        context.processPendingChanges()
        undoManager.setActionName("Admit")
        patient.setValue("b", forKey: "name")
        #expect(undoManager.canUndo)
        undoManager.setActionName("Rename")
        context.undo()
        #expect(undoManager.redoActionName == "Rename")
        #expect(undoManager.undoActionName == "Admit")
        context.redo()
        #expect(undoManager.undoActionName == "Rename")
        #expect(name(patient) == "b")
    }

    @Test("5.2 Changes made while registration is disabled stay when the others are undone")
    func disabled() {
        let patient = context.make("Patient", ["name": "a"])
        rename(patient, "b")
        undoManager.disableUndoRegistration()
        patient.setValue(7, forKey: "age")
        context.processPendingChanges()
        undoManager.enableUndoRegistration()
        rename(patient, "c")
        context.undo()
        #expect(name(patient) == "b")
        #expect(patient.value(forKey: "age") as? Int == 7)
        #expect(undoManager.undoCount == 1)
    }

    @Test("A group of the program holds several events and is undone as one")
    func groups() throws {
        let patient = context.make("Patient", ["name": "a"])
        try context.save()
        undoManager.removeAllActions()
        undoManager.beginUndoGrouping()
        rename(patient, "b")
        undoManager.beginUndoGrouping()
        let ward = context.make("Ward", ["name": "North"])
        patient.setValue(ward, forKey: "ward")
        undoManager.endUndoGrouping()
        rename(patient, "c")
        undoManager.endUndoGrouping()
        context.undo()
        #expect(name(patient) == "a")
        #expect(patient.value(forKey: "ward") == nil)
        #expect(ward.managedObjectContext == nil)
        #expect(!context.hasChanges)
        context.redo()
        #expect(name(patient) == "c")
        #expect(patient.value(forKey: "ward") as? NSManagedObject === ward)
    }

    @Test("Asking canRedo does not leave the event's group open")
    func asking() {
        let patient = context.make("Patient", ["name": "a"])
        context.processPendingChanges()
        patient.setValue("b", forKey: "name")
        #expect(!undoManager.canRedo)
        context.processPendingChanges()
        #expect(undoManager.groupingLevel == 0)
        rename(patient, "c")
        context.undo()
        #expect(name(patient) == "b")
    }

    @Test("A new change empties the redo stack at once")
    func redoIsDropped() {
        let patient = context.make("Patient", ["name": "a"])
        rename(patient, "b", "c")
        context.undo()
        #expect(undoManager.redoCount == 1)
        patient.setValue("d", forKey: "name")
        #expect(!undoManager.canRedo)
        context.redo()
        #expect(name(patient) == "d")
    }

    @Test("1.2 Redoing an insertion brings the same object back without awakeFromInsert")
    func sameObject() throws {
        let stack = try Stack(model: Watched.model())
        let patient = try #require(stack.context.make("Patient", ["name": "a"]) as? Watched)
        stack.context.processPendingChanges()
        stack.context.undo()
        #expect(patient.managedObjectContext == nil)
        stack.context.redo()
        #expect(stack.context.insertedObjects == [patient])
        #expect(patient.calls.filter { $0 == "awakeFromInsert" }.count == 1)
    }

    @Test("5.1 Without an undo manager undo does nothing and rollback works")
    func without() throws {
        let stack = try Stack(undo: false)
        let patient = stack.context.make("Patient", ["name": "a"])
        try stack.context.save()
        patient.setValue("b", forKey: "name")
        stack.context.undo()
        #expect(name(patient) == "b")
        stack.context.rollback()
        #expect(name(patient) == "a")
        #expect(!stack.context.hasChanges)
    }

    @Test("5.4 Rollback and reset leave nothing to undo or redo")
    func emptied() throws {
        let patient = context.make("Patient", ["name": "a"])
        try context.save()
        rename(patient, "b")
        patient.setValue("c", forKey: "name")
        context.rollback()
        #expect(!undoManager.canUndo)
        #expect(!undoManager.canRedo)
        #expect(name(patient) == "a")
        patient.setValue("d", forKey: "name")
        context.reset()
        #expect(!undoManager.canUndo)
        #expect(undoManager.groupingLevel == 0)
    }
}
