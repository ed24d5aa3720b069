// What a merge makes of relationships, on both sides.

import CoreDataTestSupport
import CoreDataValues
import Foundation
import Testing

@testable import CoreData

@Suite struct RelationshipMergeTests {
    static let merging: [NSMergePolicyType] = [
        .mergeByPropertyStoreTrumpMergePolicyType, .mergeByPropertyObjectTrumpMergePolicyType,
        .overwriteMergePolicyType,
        .rollbackMergePolicyType,
    ]

    /// A patient in the ward Old; here it moves to Mine, there to Theirs.
    private func moved(_ rivalry: Rivalry, _ type: NSMergePolicyType) throws -> (
        Rivals, NSManagedObject, [String: NSManagedObject]
    ) {
        let rivals = try Rivals(rivalry, policy: type)
        var wards: [String: NSManagedObject] = [:]
        for name in ["Old", "Mine", "Theirs"] { wards[name] = rivals.mine.make("Ward", ["name": name]) }
        let patient = rivals.mine.make("Patient", ["name": "Ada", "ward": wards["Old"] as Any])
        try rivals.mine.save()
        for ward in wards.values { _ = ward.many("patients") }
        try rivals.their(patient).set("ward", try rivals.their(try #require(wards["Theirs"])))
        try rivals.theirs.save()
        patient.set("ward", wards["Mine"])
        return (rivals, patient, wards)
    }

    @Test(
        "6.3 A to-one that both moved goes where the policy says, and every to-many agrees", arguments: merging,
        Rivalry.allCases)
    func toOne(_ type: NSMergePolicyType, _ rivalry: Rivalry) throws {
        let (rivals, patient, wards) = try moved(rivalry, type)
        try rivals.mine.save()
        let keepsMine = type == .mergeByPropertyObjectTrumpMergePolicyType || type == .overwriteMergePolicyType
        let end = keepsMine ? "Mine" : "Theirs"
        #expect(patient.one("ward") === wards[end])
        #expect(rivals.stored(patient)?.one("ward")?.text("name") == end)
        for (name, ward) in wards {
            #expect(ward.many("patients") == (name == end ? [patient] : []), "\(name)")
            #expect(rivals.stored(ward)?.many("patients").count == (name == end ? 1 : 0), "\(name)")
        }
        #expect(!rivals.mine.hasChanges)
        rivals.mine.mergePolicy = NSMergePolicy.error
        patient.set("ward", wards["Old"])
        try rivals.mine.save()
        #expect(rivals.stored(patient)?.one("ward")?.text("name") == "Old")
    }

    @Test(
        "6.3 A to-one that only the other writer moved follows the store unless it is overwritten", arguments: merging,
        Rivalry.allCases)
    func toOneThere(_ type: NSMergePolicyType, _ rivalry: Rivalry) throws {
        let (rivals, patient, wards) = try moved(rivalry, type)
        patient.set("ward", wards["Old"])
        patient.set("age", 40)
        try rivals.mine.save()
        let end = type == .overwriteMergePolicyType ? "Old" : "Theirs"
        #expect(patient.one("ward") === wards[end])
        #expect(rivals.stored(patient)?.one("ward")?.text("name") == end)
        for (name, ward) in wards {
            #expect(ward.many("patients") == (name == end ? [patient] : []), "\(name)")
            #expect(rivals.stored(ward)?.many("patients").count == (name == end ? 1 : 0), "\(name)")
        }
    }

    @Test("6.3 A to-many is merged as what was added and removed on each side", arguments: merging, Rivalry.allCases)
    func manyToMany(_ type: NSMergePolicyType, _ rivalry: Rivalry) throws {
        let rivals = try Rivals(rivalry)
        rivals.mine.comparesRelationshipOwners = true
        rivals.mine.mergePolicy = NSMergePolicy(merge: type)
        let doctors = ["a", "b", "c", "d", "e"].map { rivals.mine.make("Doctor", ["name": $0]) }
        let patient = rivals.mine.make("Patient", ["name": "Ada", "doctors": NSSet(array: Array(doctors[0...2]))])
        try rivals.mine.save()
        // Here: a goes, d comes. There: b goes, d and e come.
        let same = try rivals.their(patient)
        same.set("doctors", NSSet(array: try [0, 2, 3, 4].map { try rivals.their(doctors[$0]) }))
        try rivals.theirs.save()
        patient.set("doctors", NSSet(array: [1, 2, 3].map { doctors[$0] }))
        try rivals.mine.save()
        let isDropped = type == .rollbackMergePolicyType
        let expected = isDropped ? ["a", "c", "d", "e"] : ["c", "d", "e"]
        #expect(rivals.stored(patient)?.names("doctors") == expected)
        #expect(patient.names("doctors") == expected)
        for doctor in doctors {
            let name = try #require(doctor.text("name"))
            #expect(doctor.many("patients") == (expected.contains(name) ? [patient] : []), "\(name)")
        }
        #expect(!rivals.mine.hasChanges)
    }

    @Test(
        "6.3 Members added on both sides of a to-many with a to-one inverse are all there", arguments: merging,
        Rivalry.allCases)
    func oneToMany(_ type: NSMergePolicyType, _ rivalry: Rivalry) throws {
        let rivals = try Rivals(rivalry)
        rivals.mine.comparesRelationshipOwners = true
        rivals.mine.mergePolicy = NSMergePolicy(merge: type)
        let ward = rivals.mine.make("Ward", ["name": "North"])
        let first = rivals.mine.make("Patient", ["name": "a", "ward": ward])
        try rivals.mine.save()
        _ = ward.many("patients")
        let other = rivals.theirs.make("Patient", ["name": "b"])
        other.set("ward", try rivals.their(ward))
        try rivals.their(ward).set("beds", 5)
        try rivals.theirs.save()
        let mine = rivals.mine.make("Patient", ["name": "c", "ward": ward])
        try rivals.mine.save()
        #expect(rivals.stored(ward)?.names("patients") == ["a", "b", "c"])
        let beds = type == .overwriteMergePolicyType ? nil : 5
        #expect(rivals.stored(ward)?.int("beds") == beds && ward.int("beds") == beds)
        rivals.mine.refreshAllObjects()
        #expect(ward.names("patients") == ["a", "b", "c"])
        #expect(first.one("ward") === ward && mine.one("ward") === ward)
    }

    @Test(
        "6.3 An order that both changed: the trumping side's order, everybody's members", arguments: merging,
        Rivalry.allCases)
    func ordered(_ type: NSMergePolicyType, _ rivalry: Rivalry) throws {
        let rivals = try Rivals(rivalry, policy: type)
        let patient = rivals.mine.make("Patient", ["name": "Ada"])
        let visits = ["a", "b", "c"].map { rivals.mine.make("Visit", ["note": $0]) }
        patient.set("visits", NSOrderedSet(array: visits))
        try rivals.mine.save()
        let same = try rivals.their(patient)
        let theirs = try visits.map { try rivals.their($0) }
        same.set("visits", NSOrderedSet(array: [theirs[1], theirs[0], theirs[2]]))
        try rivals.theirs.save()
        patient.set("visits", NSOrderedSet(array: [visits[2], visits[1], visits[0]]))
        try rivals.mine.save()
        let keepsMine = type == .mergeByPropertyObjectTrumpMergePolicyType || type == .overwriteMergePolicyType
        let expected = keepsMine ? ["c", "b", "a"] : ["b", "a", "c"]
        #expect(rivals.stored(patient)?.ordered("visits").map { $0.text("note") ?? "" } == expected)
        #expect(patient.ordered("visits").map { $0.text("note") ?? "" } == expected)
    }

    @Test(
        "6.3 A one-to-one that both changed agrees on both sides, in memory and in the store", arguments: merging,
        Rivalry.allCases)
    func oneToOne(_ type: NSMergePolicyType, _ rivalry: Rivalry) throws {
        let rivals = try Rivals(rivalry, policy: type)
        let beds = (1...3).map { rivals.mine.make("Bed", ["number": $0]) }
        let patient = rivals.mine.make("Patient", ["name": "Ada", "bed": beds[0]])
        try rivals.mine.save()
        try rivals.their(patient).set("bed", try rivals.their(beds[2]))
        try rivals.theirs.save()
        patient.set("bed", beds[1])
        try rivals.mine.save()
        let keepsMine = type == .mergeByPropertyObjectTrumpMergePolicyType || type == .overwriteMergePolicyType
        let end = keepsMine ? 2 : 3
        let stored = try #require(rivals.stored(patient))
        #expect(stored.one("bed")?.int("number") == end)
        #expect(patient.one("bed")?.int("number") == end)
        for bed in beds {
            let isEnd = bed.int("number") == end
            #expect((bed.one("patient") === patient) == isEnd, "\(bed.int("number") ?? 0) here")
            #expect((rivals.stored(bed)?.one("patient") != nil) == isEnd, "\(bed.int("number") ?? 0) there")
        }
    }

    @Test(
        "An object written again brings its to-ones and the pairs that it is known to have", arguments: Rivalry.allCases
    )
    func writtenAgain(_ rivalry: Rivalry) throws {
        let rivals = try Rivals(rivalry)
        rivals.mine.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        let ward = rivals.mine.make("Ward", ["name": "North"])
        let doctors = ["a", "b"].map { rivals.mine.make("Doctor", ["name": $0]) }
        let patient = rivals.mine.make("Patient", ["name": "Ada", "ward": ward, "doctors": NSSet(array: [doctors[0]])])
        try rivals.mine.save()
        _ = patient.names("doctors")
        rivals.theirs.delete(try rivals.their(patient))
        try rivals.theirs.save()
        patient.set("doctors", NSSet(array: doctors))
        try rivals.mine.save()
        let stored = try #require(rivals.stored(patient))
        #expect(stored.one("ward")?.text("name") == "North")
        #expect(stored.names("doctors") == ["a", "b"])
        #expect(rivals.stored(ward)?.names("patients") == ["Ada"])
        #expect(patient.names("doctors") == ["a", "b"] && ward.many("patients") == [patient])
        #expect(!rivals.mine.hasChanges)
    }

    @Test(
        "An object is written again although the merge has settled all that was changed of it",
        arguments: Rivalry.allCases)
    func writtenAgainUnchanged(_ rivalry: Rivalry) throws {
        for policy in [NSMergePolicy.mergeByPropertyObjectTrump, .overwrite] {
            let rivals = try Rivals(rivalry)
            rivals.mine.mergePolicy = policy
            // A member only leaves: the row would not be missed.
            rivals.mine.comparesRelationshipOwners = true
            let doctors = ["a", "b"].map { rivals.mine.make("Doctor", ["name": $0]) }
            let patient = rivals.mine.make("Patient", ["name": "Ada", "doctors": NSSet(array: doctors)])
            try rivals.mine.save()
            rivals.theirs.delete(try rivals.their(patient))
            try rivals.theirs.save()
            patient.set("doctors", NSSet(array: [doctors[0]]))
            try rivals.mine.save()
            #expect(rivals.stored(patient)?.names("doctors") == ["a"])
            #expect(
                patient.names("doctors") == ["a"] && doctors[0].many("patients") == [patient]
                    && doctors[1].many("patients") == [])
            #expect(!rivals.mine.hasChanges)
        }
    }

    @Test("An object written again does not point at rows that went with it", arguments: Rivalry.allCases)
    func writtenAgainAlone(_ rivalry: Rivalry) throws {
        let rivals = try Rivals(rivalry)
        rivals.mine.mergePolicy = NSMergePolicy.overwrite
        let ward = rivals.mine.make("Ward", ["name": "North"])
        let doctors = ["a", "b"].map { rivals.mine.make("Doctor", ["name": $0]) }
        let patient = rivals.mine.make("Patient", ["name": "Ada", "ward": ward, "doctors": NSSet(array: doctors)])
        try rivals.mine.save()
        _ = patient.names("doctors")
        for object in [patient, ward, doctors[0]] { rivals.theirs.delete(try rivals.their(object)) }
        try rivals.theirs.save()
        patient.set("age", 40)
        try rivals.mine.save()
        let stored = try #require(rivals.stored(patient))
        #expect(stored.one("ward") == nil && patient.one("ward") == nil)
        #expect(stored.names("doctors") == ["b"] && patient.names("doctors") == ["b"])
        #expect(stored.text("name") == "Ada" && stored.int("age") == 40)
    }

    @Test(
        "Members that a deletion released stay released when their owner is written again", arguments: Rivalry.allCases)
    func released(_ rivalry: Rivalry) throws {
        let rivals = try Rivals(rivalry)
        rivals.mine.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        let ward = rivals.mine.make("Ward", ["name": "North"])
        let patients = ["a", "b"].map { rivals.mine.make("Patient", ["name": $0, "ward": ward]) }
        try rivals.mine.save()
        _ = ward.names("patients")
        rivals.theirs.delete(try rivals.their(ward))
        try rivals.theirs.save()
        ward.set("beds", 3)
        let third = rivals.mine.make("Patient", ["name": "c", "ward": ward])
        try rivals.mine.save()
        #expect(rivals.stored(ward)?.names("patients") == ["c"] && rivals.stored(ward)?.int("beds") == 3)
        #expect(ward.many("patients") == [third])
        #expect(patients.allSatisfy { $0.one("ward") == nil })
        patients[0].set("ward", ward)
        try rivals.mine.save()
        #expect(rivals.stored(ward)?.names("patients") == ["a", "c"])
    }

    @Test("A member that joined meanwhile does not stay behind when its owner is deleted", arguments: Rivalry.allCases)
    func joinedMeanwhile(_ rivalry: Rivalry) throws {
        let rivals = try Rivals(rivalry)
        rivals.mine.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        let ward = rivals.mine.make("Ward", ["name": "North"])
        try rivals.mine.save()
        let patient = rivals.theirs.make("Patient", ["name": "Ada"])
        patient.set("ward", try rivals.their(ward))
        try rivals.their(ward).set("beds", 5)
        try rivals.theirs.save()
        rivals.mine.delete(ward)
        try rivals.mine.save()
        #expect(rivals.stored(ward) == nil)
        let stored = try #require(try rivals.reader().all("Patient").first)
        #expect(stored.committedTargetKeyOfWard == nil)
    }

    @Test(
        "A member that joined meanwhile, and that its owner alone has been told of, is released with the owner",
        arguments: merging, Rivalry.allCases)
    func knownToOwner(_ type: NSMergePolicyType, _ rivalry: Rivalry) throws {
        for isDeleted in [false, true] {
            let rivals = try Rivals(rivalry, undo: true, policy: type)
            let ward = rivals.mine.make("Ward", ["name": "North"])
            let patient = rivals.mine.make("Patient", ["name": "Ada"])
            try rivals.mine.save()
            try rivals.their(patient).set("ward", try rivals.their(ward))
            try rivals.theirs.save()
            rivals.mine.refresh(ward, mergeChanges: false)
            rivals.mine.stalenessInterval = 0
            #expect(ward.many("patients") == [patient] && patient.one("ward") == nil)
            if isDeleted { rivals.mine.delete(ward) } else { ward.set("patients", NSSet()) }
            rivals.mine.processPendingChanges()
            rivals.mine.undo()
            #expect(ward.many("patients") == [patient] && !rivals.mine.hasChanges)
            rivals.mine.redo()
            try rivals.mine.save()
            #expect((rivals.stored(ward) == nil) == isDeleted && ward.many("patients") == [])
            #expect(patient.one("ward") == nil && !rivals.mine.hasChanges)
            let stored = try #require(rivals.stored(patient))
            #expect(stored.committedTargetKeyOfWard == nil)
        }
    }

    @Test("Members that an order has taken over from the store leave with it", arguments: merging, Rivalry.allCases)
    func knownToOrder(_ type: NSMergePolicyType, _ rivalry: Rivalry) throws {
        let rivals = try Rivals(rivalry, undo: true, policy: type)
        let patient = rivals.mine.make("Patient", ["name": "Ada"])
        let visits = ["a", "b"].map { rivals.mine.make("Visit", ["note": $0]) }
        visits[0].set("patient", patient)
        try rivals.mine.save()
        try rivals.their(visits[1]).set("patient", try rivals.their(patient))
        try rivals.theirs.save()
        rivals.mine.refresh(patient, mergeChanges: false)
        rivals.mine.stalenessInterval = 0
        #expect(patient.ordered("visits") == visits)
        patient.set("visits", NSOrderedSet())
        rivals.mine.processPendingChanges()
        rivals.mine.undo()
        #expect(patient.ordered("visits") == visits && !rivals.mine.hasChanges)
        rivals.mine.redo()
        try rivals.mine.save()
        #expect(patient.ordered("visits") == [] && visits.allSatisfy { $0.one("patient") == nil })
        #expect(rivals.stored(patient)?.ordered("visits") == [] && !rivals.mine.hasChanges)
        #expect(visits.allSatisfy { rivals.stored($0)?.one("patient") == nil })
    }
}

extension NSManagedObject {
    fileprivate var committedTargetKeyOfWard: Int64? {
        guard case .slot(let slot)? = place(of: "ward") else { return nil }
        return committedTargetKey(at: slot)?.number
    }
}
