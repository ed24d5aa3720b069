// Pairs of which one end is older than the other: what a save makes of them, whether or not it meets a conflict.

import CoreDataTestSupport
import CoreDataValues
import Foundation
import Testing

@testable import CoreData

@Suite struct StaleEndTests {
    @Test(
        "5.6 A one-to-one that was moved there and here is left there by a refresh that merges",
        arguments: RelationshipMergeTests.merging)
    func movedTwice(_ type: NSMergePolicyType) throws {
        let rivals = try Rivals(.memory, policy: type)
        let beds = (1...2).map { rivals.mine.make("Bed", ["number": $0]) }
        let patient = rivals.mine.make("Patient", ["name": "a"])
        try rivals.mine.save()
        patient.set("bed", beds[1])
        try rivals.their(patient).set("bed", try rivals.their(beds[0]))
        try rivals.theirs.save()
        rivals.mine.refresh(patient, mergeChanges: true)
        #expect(patient.one("bed") === beds[1])
        try rivals.mine.save()
        #expect(rivals.stored(patient)?.one("bed")?.int("number") == 2)
        #expect(beds.map { rivals.stored($0)?.one("patient")?.text("name") } == [nil, "a"])
        #expect(beds.map { $0.one("patient") } == [nil, patient] && !rivals.mine.hasChanges)
    }

    @Test(
        "4.12 A pair made with an object whose row turns out to be gone is not saved",
        arguments: RelationshipMergeTests.merging)
    func lost(_ type: NSMergePolicyType) throws {
        let rivals = try Rivals(.memory, policy: type)
        let patient = rivals.mine.make("Patient", ["name": "a"])
        let visit = rivals.mine.make("Visit", ["code": 1])
        try rivals.mine.save()
        visit.set("patient", patient)
        rivals.theirs.delete(try rivals.their(patient))
        try rivals.theirs.save()
        rivals.mine.refresh(patient, mergeChanges: true)
        try rivals.mine.save()
        let stored = try #require(rivals.stored(visit))
        guard case .slot(let slot)? = stored.place(of: "patient") else { throw Missing() }
        #expect(stored.committedTargetKey(at: slot) == nil && visit.one("patient") == nil && !rivals.mine.hasChanges)
    }

    private struct Missing: Error {}

    @Test("6.3 What both sides deleted does not come back with its owner", arguments: RelationshipMergeTests.merging)
    func deletedTwice(_ type: NSMergePolicyType) throws {
        let rivals = try Rivals(.memory, policy: type)
        let visit = rivals.mine.make("Visit", ["code": 1])
        let patient = rivals.mine.make("Patient", ["name": "a", "visits": NSOrderedSet(array: [visit])])
        try rivals.mine.save()
        rivals.theirs.delete(try rivals.their(visit))
        try rivals.theirs.save()
        rivals.mine.delete(patient)
        try rivals.mine.save()
        let comesBack = type == .rollbackMergePolicyType || type == .mergeByPropertyStoreTrumpMergePolicyType
        #expect((rivals.stored(patient) != nil) == comesBack && rivals.stored(visit) == nil)
        #expect(visit.managedObjectContext == nil && !rivals.mine.hasChanges)
        if comesBack { #expect(patient.ordered("visits") == []) }
    }

    @Test(
        "6.2 A pair that is made and parted again here, and was made there, is parted",
        arguments: RelationshipMergeTests.merging)
    func parted(_ type: NSMergePolicyType) throws {
        let rivals = try Rivals(.memory, policy: type)
        let bed = rivals.mine.make("Bed", ["number": 1])
        let patient = rivals.mine.make("Patient", ["name": "a"])
        try rivals.mine.save()
        try rivals.their(patient).set("bed", try rivals.their(bed))
        try rivals.theirs.save()
        rivals.mine.refresh(bed, mergeChanges: false)
        patient.set("bed", bed)
        bed.set("patient", nil)
        try rivals.mine.save()
        #expect(rivals.stored(patient)?.one("bed") == nil && rivals.stored(bed)?.one("patient") == nil)
        #expect(patient.one("bed") == nil && bed.one("patient") == nil && !rivals.mine.hasChanges)
    }

    @Test(
        "6.2 A member that joined there and here leaves an owner that is refreshed and deleted",
        arguments: RelationshipMergeTests.merging)
    func ownerDeleted(_ type: NSMergePolicyType) throws {
        let rivals = try Rivals(.memory, policy: type)
        let ward = rivals.mine.make("Ward", ["name": "North"])
        let patient = rivals.mine.make("Patient", ["name": "a"])
        try rivals.mine.save()
        ward.set("patients", NSSet(array: [patient]))
        try rivals.their(patient).set("ward", try rivals.their(ward))
        try rivals.theirs.save()
        rivals.mine.refresh(ward, mergeChanges: true)
        rivals.mine.delete(ward)
        try rivals.mine.save()
        let stored = try #require(rivals.stored(patient))
        guard case .slot(let slot)? = stored.place(of: "ward") else { throw Missing() }
        #expect((rivals.stored(ward) == nil) == (stored.committedTargetKey(at: slot) == nil))
        #expect(rivals.stored(ward) == nil && patient.one("ward") == nil && !rivals.mine.hasChanges)
    }

    @Test(
        "6.2 A row that was deleted and written again by an older writer is not taken for the one that was read",
        arguments: Rivalry.allCases)
    func anotherRow(_ rivalry: Rivalry) throws {
        let rivals = try Rivals(rivalry)
        let patient = try rivals.patient()
        let same = try rivals.their(patient)
        _ = same.int("code")
        patient.set("age", 31)
        try rivals.mine.save()
        same.set("code", 9)
        let third = rivals.reader()
        third.delete(try #require(try third.all("Patient").first))
        try third.save()
        rivals.theirs.mergePolicy = NSMergePolicy.overwrite
        try rivals.theirs.save()
        #expect(rivals.stored(patient)?.int("age") == 30)
        patient.set("weight", 2.5)
        #expect(caught { try rivals.mine.save() }?.code.rawValue == 133020)
    }

    @Test("3.5 A to-many whose members another context has saved already is not among the changed values")
    func savedThere() throws {
        let rivals = try Rivals(.memory)
        let ward = rivals.mine.make("Ward", ["name": "North"])
        let patient = rivals.mine.make("Patient", ["name": "a", "ward": ward])
        try rivals.mine.save()
        try rivals.their(patient).set("ward", nil)
        try rivals.theirs.save()
        rivals.mine.refresh(ward, mergeChanges: false)
        patient.set("ward", nil)
        #expect(ward.changedValues().isEmpty)
        #expect(patient.changedValues().keys.sorted() == ["ward"])
    }
}
