// When a save notices another writer, and what it shows of it.

import CoreDataTestSupport
import CoreDataValues
import Foundation
import Testing

@testable import CoreData

@Suite struct DetectionTests {
    @Test("6.1 A row changed behind the coordinator shows what the coordinator knew and what the store has")
    func storeIsNewer() throws {
        let rivals = try Rivals(.otherCoordinator)
        let patient = try rivals.patient()
        let ward = rivals.mine.make("Ward", ["name": "North"])
        patient.set("ward", ward)
        try rivals.mine.save()
        rivals.theirs.refreshAllObjects()
        try rivals.their(patient).set("age", 50)
        try rivals.their(patient).set("ward", nil)
        try rivals.theirs.save()
        patient.set("name", "Bo")
        let conflict = try #require(caught { try rivals.mine.save() }?.persistentStoreSaveConflicts?.first)
        #expect(conflict.sourceObject === patient)
        #expect(conflict.objectSnapshot == nil)
        let cached = try #require(conflict.cachedSnapshot)
        let persisted = try #require(conflict.persistedSnapshot)
        #expect(cached["age"] as? Int == 30 && persisted["age"] as? Int == 50)
        #expect(cached["name"] as? String == "Ada" && persisted["name"] as? String == "Ada")
        #expect(cached["ward"] as? NSManagedObjectID == ward.objectID)
        #expect(persisted["ward"] is NSNull && persisted["fee"] is NSNull)
        #expect(cached["doctors"] == nil && cached["visits"] == nil)
        #expect(Set(cached.keys) == Set(persisted.keys))
        #expect(conflict.newVersionNumber == 3 && conflict.oldVersionNumber == 2)
    }

    @Test("6.1 A later row in the coordinator shows what the context read and what the coordinator knows")
    func coordinatorIsNewer() throws {
        let rivals = try Rivals(.sqlite)
        let patient = try rivals.patient()
        let same = try rivals.their(patient)
        same.set("age", 50)
        try rivals.theirs.save()
        patient.set("name", "Bo")
        let conflict = try #require(caught { try rivals.mine.save() }?.persistentStoreSaveConflicts?.first)
        #expect(conflict.sourceObject === patient)
        let read = try #require(conflict.objectSnapshot)
        let cached = try #require(conflict.cachedSnapshot)
        #expect(read["age"] as? Int == 30 && cached["age"] as? Int == 50)
        #expect(read["name"] as? String == "Ada" && cached["name"] as? String == "Ada")
        #expect(Set(read.keys) == Set(cached.keys) && read["doctors"] == nil)
        #expect(conflict.persistedSnapshot == nil)
        #expect(conflict.newVersionNumber == 2 && conflict.oldVersionNumber == 1)
        let made = NSMergeConflict(
            source: patient, newVersion: 2, oldVersion: 1, cachedSnapshot: ["age": 50], persistedSnapshot: nil)
        #expect(made.objectSnapshot?["age"] as? Int == 30)
    }

    @Test(
        "6.2 Updated and deleted objects are compared; unchanged ones only after detectConflicts",
        arguments: Rivalry.allCases)
    func unchanged(_ rivalry: Rivalry) throws {
        let rivals = try Rivals(rivalry)
        let patient = try rivals.patient()
        try rivals.their(patient).set("age", 50)
        try rivals.theirs.save()
        _ = rivals.mine.make("Ward", ["name": "North"])
        try rivals.mine.save()
        #expect(patient.int("age") == 30)

        rivals.mine.detectConflicts(for: patient)
        let ward = rivals.mine.make("Ward", ["name": "South"])
        let error = try #require(caught { try rivals.mine.save() })
        #expect(error.code.rawValue == 133020)
        #expect(error.persistentStoreSaveConflicts?.map(\.sourceObject) == [patient])
        #expect(ward.isInserted && rivals.mine.hasChanges && !patient.hasChanges)
        #expect(try rivals.reader().all("Ward").count == 1)

        rivals.mine.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        try rivals.mine.save()
        #expect(patient.int("age") == 50)
        #expect(try rivals.reader().all("Ward").count == 2)
        #expect(rivals.mine.checkedObjects.isEmpty)
    }

    @Test("6.2 A deleted object whose row was changed is a conflict", arguments: Rivalry.allCases)
    func deleted(_ rivalry: Rivalry) throws {
        let rivals = try Rivals(rivalry)
        let patient = try rivals.patient()
        try rivals.their(patient).set("age", 50)
        try rivals.theirs.save()
        rivals.mine.delete(patient)
        #expect(caught { try rivals.mine.save() }?.persistentStoreSaveConflicts?.map(\.sourceObject) == [patient])
        #expect(patient.isDeleted && rivals.stored(patient) != nil)
    }

    @Test("detectConflicts under overwrite writes the object as it is here", arguments: Rivalry.allCases)
    func checkedAndOverwritten(_ rivalry: Rivalry) throws {
        let rivals = try Rivals(rivalry)
        rivals.mine.mergePolicy = NSMergePolicy.overwrite
        let patient = try rivals.patient()
        try rivals.their(patient).set("age", 50)
        try rivals.theirs.save()
        rivals.mine.detectConflicts(for: patient)
        _ = rivals.mine.make("Ward", ["name": "South"])
        try rivals.mine.save()
        #expect(rivals.stored(patient)?.int("age") == 30)
    }

    @Test("6.8 A save without changes writes nothing, posts nothing and compares nothing", arguments: Rivalry.allCases)
    func noChanges(_ rivalry: Rivalry) throws {
        let rivals = try Rivals(rivalry)
        let patient = try rivals.patient()
        let version = rivals.stored(patient)?.heldVersion
        try rivals.their(patient).set("age", 50)
        try rivals.theirs.save()
        let log = NotificationLog(rivals.mine)
        rivals.mine.detectConflicts(for: patient)
        try rivals.mine.save()
        #expect(log.entries.isEmpty)
        #expect(rivals.stored(patient)?.heldVersion == version.map { $0 + 1 })
        patient.set("name", "Ada")
        #expect(caught { try rivals.mine.save() } != nil)
        rivals.mine.rollback()
        try rivals.mine.save()
        #expect(patient.int("age") == 30)
    }

    @Test("A context has the error policy until another is set; the globals name the shared ones")
    func policies() throws {
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        #expect(context.mergePolicy as AnyObject === NSErrorMergePolicy)
        context.mergePolicy = NSMergeByPropertyObjectTrumpMergePolicy
        #expect((context.mergePolicy as? NSMergePolicy)?.mergeType == .mergeByPropertyObjectTrumpMergePolicyType)
        let all: [(AnyObject, UInt)] = [
            (NSErrorMergePolicy, 0), (NSMergeByPropertyStoreTrumpMergePolicy, 1),
            (NSMergeByPropertyObjectTrumpMergePolicy, 2), (NSOverwriteMergePolicy, 3), (NSRollbackMergePolicy, 4),
        ]
        for (policy, number) in all { #expect((policy as? NSMergePolicy)?.mergeType.rawValue == number) }
        #expect(NSMergePolicy.overwrite === NSOverwriteMergePolicy)
    }
}
