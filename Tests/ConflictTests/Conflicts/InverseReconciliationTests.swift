// What a save that resolved a conflict leaves in its context: both sides of every pair agree, also with the store.

import CoreDataTestSupport
import CoreDataValues
import Foundation
import Testing

@testable import CoreData

@Suite struct InverseReconciliationTests {
    /// Everything that a context says of its relationships, and what a reader says.
    private func pairs(_ context: NSManagedObjectContext, _ entity: String, _ key: String) throws -> [String] {
        try context.all(entity).sorted { $0._state.pointee.number < $1._state.pointee.number }.map { object in
            let targets = object.value(forKey: key).map { $0 is NSManagedObject ? [object.one(key)] : [] } ?? []
            let ends = targets.isEmpty ? Array(object.many(key)) : targets.compactMap { $0 }
            return "\(object._state.pointee.number): \(ends.map { $0._state.pointee.number }.sorted())"
        }
    }

    private func expectAgreement(_ rivals: Rivals, _ ends: (String, String)...) throws {
        let reader = rivals.reader()
        for (entity, key) in ends {
            #expect(try pairs(rivals.mine, entity, key) == pairs(reader, entity, key), "\(entity).\(key)")
        }
    }

    @Test(
        "6.3 A one-to-one that was moved there agrees on both sides when the end that lost it is saved",
        arguments: RelationshipMergeTests.merging, Rivalry.allCases)
    func oneToOne(_ type: NSMergePolicyType, _ rivalry: Rivalry) throws {
        let rivals = try Rivals(rivalry, policy: type)
        let beds = (1...2).map { rivals.mine.make("Bed", ["number": $0]) }
        let patient = rivals.mine.make("Patient", ["name": "a", "bed": beds[1]])
        try rivals.mine.save()
        try rivals.their(patient).set("bed", try rivals.their(beds[0]))
        try rivals.theirs.save()
        beds[1].set("code", 7)
        try rivals.mine.save()
        let end = type == .overwriteMergePolicyType ? beds[1] : beds[0]
        #expect(patient.one("bed") === end)
        #expect(rivals.stored(patient)?.one("bed")?.int("number") == end.int("number"))
        for bed in beds {
            #expect(bed.one("patient") === (bed === end ? patient : nil))
            #expect(rivals.stored(bed)?.one("patient")?.text("name") == (bed === end ? "a" : nil))
        }
        #expect(rivals.stored(beds[1])?.int("code") == (type == .rollbackMergePolicyType ? nil : 7))
        #expect(!rivals.mine.hasChanges)
    }

    @Test(
        "6.3 A member that was moved there leaves and joins on both sides", arguments: RelationshipMergeTests.merging,
        Rivalry.allCases)
    func member(_ type: NSMergePolicyType, _ rivalry: Rivalry) throws {
        for changed in [0, 1] {
            for isRead in [false, true] {
                let rivals = try Rivals(rivalry, policy: type)
                let visits = (1...3).map { rivals.mine.make("Visit", ["code": $0]) }
                let patients = ["a", "b"].map { rivals.mine.make("Patient", ["name": $0]) }
                patients[0].set("visits", NSOrderedSet(array: visits))
                try rivals.mine.save()
                if isRead { rivals.mine.refreshAllObjects() }
                for patient in patients { _ = patient.text("name") }
                for patient in patients where isRead { _ = patient.ordered("visits") }
                for visit in visits { _ = visit.one("patient") }
                try rivals.their(visits[2]).set("patient", try rivals.their(patients[1]))
                try rivals.theirs.save()
                patients[changed].set("age", 50)
                try rivals.mine.save()
                try expectAgreement(rivals, ("Patient", "visits"), ("Visit", "patient"))
                #expect(visits[2].one("patient") === patients[1], "\(changed)")
                #expect(!rivals.mine.hasChanges)
            }
        }
    }

    @Test(
        "6.3 What a renewed end leads to is renewed as well", arguments: RelationshipMergeTests.merging,
        Rivalry.allCases)
    func further(_ type: NSMergePolicyType, _ rivalry: Rivalry) throws {
        let rivals = try Rivals(rivalry, policy: type)
        let wards = ["North", "South"].map { rivals.mine.make("Ward", ["name": $0]) }
        let beds = (1...2).map { rivals.mine.make("Bed", ["number": $0]) }
        let patient = rivals.mine.make("Patient", ["name": "a", "bed": beds[0], "ward": wards[0]])
        try rivals.mine.save()
        for ward in wards { _ = ward.many("patients") }
        // The bed that is changed here leads to the patient, and the patient to its wards.
        try rivals.their(patient).set("bed", try rivals.their(beds[1]))
        try rivals.their(patient).set("ward", try rivals.their(wards[1]))
        try rivals.theirs.save()
        beds[1].set("code", 7)
        try rivals.mine.save()
        try expectAgreement(
            rivals, ("Patient", "ward"), ("Ward", "patients"), ("Patient", "bed"), ("Bed", "patient"))
        #expect(!rivals.mine.hasChanges)
    }

    @Test(
        "6.3 An object that no merge has to do with keeps the values that it was read with",
        arguments: RelationshipMergeTests.merging)
    func stranger(_ type: NSMergePolicyType) throws {
        let rivals = try Rivals(.sqlite, policy: type)
        let patients = ["a", "b"].map { rivals.mine.make("Patient", ["name": $0, "age": 1]) }
        try rivals.mine.save()
        for patient in patients { try rivals.their(patient).set("age", 2) }
        try rivals.theirs.save()
        patients[0].set("code", 7)
        try rivals.mine.save()
        #expect(patients[0].int("age") == (type == .overwriteMergePolicyType ? 1 : 2) && patients[1].int("age") == 1)
        rivals.mine.mergePolicy = NSMergePolicy.error
        patients[1].set("code", 7)
        #expect(caught { try rivals.mine.save() }?.code.rawValue == 133020)
    }

    @Test(
        "4.12 An object whose row another writer deleted is found so after a save that settled a conflict with that writer",
        arguments: RelationshipMergeTests.merging, [Rivalry.sqlite, .memory, .propertyList, .otherCoordinator])
    func goneMember(_ type: NSMergePolicyType, _ rivalry: Rivalry) throws {
        for touch in 0..<5 {
            let rivals = try Rivals(rivalry, policy: type)
            rivals.mine.stalenessInterval = 0
            let ward = rivals.mine.make("Ward", ["name": "North"])
            let patient = rivals.mine.make("Patient", ["name": "a", "ward": ward])
            try rivals.mine.save()
            rivals.theirs.delete(try rivals.their(patient))
            try rivals.theirs.save()
            ward.set("code", 7)
            try rivals.mine.save()
            #expect(ward.many("patients").isEmpty && !rivals.mine.hasChanges)
            switch touch {
            case 0: #expect(patient.text("name") == nil && patient.isDeleted)
            case 1: patient.set("age", 3)
            case 2: patient.set("ward", nil)
            case 3: rivals.mine.delete(ward)
            default: patient.set("ward", ward)
            }
            try rivals.mine.save()
            #expect(!rivals.mine.hasChanges && rivals.stored(patient) == nil)
            #expect(touch == 3 || ward.many("patients").isEmpty && patient.managedObjectContext == nil, "\(touch)")
        }
    }
}
