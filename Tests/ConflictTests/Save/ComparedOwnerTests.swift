// Owners that a save compares although members came or went.

import CoreDataTestSupport
import CoreDataValues
import Foundation
import Testing

@testable import CoreData

@Suite struct ComparedOwnerTests {
    @Test(
        "A deletion of an owner to which a member came is refused, whatever its rule", arguments: Rivalry.touching,
        [DeleteRule.nullify, .cascade, .deny, .noAction])
    func deleted(_ rivalry: Rivalry, _ rule: DeleteRule) throws {
        let rivals = try Rivals.shared(rivalry, clinic(rule: rule))
        let ward = try rivals.mine.named("North")
        #expect(ward.names("patients") == [])
        try rivals.theirs.admit("b")
        rivals.mine.delete(ward)
        #expect(code { try rivals.mine.save() } == 133020)
        #expect(rivals.stored(ward)?.names("patients") == ["b"])
    }

    @Test(
        "A deletion that a policy keeps applies its rule to the members that came", arguments: Rivalry.touching,
        [DeleteRule.nullify, .cascade])
    func deletedAgain(_ rivalry: Rivalry, _ rule: DeleteRule) throws {
        let rivals = try Rivals.shared(rivalry, clinic(rule: rule))
        rivals.mine.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        let ward = try rivals.mine.named("North")
        #expect(ward.names("patients") == [])
        try rivals.theirs.admit("b")
        rivals.mine.delete(ward)
        try rivals.mine.save()
        let patients = try rivals.reader().all("Patient")
        #expect(patients.count == (rule == .cascade ? 0 : 1) && patients.allSatisfy { $0.one("ward") == nil })
        #expect(rivals.stored(ward) == nil)
    }

    enum Reordering: CaseIterable { case move, insertFirst, replace }

