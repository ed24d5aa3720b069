// Rows that another writer deleted and a save writes again: what they are related to comes again with them.

import CoreDataTestSupport
import CoreDataValues
import Foundation
import Testing

@testable import CoreData

@Suite struct ReinsertionTests {
    private static let trumping: [NSMergePolicyType] = [
        .mergeByPropertyObjectTrumpMergePolicyType, .overwriteMergePolicyType,
    ]

    @Test(
        "6.3 A row written again keeps its ordered pairs with an object that is changed in the same save",
        arguments: trumping, Rivalry.allCases)
    func orderedPairs(_ type: NSMergePolicyType, _ rivalry: Rivalry) throws {
        for readsBack in [false, true] {
            let rivals = try Rivals(rivalry, draft: Clinic.orderedDraft(), policy: type)
            // Members only leave: the row would not be missed.
            rivals.mine.comparesRelationshipOwners = true
            let doctors = ["u", "v", "w"].map { rivals.mine.make("Doctor", ["name": $0]) }
            let patient = rivals.mine.make("Patient", ["name": "a", "doctors": NSOrderedSet(array: doctors)])
            try rivals.mine.save()
            if readsBack { for doctor in doctors { _ = doctor.ordered("patients") } }
            rivals.theirs.delete(try rivals.their(patient))
            try rivals.theirs.save()
            patient.mutableOrderedSetValue(forKey: "doctors").remove(doctors[0])
            doctors[1].set("code", 3)
            try rivals.mine.save()
            let stored = try #require(rivals.stored(patient))
            #expect(stored.ordered("doctors").map { $0.text("name") } == ["v", "w"])
            #expect(patient.ordered("doctors") == [doctors[1], doctors[2]])
            #expect(doctors.map { $0.ordered("patients").count } == [0, 1, 1])
            #expect(doctors.map { rivals.stored($0)?.ordered("patients").count } == [0, 1, 1])
            #expect(rivals.stored(doctors[1])?.int("code") == 3 && !rivals.mine.hasChanges)
        }
    }

