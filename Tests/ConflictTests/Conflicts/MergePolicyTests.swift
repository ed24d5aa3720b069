// What each merge policy makes of a row that two writers changed.

import CoreDataTestSupport
import CoreDataValues
import Foundation
import Testing

@testable import CoreData

/// The table of policies: a row updated by both, and a row that the other one deleted.
@Suite struct MergePolicyTests {
    /// Here: name and age changed. There: age and code. Nobody: weight.
    private func conflict(_ rivalry: Rivalry, _ policy: NSMergePolicy) throws -> (Rivals, NSManagedObject) {
        let rivals = try Rivals(rivalry)
        rivals.mine.mergePolicy = policy
        let patient = try rivals.patient()
        let same = try rivals.their(patient)
        same.set("age", 50)
        same.set("code", 2)
        try rivals.theirs.save()
        patient.set("name", "Bo")
        patient.set("age", 40)
        return (rivals, patient)
    }

    private func deletion(_ rivalry: Rivalry, _ policy: NSMergePolicy) throws -> (Rivals, NSManagedObject) {
        let rivals = try Rivals(rivalry)
        rivals.mine.mergePolicy = policy
        let patient = try rivals.patient()
        rivals.theirs.delete(try rivals.their(patient))
        try rivals.theirs.save()
        patient.set("name", "Bo")
        return (rivals, patient)
    }

    private func expect(
        _ rivals: Rivals, _ patient: NSManagedObject, name: String, age: Int, code: Int,
        _ place: Testing.SourceLocation = #_sourceLocation
    ) throws {
        let stored = try #require(rivals.stored(patient), sourceLocation: place)
        for object in [patient, stored] {
            #expect(object.text("name") == name, sourceLocation: place)
            #expect(object.int("age") == age, sourceLocation: place)
            #expect(object.int("code") == code, sourceLocation: place)
            #expect(object.value(forKey: "weight") as? Double == 1.5, sourceLocation: place)
        }
        #expect(!rivals.mine.hasChanges && !patient.hasChanges, sourceLocation: place)
        #expect(patient.heldVersion == stored.heldVersion, sourceLocation: place)
        // The object stands on the present row: the next change meets no conflict.
        rivals.mine.mergePolicy = NSMergePolicy.error
        patient.set("age", 99)
        try rivals.mine.save()
    }

    @Test("6.3 error, row updated by both: 133020 with the conflict, nothing is written", arguments: Rivalry.allCases)
    func errorUpdated(_ rivalry: Rivalry) throws {
        let (rivals, patient) = try conflict(rivalry, .error)
        let error = try #require(caught { try rivals.mine.save() })
        #expect(error.code.rawValue == 133020)
        let conflicts = try #require(error.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSMergeConflict])
        #expect(conflicts.map(\.sourceObject) == [patient])
        #expect(conflicts.map(\.newVersionNumber) == [2])
        #expect(conflicts.map(\.oldVersionNumber) == [1])
        #expect(error.persistentStoreSaveConflicts == conflicts)
        let stored = try #require(rivals.stored(patient))
        #expect(stored.text("name") == "Ada" && stored.int("age") == 50 && stored.int("code") == 2)
        #expect(patient.text("name") == "Bo" && patient.int("age") == 40 && patient.int("code") == 1)
        #expect(patient.isUpdated)
    }

    @Test("6.3 store trump, row updated by both: the store wins what both changed", arguments: Rivalry.allCases)
    func storeTrumpUpdated(_ rivalry: Rivalry) throws {
        let (rivals, patient) = try conflict(rivalry, .mergeByPropertyStoreTrump)
        try rivals.mine.save()
        try expect(rivals, patient, name: "Bo", age: 50, code: 2)
    }

    @Test("6.3 object trump, row updated by both: memory wins what it changed", arguments: Rivalry.allCases)
    func objectTrumpUpdated(_ rivalry: Rivalry) throws {
        let (rivals, patient) = try conflict(rivalry, .mergeByPropertyObjectTrump)
        try rivals.mine.save()
        try expect(rivals, patient, name: "Bo", age: 40, code: 2)
    }

    @Test(
        "6.3 overwrite, row updated by both: the whole object is written, stale values too", arguments: Rivalry.allCases
    )
    func overwriteUpdated(_ rivalry: Rivalry) throws {
        let (rivals, patient) = try conflict(rivalry, .overwrite)
        try rivals.mine.save()
        try expect(rivals, patient, name: "Bo", age: 40, code: 1)
    }

    @Test("6.3 rollback, row updated by both: the object's changes are dropped", arguments: Rivalry.allCases)
    func rollbackUpdated(_ rivalry: Rivalry) throws {
        let (rivals, patient) = try conflict(rivalry, .rollback)
        let bystander = rivals.mine.make("Ward", ["name": "North"])
        try rivals.mine.save()
        #expect(rivals.stored(bystander)?.text("name") == "North")
        try expect(rivals, patient, name: "Ada", age: 50, code: 2)
    }

    @Test("6.3 error, row deleted meanwhile: 133020 with version 0, nothing is written", arguments: Rivalry.allCases)
    func errorDeleted(_ rivalry: Rivalry) throws {
        let (rivals, patient) = try deletion(rivalry, .error)
        let error = try #require(caught { try rivals.mine.save() })
        #expect(error.code.rawValue == 133020)
        let conflict = try #require(error.persistentStoreSaveConflicts?.first)
        #expect(conflict.newVersionNumber == 0)
        #expect(conflict.persistedSnapshot == nil)
        #expect(rivals.stored(patient) == nil)
        #expect(patient.text("name") == "Bo" && patient.isUpdated)
    }