    @Test(
        "An order that changed otherwise than at its end is compared", arguments: Rivalry.touching, Reordering.allCases)
    func reordered(_ rivalry: Rivalry, _ reordering: Reordering) throws {
        let rivals = try Rivals.shared(rivalry, clinic(ordered: true))
        try rivals.mine.admit("a")
        try rivals.mine.admit("b")
        let ward = try rivals.mine.named("North")
        #expect(ward.ordered("patients").count == 2)
        try rivals.theirs.admit("c")
        let set = ward.mutableOrderedSetValue(forKey: "patients")
        switch reordering {
        case .move: set.exchangeObject(at: 0, withObjectAt: 1)
        case .insertFirst: set.insert(rivals.mine.make("Patient", ["name": "d"]), at: 0)
        case .replace: ward.set("patients", NSOrderedSet(array: ward.ordered("patients").reversed()))
        }
        #expect(code { try rivals.mine.save() } == 133020)
        #expect(
            try rivals.reader().named("North").ordered("patients").compactMap { $0.text("name") } == ["a", "b", "c"])
    }

    @Test("An owner with a value or a to-one of its own among the changes is compared", arguments: Rivalry.touching)
    func changed(_ rivalry: Rivalry) throws {
        let rivals = try Rivals.shared(rivalry)
        let ward = try rivals.mine.named("North")
        try rivals.theirs.admit("b")
        _ = rivals.mine.make("Patient", ["name": "a", "ward": ward])
        ward.set("beds", 4)
        #expect(code { try rivals.mine.save() } == 133020)
    }

    @Test(
        "Members that come under a maximum or leave under a minimum have their owner compared",
        arguments: Rivalry.touching)
    func bounded(_ rivalry: Rivalry) throws {
        let rivals = try Rivals.shared(rivalry, clinic(min: 1, max: 2))
        rivals.mine.make("Patient", ["name": "a"]).set("ward", try rivals.mine.named("North"))
        rivals.mine.make("Patient", ["name": "b"]).set("ward", try rivals.mine.named("North"))
        try rivals.mine.save()
        // Both leave, each by another writer.
        for (context, name) in [(rivals.mine, "a"), (rivals.theirs, "b")] {
            context.refreshAllObjects()
            try context.named(name, "Patient").set("ward", nil)
            #expect(try context.named("North").many("patients").count == 1)
        }
        try rivals.mine.save()
        #expect(code { try rivals.theirs.save() } == 133020)
        rivals.theirs.rollback()
        rivals.theirs.refreshAllObjects()
        rivals.mine.refreshAllObjects()
        // Two come where one may.
        let wards = try [rivals.mine, rivals.theirs].map { try $0.named("North") }
        for (ward, context) in zip(wards, [rivals.mine, rivals.theirs]) {
            #expect(ward.many("patients").count == 1)
            _ = context.make("Patient", ["name": "c", "ward": ward])
        }
        try rivals.mine.save()
        #expect(code { try rivals.theirs.save() } == 133020)
    }

    @Test("An owner that detectConflicts was given is compared", arguments: Rivalry.touching)
    func checked(_ rivalry: Rivalry) throws {
        let rivals = try Rivals.shared(rivalry)
        let ward = try rivals.mine.named("North")
        rivals.mine.detectConflicts(for: ward)
        try rivals.theirs.admit("b")
        _ = rivals.mine.make("Patient", ["name": "a", "ward": ward])
        #expect(code { try rivals.mine.save() } == 133020)
        rivals.mine.refresh(ward, mergeChanges: true)
        rivals.mine.detectConflicts(for: ward)
        try rivals.mine.save()
        #expect(rivals.stored(ward)?.names("patients") == ["a", "b"] && ward.heldVersion == 3)
    }

    @Test("An owner whose class overrides validateForUpdate is compared")
    func guarded() throws {
        var draft = clinic()
        for entity in draft.entities.indices where draft.entities[entity].name == "Ward" {
            draft.entities[entity].className = NSStringFromClass(GuardedWard.self)
        }
        let rivals = try Rivals.shared(.sqlite, draft)
        let ward = try rivals.mine.named("North")
        #expect(ward is GuardedWard)
        try rivals.theirs.admit("b")
        _ = rivals.mine.make("Patient", ["name": "a", "ward": ward])
        #expect(code { try rivals.mine.save() } == 133020)
        // The other ends are no such class.
        let doctor = try rivals.mine.named("Ida", "Doctor")
        rivals.mine.rollback()
        try rivals.theirs.named("Ida", "Doctor").set("name", "Ina")
        try rivals.theirs.save()
        _ = rivals.mine.make("Patient", ["name": "c", "doctors": NSSet(object: doctor)])
        try rivals.mine.save()
    }

    // MARK: Core Data's way

    @Test(
        "With comparesRelationshipOwners, and in programs' own stores, owners are compared", arguments: Rivalry.allCases
    )
    func compared(_ rivalry: Rivalry) throws {
        let rivals = try Rivals.shared(rivalry)
        if !Rivalry.foreign.contains(rivalry) { rivals.mine.comparesRelationshipOwners = true }
        let ward = try rivals.mine.named("North")
        try rivals.theirs.admit("b")
        _ = rivals.mine.make("Patient", ["name": "a", "ward": ward])
        let error = caught { try rivals.mine.save() }
        #expect(error?.code.rawValue == 133020 && error?.persistentStoreSaveConflicts?.map(\.sourceObject) == [ward])
    }

    @Test("Contexts of a container and child contexts take comparesRelationshipOwners over")
    func takenOver() throws {
        let container = NSPersistentContainer(name: "Clinic", managedObjectModel: Clinic.model())
        #expect(!container.comparesRelationshipOwners && !container.newBackgroundContext().comparesRelationshipOwners)
        container.comparesRelationshipOwners = true
        let context = container.newBackgroundContext()
        #expect(container.viewContext.comparesRelationshipOwners && context.comparesRelationshipOwners)
        let child = context.child()
        #expect(child.comparesRelationshipOwners)
        let archive = try NSKeyedArchiver.archivedData(withRootObject: context, requiringSecureCoding: true)
        let read = try NSKeyedUnarchiver.unarchivedObject(ofClass: NSManagedObjectContext.self, from: archive)
        #expect(read?.comparesRelationshipOwners == true)
    }

    @Test(
        "A member that a child context gives to an owner touches it in the save of the parent",
        arguments: Rivalry.touching)
    func child(_ rivalry: Rivalry) throws {
        let rivals = try Rivals.shared(rivalry)
        let child = rivals.mine.child()
        let ward = try rivals.mine.named("North")
        try rivals.theirs.named("North").set("name", "B")
        try rivals.theirs.save()
        _ = child.make("Patient", ["name": "a", "ward": child.object(with: ward.objectID)])
        try child.save()
        try rivals.mine.save()
        #expect(rivals.stored(ward)?.text("name") == "B" && ward.text("name") == "North")
        ward.set("name", "A")
        #expect(code { try rivals.mine.save() } == 133020)
    }
}

final class GuardedWard: NSManagedObject {
    override func validateForUpdate() throws { try super.validateForUpdate() }
}
