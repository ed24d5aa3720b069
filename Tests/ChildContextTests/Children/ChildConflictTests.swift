// What a child's save and its parent's may refuse, and who wins: delete rules, unique values, other writers, validation in the middle.

import CoreDataTestSupport
import CoreDataValues
import Foundation
import Testing

@testable import CoreData

@Suite final class ChildConflictTests: Generations {
    init() throws {
        var draft = Clinic.draft()
        for index in draft.entities.indices where draft.entities[index].name == "Doctor" {
            draft.entities[index].uniquenessConstraints = [["name"]]
        }
        super.init(try Stack(model: NSManagedObjectModel(draft: draft), undo: true))
    }

    @Test("4.4 A rule that denies the deletion refuses the child's save; parent and child stay as they were")
    func deny() throws {
        let doctor = parent.make("Doctor", ["name": "Who"]),
            badge = parent.make("Badge", ["code": "1", "doctor": doctor])
        try parent.save()
        let mine = child.same(doctor)
        child.delete(mine)
        #expect(code(of: child.save) == 1600)
        #expect(mine.isDeleted && child.deletedObjects == [mine])
        #expect(!parent.hasChanges && !doctor.isDeleted)
        child.delete(child.same(badge))
        try child.save()
        #expect(parent.deletedObjects == [doctor, badge])
        try parent.save()
        #expect(try stack.another().all("Doctor").isEmpty && stack.another().all("Badge").isEmpty)
    }

    @Test("4.4 What only the parent knows of denies at the parent's save")
    func denyAbove() throws {
        let doctor = parent.make("Doctor", ["name": "Who"])
        try parent.save()
        let mine = child.same(doctor)
        #expect(mine.members("badges").isEmpty)
        let badge = parent.make("Badge", ["code": "1", "doctor": doctor])
        child.delete(mine)
        try child.save()
        #expect(doctor.isDeleted)
        #expect(code(of: parent.save) == 1600)
        parent.delete(badge)
        try parent.save()
        #expect(try stack.another().all("Doctor").isEmpty)
    }

    @Test("6.5 A unique value that a child has pushed is refused by the parent's save, and stays there to be mended")
    func unique() throws {
        _ = parent.make("Doctor", ["name": "Who", "code": 1])
        try parent.save()
        let mine = child.make("Doctor", ["name": "Who", "code": 2])
        try child.save()
        #expect(code(of: parent.save) == 133021)
        #expect(parent.insertedObjects.count == 1)
        mine.setValue("Why", forKey: "name")
        try child.save()
        try parent.save()
        let reader = stack.another()
        #expect(try reader.names("Doctor") == ["Who", "Why"])
        #expect(try child.named("Why", "Doctor") === mine && !mine.objectID.isTemporaryID)
    }

    @Test("6.5 Where the parent's policy makes one object of two, the child's is gone and the other is there")
    func uniqueMerged() throws {
        parent.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        let row = parent.make("Doctor", ["name": "Who", "code": 1])
        try parent.save()
        let mine = child.make("Doctor", ["name": "Who", "code": 2])
        try child.save()
        try parent.save()
        #expect(row.value(forKey: "code") as? Int == 2)
        #expect(try child.all("Doctor").map(\.objectID) == [row.objectID])
        child.refresh(mine, mergeChanges: false)
        #expect(mine.name == nil && mine.isDeleted)
        try child.save()
        #expect(try stack.another().all("Doctor").count == 1)
    }

    @Test(
        "6.4 A child's own policy is not asked: its values win over the parent's",
        arguments: [
            NSMergePolicyType.errorMergePolicyType, .mergeByPropertyStoreTrumpMergePolicyType, .rollbackMergePolicyType,
        ])
    func ownPolicy(_ type: NSMergePolicyType) throws {
        child.mergePolicy = NSMergePolicy(merge: type)
        let patient = parent.make("Patient", ["name": "Ada", "age": 1])
        try parent.save()
        let mine = child.same(patient)
        mine.setValue(2, forKey: "age")
        patient.setValue(3, forKey: "age")
        patient.setValue("Eve", forKey: "name")
        try child.save()
        #expect(patient.value(forKey: "age") as? Int == 2 && patient.name == "Eve")
    }

    @Test("6.3 Pushed changes meet another writer's at the parent's save, by the parent's policy")
    func otherWriter() throws {
        let patient = parent.make("Patient", ["name": "Ada", "age": 1, "code": 1])
        try parent.save()
        let mine = child.same(patient)
        mine.setValue(2, forKey: "age")
        let other = stack.another()
        let theirs = other.same(patient)
        theirs.setValue(3, forKey: "age")
        theirs.setValue(3, forKey: "code")
        try other.save()
        try child.save()
        #expect(code(of: parent.save) == 133020)
        #expect(patient.value(forKey: "age") as? Int == 2 && patient.isUpdated)
        parent.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        try parent.save()
        child.refresh(mine, mergeChanges: true)
        for object in [patient, mine] {
            #expect(object.value(forKey: "age") as? Int == 2 && object.value(forKey: "code") as? Int == 3)
        }
    }

    @Test("Validation that fails in the middle leaves the pushed changes there and everything above as it was")
    func middle() throws {
        let grandchild = child.child()
        let nameless = child.make("Patient")
        let mine = grandchild.make("Patient", ["name": "Ada"])
        try grandchild.save()
        #expect(code(of: child.save) == 1570)
        #expect(!parent.hasChanges && child.insertedObjects.count == 2)
        nameless.setValue("Bo", forKey: "name")
        try child.save()
        try parent.save()
        #expect(try stack.another().names() == ["Ada", "Bo"])
        #expect(try grandchild.names() == ["Ada", "Bo"])
        #expect(!mine.objectID.isTemporaryID && mine.name == "Ada")
    }

