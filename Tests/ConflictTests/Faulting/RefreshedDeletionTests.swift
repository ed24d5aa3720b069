// Refreshes that meet a row which another writer has deleted: no step of the program's, so nothing to undo.

import CoreDataTestSupport
import CoreDataValues
import Foundation
import Testing

@testable import CoreData

@Suite struct RefreshedDeletionTests {
    /// What is pending when the row is found to be gone.
    enum Change: String, CaseIterable {
        case nothing, value, target, noTarget, oneToOne, pair, noPair, member, newMember
    }

    enum Refresh: String, CaseIterable { case all, merging, dropping, fetching }

    /// Whose row the other writer deletes.
    private static let deleted = ["Patient", "Ward", "Doctor", "Visit", "Bed"]

    private func fill(_ context: NSManagedObjectContext) throws -> [String: NSManagedObject] {
        var objects: [String: NSManagedObject] = [:]
        for number in 1...2 {
            objects["Ward\(number)"] = context.make("Ward", ["name": "\(number)"])
            objects["Doctor\(number)"] = context.make("Doctor", ["name": "\(number)"])
            objects["Visit\(number)"] = context.make("Visit", ["note": "\(number)"])
            objects["Bed\(number)"] = context.make("Bed", ["number": number])
        }
        let patient = context.make("Patient", ["name": "Ada", "age": 1])
        objects["Patient1"] = patient
        patient.setValue(objects["Ward1"], forKey: "ward")
        patient.setValue(objects["Bed1"], forKey: "bed")
        objects["Visit1"]?.setValue(patient, forKey: "patient")
        if let doctor = objects["Doctor1"] { patient.mutableSetValue(forKey: "doctors").add(doctor) }
        try context.save()
        return objects
    }

    private func write(_ change: Change, _ objects: [String: NSManagedObject]) throws {
        let patient = try #require(objects["Patient1"])
        let doctors = patient.mutableSetValue(forKey: "doctors"),
            visits = patient.mutableOrderedSetValue(forKey: "visits")
        switch change {
        case .nothing: break
        case .value:
            for object in objects.values { object.setValue(7, forKey: object.entity.name == "Ward" ? "beds" : "code") }
        case .target: patient.setValue(objects["Ward2"], forKey: "ward")
        case .noTarget: patient.setValue(nil, forKey: "ward")
        case .oneToOne: patient.setValue(objects["Bed2"], forKey: "bed")
        case .pair: if let doctor = objects["Doctor2"] { doctors.add(doctor) }
        case .noPair: if let doctor = objects["Doctor1"] { doctors.remove(doctor) }
        case .member: if let visit = objects["Visit2"] { visits.insert(visit, at: 0) }
        case .newMember: patient.managedObjectContext?.make("Visit", ["note": "3"]).setValue(patient, forKey: "patient")
        }
    }

    @Test(
        "5.6 A refresh that meets a row deleted elsewhere registers nothing to undo",
        arguments: Change.allCases, Refresh.allCases)
    func undo(_ change: Change, _ refresh: Refresh) throws {
        for name in RefreshedDeletionTests.deleted {
            for number in name == "Patient" ? [1] : [1, 2] { try undo(change, refresh, name, number) }
        }
    }

    private func undo(_ change: Change, _ refresh: Refresh, _ name: String, _ number: Int) throws {
        let rivals = try Rivals(.memory)
        let context = rivals.mine
        let objects = try fill(context)
        let manager = UndoManager()
        manager.groupsByEvent = false
        context.undoManager = manager
        manager.beginUndoGrouping()
        try write(change, objects)
        context.processPendingChanges()
        manager.endUndoGrouping()
        manager.removeAllActions()
        let gone = try #require(objects["\(name)\(number)"])
        rivals.theirs.delete(rivals.theirs.object(with: gone.objectID))
        try rivals.theirs.save()
        switch refresh {
        case .all: context.refreshAllObjects()
        case .merging:
            for object in objects.values where !object.isInserted { context.refresh(object, mergeChanges: true) }
        case .dropping: for object in objects.values { context.refresh(object, mergeChanges: false) }
        case .fetching: break
        }
        for entity in RefreshedDeletionTests.deleted {
            let request = NSFetchRequest<NSManagedObject>(entityName: entity)
            request.shouldRefreshRefetchedObjects = refresh == .fetching
            for object in try context.fetch(request) { _ = object.value(forKey: "code") }
        }
        for object in objects.values where !object.isDeleted { _ = object.value(forKey: "code") }
        context.processPendingChanges()
        #expect(!manager.canUndo && !manager.canRedo, "\(name)\(number)")
    }
}
