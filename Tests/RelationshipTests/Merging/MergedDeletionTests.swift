// Deletions that are pending while another writer's changes of the same rows are merged.

import CoreDataTestSupport
import Foundation
import Testing

@testable import CoreData

@Suite struct MergedDeletionTests {
    private static let types = [NSInMemoryStoreType, NSSQLiteStoreType]

    /// A patient in a ward and a bed, with a doctor and a visit, and another of each to go to.
    private final class Scene {
        let stack: Stack
        let patient, visit: NSManagedObject
        let wards, beds, doctors: [NSManagedObject]
        var context: NSManagedObjectContext { stack.context }

        init(_ type: String) throws {
            stack = try Stack(type)
            let context = stack.context
            patient = context.make("Patient", ["name": "Ada"])
            visit = context.make("Visit", ["note": "first", "patient": patient])
            wards = (0..<3).map { _ in context.make("Ward") }
            beds = (0..<2).map { _ in context.make("Bed") }
            doctors = (0..<2).map { _ in context.make("Doctor") }
            patient.setValue(wards[0], forKey: "ward")
            patient.setValue(beds[0], forKey: "bed")
            patient.setValue(NSSet(object: doctors[0]), forKey: "doctors")
            try context.save()
            context.undoManager?.removeAllActions()
        }

        /// The other writer gives the patient everything else.
        func change() throws {
            try stack.merge { other in
                let patient = other.object(with: self.patient.objectID)
                patient.setValue("Bea", forKey: "name")
                patient.setValue(other.object(with: wards[1].objectID), forKey: "ward")
                patient.setValue(other.object(with: beds[1].objectID), forKey: "bed")
                patient.setValue(NSSet(object: other.object(with: doctors[1].objectID)), forKey: "doctors")
                other.object(with: visit.objectID).setValue("changed", forKey: "note")
                _ = other.make("Visit", ["note": "second", "patient": patient])
            }
        }

        /// What the other writer has made is there, on both sides.
        func check(_ context: NSManagedObjectContext) throws {
            func here(_ object: NSManagedObject) -> NSManagedObject { context.object(with: object.objectID) }
            let patient = here(self.patient)
            #expect(patient.value(forKey: "name") as? String == "Bea")
            #expect(patient.one("ward") === here(wards[1]))
            #expect(patient.one("bed") === here(beds[1]))
            #expect(patient.many("doctors") == [here(doctors[1])])
            #expect(patient.many("visits").map { $0.value(forKey: "note") as? String } == ["changed", "second"])
            #expect(patient.many("visits").allSatisfy { $0.one("patient") === patient })
            #expect(wards.map { here($0).many("patients") } == [[], [patient], []])
            #expect(beds.map { here($0).one("patient") } == [nil, patient])
            #expect(doctors.map { here($0).many("patients") } == [[], [patient]])
        }

        /// Nothing is left of the patient.
        func checkDeletion(_ context: NSManagedObjectContext) throws {
            #expect(try context.all("Patient").isEmpty && context.all("Visit").isEmpty)
            for other in wards + doctors {
                #expect(context.object(with: other.objectID).objectIDs(forRelationshipNamed: "patients").isEmpty)
            }
            for bed in beds { #expect(context.object(with: bed.objectID).one("patient") == nil) }
        }
    }

    @Test(
        "10.4 A pending deletion deletes what another writer has saved, once that is merged", arguments: types,
        [true, false])
    func saved(_ type: String, _ isProcessed: Bool) throws {
        let scene = try Scene(type)
        scene.context.delete(scene.patient)
        if isProcessed { scene.context.processPendingChanges() }
        try scene.change()
        try scene.checkDeletion(scene.context)
        try scene.context.save()
        try scene.checkDeletion(scene.stack.another())
        #expect(!scene.context.hasChanges)
    }

    @Test("10.4 So does one whose delete rules wait for the save", arguments: types)
    func waiting(_ type: String) throws {
        let scene = try Scene(type)
        scene.context.propagatesDeletesAtEndOfEvent = false
        scene.context.delete(scene.patient)
        try scene.change()
        try scene.context.save()
        try scene.checkDeletion(scene.stack.another())
    }

