// Merge policies of programs.

import CoreDataTestSupport
import CoreDataValues
import Foundation
import Testing

@testable import CoreData

/// Takes the greater age, leaves the rest to its type.
private final class GreaterAge: NSMergePolicy {
    var calls: [String] = []

    override func resolve(mergeConflicts list: [Any]) throws {
        calls.append("merge \(list.count)")
        let ages = list.compactMap { $0 as? NSMergeConflict }.map { conflict in
            (
                conflict.sourceObject, conflict.sourceObject.int("age") ?? 0,
                conflict.persistedSnapshot?["age"] as? Int ?? 0
            )
        }
        try super.resolve(mergeConflicts: list)
        for (object, mine, theirs) in ages { object.set("age", max(mine, theirs)) }
    }

    override func resolve(constraintConflicts list: [NSConstraintConflict]) throws {
        calls.append("constraint \(list.count)")
        try super.resolve(constraintConflicts: list)
    }
}

/// Does what a closure says.
private final class Scripted: NSMergePolicy {
    var script: ([NSMergeConflict]) throws -> Void = { _ in }
    var rounds = 0
    override func resolve(optimisticLockingConflicts list: [NSMergeConflict]) throws {
        rounds += 1
        try script(list)
    }
}

/// Notes why it was reset.
final class Resettable: NSManagedObject {
    var resets: [UInt] = []
    override func awake(fromSnapshotEvents flags: NSSnapshotEventType) {
        super.awake(fromSnapshotEvents: flags)
        resets.append(flags.rawValue)
        setValue(true, forKey: "awake")
    }
}

@Suite struct CustomPolicyTests {
    private struct Refused: Error {}

    @Test("A policy of the program settles one property, its type the others", arguments: [Rivalry.otherCoordinator])
    func subclass(_ rivalry: Rivalry) throws {
        for (mine, theirs) in [(40, 50), (60, 50)] {
            let rivals = try Rivals(rivalry)
            let policy = GreaterAge(merge: .mergeByPropertyStoreTrumpMergePolicyType)
            rivals.mine.mergePolicy = policy
            let patient = try rivals.patient()
            try rivals.their(patient).set("age", theirs)
            try rivals.their(patient).set("name", "Eve")
            try rivals.theirs.save()
            patient.set("age", mine)
            patient.set("name", "Bo")
            try rivals.mine.save()
            #expect(policy.calls == ["merge 1"])
            #expect(rivals.stored(patient)?.int("age") == max(mine, theirs))
            #expect(rivals.stored(patient)?.text("name") == "Eve")
            #expect(!rivals.mine.hasChanges)
        }
    }

    @Test("A policy that throws fails the save with its error, and takes nothing along", arguments: Rivalry.allCases)
    func throwing(_ rivalry: Rivalry) throws {
        let rivals = try Rivals(rivalry)
        let policy = Scripted(merge: .overwriteMergePolicyType)
        rivals.mine.mergePolicy = policy
        let patient = try rivals.patient()
        let ward = rivals.mine.make("Ward", ["name": "North"])
        try rivals.mine.save()
        rivals.theirs.refreshAllObjects()
        try rivals.their(patient).set("age", 50)
        try rivals.theirs.save()
        patient.set("name", "Bo")
        policy.script = { list in
            for conflict in list { conflict.sourceObject.set("name", "Wrong") }
            ward.set("name", "Wrong")
            patient.set("ward", ward)
            _ = rivals.mine.make("Bed")
            throw Refused()
        }
        #expect(throws: Refused.self) { try rivals.mine.save() }
        #expect(patient.text("name") == "Bo" && patient.one("ward") == nil && patient.isUpdated)
        #expect(ward.text("name") == "North" && ward.many("patients").isEmpty && !ward.hasChanges)
        #expect(rivals.mine.insertedObjects.isEmpty && rivals.mine.updatedObjects == [patient])
        policy.script = { list in
            for conflict in list { rivals.mine.refresh(conflict.sourceObject, mergeChanges: true) }
        }
        try rivals.mine.save()
        let stored = try #require(rivals.stored(patient))
        #expect(stored.text("name") == "Bo" && stored.int("age") == 50)
        #expect(try rivals.reader().all("Bed").isEmpty)
    }

    @Test(
        "A policy that settles nothing fails the save with 133020 after one more attempt", arguments: Rivalry.allCases)
    func idle(_ rivalry: Rivalry) throws {
        let rivals = try Rivals(rivalry)
        let policy = Scripted(merge: .overwriteMergePolicyType)
        rivals.mine.mergePolicy = policy
        let patient = try rivals.patient()
        try rivals.their(patient).set("age", 50)
        try rivals.theirs.save()
        patient.set("name", "Bo")
        #expect(caught { try rivals.mine.save() }?.code.rawValue == 133020)
        #expect(policy.rounds == 1)
        #expect(patient.text("name") == "Bo" && patient.isUpdated)
    }

    @Test(
        "A writer that comes first again and again is met again and again",
        arguments: [Rivalry.sqlite, .otherCoordinator])
    func persistent(_ rivalry: Rivalry) throws {
        let rivals = try Rivals(rivalry)
        let policy = Scripted(merge: .mergeByPropertyObjectTrumpMergePolicyType)
        rivals.mine.mergePolicy = policy
        let patient = try rivals.patient()
        func write(_ age: Int) throws {
            rivals.theirs.refresh(try rivals.their(patient), mergeChanges: false)
            try rivals.their(patient).set("age", age)
            try rivals.theirs.save()
        }
        try write(50)
        patient.set("name", "Bo")
        policy.script = { list in
            try NSMergePolicy.mergeByPropertyObjectTrump.resolve(mergeConflicts: list)
            if policy.rounds < 5 { try write(50 + policy.rounds) }
        }
        try rivals.mine.save()
        #expect(policy.rounds == 5)
        let stored = try #require(rivals.stored(patient))
        #expect(stored.text("name") == "Bo" && stored.int("age") == 54)
    }

    @Test("awake(fromSnapshotEvents:) tells that a merge policy reset the values; what it sets is no change")
    func snapshotEvents() throws {
        var draft = Clinic.draft()
        draft.entities[0].className = "ConflictTests.Resettable"
        let rivals = try Rivals(.sqlite, draft: draft)
        rivals.mine.mergePolicy = NSMergePolicy.rollback
        let patient = try #require(try rivals.patient() as? Resettable)
        try rivals.their(patient).set("age", 50)
        try rivals.theirs.save()
        patient.set("name", "Bo")
        try rivals.mine.save()
        #expect(patient.resets == [NSSnapshotEventType.mergePolicy.rawValue])
        #expect(NSSnapshotEventType.mergePolicy.rawValue == 64)
        #expect(patient.text("name") == "Ada" && !patient.hasChanges)
    }

    @Test("Observers hear of settled objects once the save is through, and of nothing when it fails")
    func notifications() throws {
        let rivals = try Rivals(.sqlite)
        rivals.mine.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        let patient = try rivals.patient()
        try rivals.their(patient).set("age", 50)
        try rivals.theirs.save()
        patient.set("name", "Bo")
        rivals.mine.processPendingChanges()
        let log = NotificationLog(rivals.mine)
        try rivals.mine.save()
        #expect(log.entries.map(\.name) == ["willSave:", "didChange", "didSave:"])
        #expect(log.objects(1, NSRefreshedObjectsKey) == [patient])
        #expect(log.objects(2, NSUpdatedObjectsKey) == [patient])
    }
}
