// Saves that fail after a policy has changed objects, and that nothing has changed then.

import CoreDataTestSupport
import CoreDataValues
import Foundation
import Testing

@testable import CoreData

/// Settles everything as its type says, and then refuses.
private final class SecondThoughts: NSMergePolicy {
    private(set) var hasSettled = false
    override func resolve(mergeConflicts list: [Any]) throws {
        try super.resolve(mergeConflicts: list)
        hasSettled = true
        throw Refused()
    }
    override func resolve(constraintConflicts list: [NSConstraintConflict]) throws {
        try super.resolve(constraintConflicts: list)
        hasSettled = true
        throw Refused()
    }
    struct Refused: Error {}
}

/// A save that fails leaves everything as it was, and the next one works once the cause is removed.
@Suite struct FailedMergeTests {
    enum Scenario: String, CaseIterable, Sendable {
        case updated, deletedThere, deletedHere, constraint, sameSave, relationships
    }

    private static func draft(_ rivalry: Rivalry) -> SchemaDraft {
        var draft = Clinic.draft()
        for index in draft.entities.indices where draft.entities[index].name == "Badge" && rivalry.keepsConstraints {
            draft.entities[index].uniquenessConstraints = [["code"]]
        }
        return draft
    }

    /// Two patients in a ward with doctors, visits and beds, known to both sides, and an object of every kind of change.
    private struct Hospital {
        let rivals: Rivals
        let objects: [NSManagedObject]
        let ada: NSManagedObject

        init(_ rivalry: Rivalry, _ scenario: Scenario) throws {
            rivals = try Rivals(rivalry, draft: FailedMergeTests.draft(rivalry), undo: true)
            let context = rivals.mine
            let wards = ["North", "South", "East"].map { context.make("Ward", ["name": $0]) }
            let doctors = ["a", "b", "c"].map { context.make("Doctor", ["name": $0]) }
            let badges = ["x", "y"].map { context.make("Badge", ["code": $0, "doctor": doctors[0]]) }
            ada = context.make(
                "Patient", ["name": "Ada", "age": 30, "photo": Data([1]), "fee": Decimal(3), "tag": UUID()])
            let bob = context.make("Patient", ["name": "Bob", "age": 31])
            for patient in [ada, bob] {
                patient.set("ward", wards[0])
                patient.set("doctors", NSSet(array: [doctors[0], doctors[1]]))
                patient.set("visits", NSOrderedSet(array: ["1", "2"].map { context.make("Visit", ["note": $0]) }))
                patient.set("bed", context.make("Bed", ["number": 1]))
            }
            try context.save()
            for ward in wards { _ = ward.many("patients") }
            try Hospital.changeThere(rivals, scenario, ada, wards, doctors)
            let pending = Hospital.changeHere(context, scenario, ada, bob, wards, doctors, badges)
            context.processPendingChanges()
            objects =
                wards + doctors + badges + [ada, bob] + ada.ordered("visits") + bob.ordered("visits")
                + [ada, bob].compactMap { $0.one("bed") } + pending
        }

        private static func changeThere(
            _ rivals: Rivals, _ scenario: Scenario, _ ada: NSManagedObject, _ wards: [NSManagedObject],
            _ doctors: [NSManagedObject]
        ) throws {
            let same = try rivals.their(ada)
            switch scenario {
            case .updated, .deletedHere: same.set("age", 50)
            case .deletedThere: rivals.theirs.delete(same)
            case .relationships:
                same.set("ward", try rivals.their(wards[2]))
                same.set("doctors", NSSet(array: [try rivals.their(doctors[1])]))
                same.set("visits", NSOrderedSet(array: same.ordered("visits").reversed()))
            case .constraint, .sameSave: break
            }
            try rivals.theirs.save()
        }

        private static func changeHere(
            _ context: NSManagedObjectContext, _ scenario: Scenario, _ ada: NSManagedObject, _ bob: NSManagedObject,
            _ wards: [NSManagedObject], _ doctors: [NSManagedObject], _ badges: [NSManagedObject]
        ) -> [NSManagedObject] {
            ada.set("name", "Ada B.")
            ada.set("age", 40)
            ada.set("ward", wards[1])
            ada.set("photo", Data([2, 3]))
            ada.set("fee", Decimal(5))
            bob.set("link", URL(string: "http://bob.example"))
            let visit = context.make("Visit", ["note": "3", "patient": ada])
            var made = [visit]
            switch scenario {
            case .updated, .deletedThere: break
            case .deletedHere: context.delete(ada)
            case .constraint: made.append(context.make("Badge", ["code": "x", "doctor": doctors[1]]))
            case .sameSave: made += (0..<2).map { _ in context.make("Badge", ["code": "z", "doctor": doctors[1]]) }
            case .relationships:
                ada.set("doctors", NSSet(array: [doctors[0], doctors[2]]))
                ada.set("visits", NSOrderedSet(array: [visit] + ada.ordered("visits").dropLast()))
            }
            return made
        }