    @Test("A child's deletion wins over the parent's unsaved change, and the parent's undo has the change again")
    func deletionAboveChange() throws {
        let patient = parent.make("Patient", ["name": "Ada", "age": 1])
        try parent.save()
        patient.setValue(2, forKey: "age")
        let mine = child.same(patient)
        child.delete(mine)
        try child.save()
        #expect(patient.isDeleted)
        parent.undo()
        #expect(!patient.isDeleted && patient.value(forKey: "age") as? Int == 2)
        try parent.save()
        #expect(try stack.another().named("Ada")?.value(forKey: "age") as? Int == 2)
    }

    @Test("An object that parent and child both delete is deleted once", arguments: [false, true])
    func deletedTwice(_ isSaved: Bool) throws {
        let patient = parent.make("Patient", ["name": "Ada"])
        try parent.save()
        let mine = child.same(patient)
        #expect(mine.name == "Ada")
        parent.delete(patient)
        if isSaved { try parent.save() }
        child.delete(mine)
        try child.save()
        try parent.save()
        #expect(!child.hasChanges && !parent.hasChanges)
        #expect(try stack.another().all("Patient").isEmpty)
    }

    @Test(
        "What a child made of a row that another writer has deleted is refused, not dropped",
        arguments: ["delete", "ward", "name"])
    func deletedElsewhere(_ change: String) throws {
        let patient = parent.make("Patient", ["name": "Ada"]), ward = parent.make("Ward", ["name": "W", "beds": 1])
        try parent.save()
        let mine = child.same(patient), room = child.same(ward)
        #expect(mine.name == "Ada" && room.name == "W")
        let other = stack.another()
        other.delete(other.same(patient))
        try other.save()
        parent.refreshAllObjects()
        room.setValue(2, forKey: "beds")
        switch change {
        case "delete": child.delete(mine)
        case "ward": mine.setValue(room, forKey: "ward")
        default: mine.setValue("Eve", forKey: "name")
        }
        #expect(code(of: child.save) == 133000)
        #expect(!parent.hasChanges && child.hasChanges)
        child.rollback()
        child.same(ward).setValue(3, forKey: "beds")
        try child.save()
        try parent.save()
        #expect(try stack.another().all("Ward").first?.value(forKey: "beds") as? Int == 3)
    }

    @Test(
        "A row deleted elsewhere that a child's delete rules let go of is no reason to refuse a save",
        arguments: [false, true])
    func nullifiedElsewhere(_ isMerged: Bool) throws {
        let ward = parent.make("Ward", ["name": "W"]), patient = parent.make("Patient", ["name": "Ada", "ward": ward])
        try parent.save()
        let room = child.same(ward), mine = child.same(patient)
        #expect((mine.value(forKey: "ward") as? NSManagedObject) === room)
        let other = stack.another()
        other.delete(other.same(patient))
        try other.save()
        if isMerged {
            NSManagedObjectContext.mergeChanges(
                fromRemoteContextSave: [NSDeletedObjectIDsKey: [patient.objectID]], into: [parent])
        }
        parent.refreshAllObjects()
        child.delete(room)
        try child.save()
        try parent.save()
        #expect(try stack.another().all("Ward").isEmpty)
    }

    @Test("7.2 A grandchild reads what the context between holds, by fetch and by ID")
    func heldBetween() throws {
        let patient = parent.make("Patient", ["name": "Ada"])
        try parent.save()
        let mine = child.same(patient)
        #expect(mine.name == "Ada")
        patient.setValue("Eve", forKey: "name")
        let one = child.child(), two = child.child()
        #expect(try one.all("Patient").map(\.name) == ["Ada"])
        #expect(two.same(patient).name == "Ada")
    }

    @Test("2.2 An insertion with a permanent ID keeps it through undo and redo", arguments: [false, true])
    func permanentID(_ inChild: Bool) throws {
        let context = inChild ? child : parent
        context.undoManager = UndoManager()
        let patient = context.make("Patient", ["name": "Ada"])
        try context.obtainPermanentIDs(for: [patient])
        let id = patient.objectID
        context.undo()
        #expect(context.registeredObject(for: id) == nil)
        context.redo()
        #expect(patient.objectID == id && context.object(with: id) === patient)
        try context.save()
        try parent.save()
        #expect(try stack.another().existingObject(with: id).name == "Ada")
    }

    @Test("5.3 Undoing a saved deletion brings back a to-one that its rule had left alone")
    func noAction() throws {
        var draft = Clinic.draft()
        draft.entities[0].relationships[0].deleteRule = .noAction
        let stack = try Stack(model: NSManagedObjectModel(draft: draft))
        let context = stack.context
        let ward = context.make("Ward", ["name": "East"])
        let patient = context.make("Patient", ["name": "Ada", "ward": ward])
        try context.save()
        context.delete(patient)
        try context.save()
        context.undo()
        #expect(patient.value(forKey: "ward") as? NSManagedObject === ward)
        try context.save()
        let reader = stack.another()
        #expect((try reader.named("Ada")?.value(forKey: "ward") as? NSManagedObject)?.name == "East")
    }
}