    @Test("10.5 Again and again, by itself, with objects that a rule deletes", arguments: types)
    func automatic(_ type: String) throws {
        let scene = try Scene(type)
        let context = scene.context
        context.automaticallyMergesChangesFromParent = true
        context.delete(scene.patient)
        context.processPendingChanges()
        for note in ["one", "two"] {
            _ = try scene.stack.elsewhere { $0.object(with: scene.visit.objectID).setValue(note, forKey: "note") }
            context.performAndWait {}
        }
        try context.save()
        try scene.checkDeletion(scene.stack.another())
    }

    @Test(
        "10.4 An undo of the deletion shows what was merged, and nothing is left to save", arguments: types,
        [true, false])
    func undone(_ type: String, _ saves: Bool) throws {
        let scene = try Scene(type)
        let context = scene.context
        context.delete(scene.patient)
        context.processPendingChanges()
        try scene.change()
        if saves { try context.save() }
        context.undo()
        try scene.check(context)
        #expect(context.hasChanges == saves)
        try context.save()
        try scene.check(scene.stack.another())
        context.redo()
        try scene.checkDeletion(context)
        try context.save()
        try scene.checkDeletion(scene.stack.another())
    }

    @Test("10.4 A merge below a pending deletion ends no redo and is no step of its own", arguments: types)
    func stacks(_ type: String) throws {
        let scene = try Scene(type)
        let context = scene.context
        context.delete(scene.patient)
        context.processPendingChanges()
        scene.wards[2].setValue("renamed", forKey: "name")
        context.processPendingChanges()
        context.undo()
        try scene.change()
        #expect(context.undoManager?.canRedo == true)
        context.redo()
        #expect(scene.wards[2].value(forKey: "name") as? String == "renamed")
        context.undo()
        context.undo()
        try scene.check(context)
        #expect(context.undoManager?.canUndo == false)
    }

    @Test(
        "10.4 Where both writers moved an object, both sides say what is pending here; then nothing is where both did the same",
        arguments: types)
    func movedByBoth(_ type: String) throws {
        let scene = try Scene(type)
        let (context, patient) = (scene.context, scene.patient)
        patient.setValue(scene.wards[2], forKey: "ward")
        patient.setValue(nil, forKey: "bed")
        context.processPendingChanges()
        try scene.change()
        #expect(patient.one("ward") === scene.wards[2])
        #expect(scene.wards.map { $0.many("patients") } == [[], [], [patient]])
        #expect(patient.one("bed") == nil)
        #expect(scene.beds.map { $0.one("patient") } == [nil, nil])
        try context.save()
        let reader = scene.stack.another()
        #expect(reader.object(with: scene.wards[1].objectID).many("patients").isEmpty)
        #expect(reader.object(with: scene.beds[1].objectID).one("patient") == nil)
        #expect(reader.object(with: patient.objectID).one("ward")?.objectID == scene.wards[2].objectID)
        patient.setValue("Cleo", forKey: "name")
        try scene.stack.merge { $0.object(with: patient.objectID).setValue("Cleo", forKey: "name") }
        #expect(!context.hasChanges)
    }

    @Test("10.4 A change made before the deletion stays on top of what was merged", arguments: types)
    func changedBefore(_ type: String) throws {
        let scene = try Scene(type)
        let context = scene.context
        scene.patient.setValue(scene.wards[2], forKey: "ward")
        context.processPendingChanges()
        context.delete(scene.patient)
        context.processPendingChanges()
        try scene.change()
        context.undo()
        #expect(scene.patient.one("ward") === scene.wards[2])
        #expect(scene.wards.map { $0.many("patients") } == [[], [], [scene.patient]])
        try context.save()
        let reader = scene.stack.another()
        #expect(reader.object(with: scene.patient.objectID).one("ward")?.objectID == scene.wards[2].objectID)
    }
}