        func picture() throws -> Picture { try Picture(rivals.mine, rows: rivals.reader()) }
    }

    @Test(
        "6.9 A save that fails after its policy changed objects leaves values, state, IDs, undo and rows as they were",
        arguments: Scenario.allCases, RelationshipMergeTests.merging)
    func failed(_ scenario: Scenario, _ type: NSMergePolicyType) throws {
        let needsConstraints = scenario == .constraint || scenario == .sameSave
        for rivalry in needsConstraints ? Rivalry.constrained : Rivalry.allCases {
            let hospital = try Hospital(rivalry, scenario)
            let context = hospital.rivals.mine
            let policy = SecondThoughts(merge: type)
            context.mergePolicy = policy
            let before = try hospital.picture()
            #expect(throws: SecondThoughts.Refused.self) { try context.save() }
            #expect(policy.hasSettled)
            #expect(try hospital.picture().differences(from: before) == [], "\(rivalry)")
            context.mergePolicy = NSMergePolicy(merge: type)
            try context.save()
            #expect(!context.hasChanges)
            try expectAgreement(hospital, cascaded: scenario == .deletedThere ? "Visit" : nil)
        }
    }

    @Test(
        "6.9 A merged object that validation refuses fails the save and nothing has changed",
        arguments: Rivalry.allCases)
    func invalid(_ rivalry: Rivalry) throws {
        let rivals = try Rivals(rivalry)
        let ward = rivals.mine.make("Ward", ["name": "North"])
        let patient = try rivals.patient()
        try rivals.their(patient).set("age", 50)
        try rivals.theirs.save()
        patient.set("age", 40)
        ward.set("name", "South")
        let policy = Nameless(merge: .mergeByPropertyObjectTrumpMergePolicyType)
        rivals.mine.mergePolicy = policy
        #expect(caught { try rivals.mine.save() }?.code.rawValue == 1570)
        #expect(
            patient.text("name") == "Ada" && patient.int("age") == 40
                && patient.changedValues().keys.sorted() == ["age"])
        #expect(rivals.stored(ward)?.text("name") == "North")
    }

    private final class Nameless: NSMergePolicy {
        override func resolve(optimisticLockingConflicts list: [NSMergeConflict]) throws {
            try super.resolve(optimisticLockingConflicts: list)
            for conflict in list { conflict.sourceObject.set("name", nil) }
        }
    }

    /// Memory and store say the same of every object that is there.
    ///
    /// - Parameter cascaded: the entity whose rows went with a deletion there; nobody tells this context.
    private func expectAgreement(_ hospital: Hospital, cascaded: String?) throws {
        let reader = hospital.rivals.reader()
        for object in hospital.objects {
            let stored = hospital.rivals.stored(object)
            guard object.managedObjectContext != nil else {
                #expect(stored == nil || object.objectID.isTemporaryID)
                continue
            }
            if stored == nil, object.entity.name == cascaded { continue }
            let there = try #require(stored)
            for relationship in object._state.info.relationships {
                let mine = object.targets(of: relationship).map { $0.objectID.uriRepresentation().lastPathComponent }
                let theirs = there.targets(of: relationship).map { $0.objectID.uriRepresentation().lastPathComponent }
                let isSame = relationship.isOrdered ? mine == theirs : mine.sorted() == theirs.sorted()
                #expect(isSame, "\(object.objectID).\(relationship.name): \(mine) here, \(theirs) there")
            }
        }
        _ = reader
    }

    @Test("6.9 The undo stack survives a merge; undoing it and saving meets no conflict", arguments: Rivalry.allCases)
    func undo(_ rivalry: Rivalry) throws {
        let rivals = try Rivals(rivalry, undo: true)
        rivals.mine.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        let patient = try rivals.patient()
        rivals.mine.undoManager?.removeAllActions()
        try rivals.their(patient).set("code", 2)
        try rivals.theirs.save()
        patient.set("age", 40)
        rivals.mine.processPendingChanges()
        let depth = rivals.mine.undoManager?.undoCount
        try rivals.mine.save()
        #expect(rivals.mine.undoManager?.undoCount == depth)
        rivals.mine.undo()
        #expect(patient.int("age") == 30 && patient.int("code") == 2)
        rivals.mine.mergePolicy = NSMergePolicy.error
        try rivals.mine.save()
        #expect(rivals.stored(patient)?.int("age") == 30)
    }
}