    @Test("6.3 store trump, row deleted meanwhile: the object leaves the context", arguments: Rivalry.allCases)
    func storeTrumpDeleted(_ rivalry: Rivalry) throws {
        let (rivals, patient) = try deletion(rivalry, .mergeByPropertyStoreTrump)
        try expectGone(rivals, patient)
    }

    @Test("6.3 rollback, row deleted meanwhile: the object is dropped", arguments: Rivalry.allCases)
    func rollbackDeleted(_ rivalry: Rivalry) throws {
        let (rivals, patient) = try deletion(rivalry, .rollback)
        try expectGone(rivals, patient)
    }

    private func expectGone(_ rivals: Rivals, _ patient: NSManagedObject) throws {
        let ward = rivals.mine.make("Ward", ["name": "North"])
        patient.set("ward", ward)
        let log = NotificationLog(rivals.mine)
        try rivals.mine.save()
        #expect(rivals.stored(patient) == nil)
        #expect(patient.managedObjectContext == nil)
        #expect(!rivals.mine.hasChanges)
        #expect(ward.many("patients").isEmpty)
        #expect(try #require(rivals.stored(ward)).many("patients").isEmpty)
        let told = log.entries.indices.filter { log.objects($0, NSDeletedObjectsKey).contains(patient) }
        #expect(told.map { log.entries[$0].name } == ["didChange", "didSave:"])
        #expect(try rivals.mine.all("Patient").isEmpty)
    }

    @Test(
        "6.3 object trump, row deleted meanwhile: the object is written again with all its values",
        arguments: Rivalry.allCases)
    func objectTrumpDeleted(_ rivalry: Rivalry) throws {
        let (rivals, patient) = try deletion(rivalry, .mergeByPropertyObjectTrump)
        let id = patient.objectID
        try rivals.mine.save()
        #expect(patient.objectID == id)
        try expect(rivals, patient, name: "Bo", age: 30, code: 1)
    }

    @Test(
        "6.3 overwrite, row deleted meanwhile: the object is written again with all its values",
        arguments: Rivalry.allCases)
    func overwriteDeleted(_ rivalry: Rivalry) throws {
        let (rivals, patient) = try deletion(rivalry, .overwrite)
        try rivals.mine.save()
        try expect(rivals, patient, name: "Bo", age: 30, code: 1)
    }

    // MARK: Deleted here

    @Test(
        "6.3 deleted here, updated there: the trumping object stays deleted, else the store's row comes back",
        arguments: [
            NSMergePolicyType.mergeByPropertyStoreTrumpMergePolicyType, .mergeByPropertyObjectTrumpMergePolicyType,
            .overwriteMergePolicyType, .rollbackMergePolicyType,
        ], Rivalry.allCases)
    func deletedHere(_ type: NSMergePolicyType, _ rivalry: Rivalry) throws {
        let rivals = try Rivals(rivalry, policy: type)
        let patient = try rivals.patient()
        let ward = rivals.mine.make("Ward", ["name": "North"])
        patient.set("ward", ward)
        let visit = rivals.mine.make("Visit", ["note": "first", "patient": patient])
        let doctor = rivals.mine.make("Doctor", ["name": "Zed"])
        patient.set("doctors", NSSet(array: [doctor]))
        try rivals.mine.save()
        rivals.theirs.refreshAllObjects()
        try rivals.their(patient).set("age", 50)
        try rivals.theirs.save()
        rivals.mine.delete(patient)
        try rivals.mine.save()
        let survives = type == .mergeByPropertyStoreTrumpMergePolicyType || type == .rollbackMergePolicyType
        let stored = rivals.stored(patient)
        #expect((stored != nil) == survives)
        #expect((rivals.stored(visit) != nil) == survives)
        #expect(!rivals.mine.hasChanges)
        guard let stored else {
            #expect(ward.many("patients").isEmpty && doctor.many("patients").isEmpty)
            return
        }
        #expect(stored.int("age") == 50 && patient.int("age") == 50)
        #expect(stored.one("ward")?.text("name") == "North" && patient.one("ward") === ward)
        #expect(stored.ordered("visits").map { $0.text("note") } == ["first"])
        #expect(patient.ordered("visits") == [visit] && visit.one("patient") === patient)
        #expect(stored.names("doctors") == ["Zed"] && patient.many("doctors") == [doctor])
        #expect(ward.many("patients") == [patient] && doctor.many("patients") == [patient])
    }

    @Test("Deleted on both sides: every policy but error lets the save pass", arguments: Rivalry.allCases)
    func deletedTwice(_ rivalry: Rivalry) throws {
        for policy in [
            NSMergePolicy.error, .mergeByPropertyStoreTrump, .mergeByPropertyObjectTrump, .overwrite, .rollback,
        ] {
            let rivals = try Rivals(rivalry)
            rivals.mine.mergePolicy = policy
            let patient = try rivals.patient()
            rivals.theirs.delete(try rivals.their(patient))
            try rivals.theirs.save()
            rivals.mine.delete(patient)
            let error = caught { try rivals.mine.save() }
            #expect(error?.code.rawValue == (policy === NSMergePolicy.error ? 133020 : nil))
            #expect(rivals.mine.hasChanges == (policy === NSMergePolicy.error))
        }
    }
}