    @Test(
        "6.3 Two rows that were deleted together and are written again together stay a pair", arguments: trumping,
        Rivalry.allCases)
    func together(_ type: NSMergePolicyType, _ rivalry: Rivalry) throws {
        let rivals = try Rivals(rivalry, policy: type)
        let ward = rivals.mine.make("Ward", ["name": "North"])
        let doctor = rivals.mine.make("Doctor", ["name": "u"])
        let bed = rivals.mine.make("Bed", ["number": 1])
        let patient = rivals.mine.make(
            "Patient", ["name": "a", "ward": ward, "bed": bed, "doctors": NSSet(array: [doctor])])
        try rivals.mine.save()
        let all = [ward, doctor, bed, patient]
        _ = patient.many("doctors")
        for object in all { rivals.theirs.delete(try rivals.their(object)) }
        try rivals.theirs.save()
        for (number, object) in all.enumerated() { object.set("code", number) }
        try rivals.mine.save()
        for object in [patient, try #require(rivals.stored(patient))] {
            #expect(object.one("ward")?.text("name") == "North" && object.one("bed")?.int("number") == 1)
            #expect(object.names("doctors") == ["u"])
        }
        #expect(
            ward.many("patients") == [patient] && doctor.many("patients") == [patient] && bed.one("patient") === patient
        )
        #expect(all.map { rivals.stored($0)?.int("code") } == [0, 1, 2, 3])
        #expect(rivals.stored(bed)?.one("patient")?.text("name") == "a" && !rivals.mine.hasChanges)
    }

    @Test(
        "6.3 A member written again stands in its owner's order, in memory as in the store", arguments: trumping,
        Rivalry.allCases)
    func orderedMember(_ type: NSMergePolicyType, _ rivalry: Rivalry) throws {
        for isReordered in [false, true] {
            let rivals = try Rivals(rivalry, policy: type)
            let visits = (1...3).map { rivals.mine.make("Visit", ["code": $0]) }
            let patient = rivals.mine.make("Patient", ["name": "a", "visits": NSOrderedSet(array: visits)])
            try rivals.mine.save()
            rivals.theirs.delete(try rivals.their(visits[1]))
            try rivals.theirs.save()
            visits[1].set("note", "again")
            if isReordered { patient.set("visits", NSOrderedSet(array: visits.reversed())) }
            try rivals.mine.save()
            let expected = isReordered ? [3, 2, 1] : [1, 2, 3]
            #expect(patient.ordered("visits").map { $0.int("code") } == expected)
            #expect(rivals.stored(patient)?.ordered("visits").map { $0.int("code") } == expected)
            #expect(visits.allSatisfy { $0.one("patient") === patient } && !rivals.mine.hasChanges)
        }
    }

    // MARK: Twice at once

    /// Settles as its type says, and lets another writer come first, once.
    private final class Overtaken: NSMergePolicy {
        var other: () throws -> Void = {}
        private(set) var found: [[NSMergeConflict]] = []
        /// Whether the second conflict is one too many.
        var givesUp = false

        override func resolve(optimisticLockingConflicts list: [NSMergeConflict]) throws {
            found.append(list)
            if givesUp, found.count > 1 { return try NSMergePolicy.error.resolve(optimisticLockingConflicts: list) }
            try super.resolve(optimisticLockingConflicts: list)
            if found.count == 1 { try other() }
        }
    }

    /// A patient deleted in the store and changed by two contexts, each of which writes it again.
    private func overtaken(_ rivals: Rivals, _ type: NSMergePolicyType) throws -> (NSManagedObject, Overtaken) {
        let ward = rivals.mine.make("Ward", ["name": "North"])
        let doctor = rivals.mine.make("Doctor", ["name": "u"])
        let patient = try rivals.patient()
        patient.set("ward", ward)
        patient.set("doctors", NSSet(array: [doctor]))
        try rivals.mine.save()
        let same = try rivals.their(patient)
        rivals.theirs.refresh(same, mergeChanges: false)
        _ = same.int("code")
        _ = same.many("doctors")
        let third = rivals.reader()
        third.delete(try #require(try third.all("Patient").first))
        try third.save()
        let policy = Overtaken(merge: type)
        rivals.mine.mergePolicy = policy
        rivals.theirs.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        patient.set("age", 40)
        same.set("code", 7)
        policy.other = { try rivals.theirs.save() }
        return (patient, policy)
    }

    @Test(
        "6.3 A row that two contexts write again at once is merged like any other", arguments: trumping,
        Rivalry.allCases)
    func twice(_ type: NSMergePolicyType, _ rivalry: Rivalry) throws {
        let rivals = try Rivals(rivalry)
        let (patient, policy) = try overtaken(rivals, type)
        try rivals.mine.save()
        #expect(policy.found.count > 1)
        let stored = try #require(rivals.stored(patient))
        let code = type == .overwriteMergePolicyType ? 1 : 7
        for object in [patient, stored] {
            #expect(object.int("age") == 40 && object.int("code") == code)
            #expect(object.one("ward")?.text("name") == "North" && object.names("doctors") == ["u"])
        }
        #expect(!rivals.mine.hasChanges && patient.heldVersion == stored.heldVersion)
    }

    @Test("6.1 A row that came again meanwhile is a conflict with its new version", arguments: Rivalry.allCases)
    func twiceRefused(_ rivalry: Rivalry) throws {
        let rivals = try Rivals(rivalry)
        let (patient, policy) = try overtaken(rivals, .mergeByPropertyObjectTrumpMergePolicyType)
        policy.givesUp = true
        let error = caught { try rivals.mine.save() }
        #expect(error?.code.rawValue == 133020)
        let conflict = try #require(error?.persistentStoreSaveConflicts?.first { $0.sourceObject === patient })
        #expect(conflict.newVersionNumber == rivals.stored(patient)?.heldVersion)
        #expect(rivals.stored(patient)?.int("age") == 30 && patient.int("age") == 40 && rivals.mine.hasChanges)
    }
}
