// What a child's save does to its parent, and what the parent's saves do to the child.

import CoreDataTestSupport
import Foundation
import Testing

@testable import CoreData

@Suite final class ChildSaveTests: Generations {
    @Test("1.13 Transient values are pushed to the parent")
    func transient() throws {
        let stack = try Stack(model: transientModel(), undo: false)
        let patient = stack.context.make("Patient", ["name": "Ada"])
        try stack.context.save()
        let child = stack.context.child()
        child.same(patient).setValue(50, forKey: "mood")
        let new = child.make("Patient", ["name": "Bo", "mood": 7])
        try child.save()
        #expect(patient.value(forKey: "mood") as? Int == 50)
        #expect(stack.context.same(new).value(forKey: "mood") as? Int == 7)
        let sibling = stack.context.child(), grandchild = stack.context.child()
        try stack.context.save()
        #expect(
            try sibling.named("Ada")?.value(forKey: "mood") as? Int == 50, "the parent has it though it has no changes")
        #expect(grandchild.same(patient).value(forKey: "mood") as? Int == 50)
    }

    @Test("Every kind of value passes from child to parent and back")
    func values() throws {
        let uuid = UUID(), born = Date(timeIntervalSinceReferenceDate: 1.5), big = Data(repeating: 3, count: 5000)
        let values: [String: Any] = [
            "name": String(repeating: "x", count: 3000), "age": 41, "weight": 70.5, "born": born, "tag": uuid,
            "photo": big, "fee": NSDecimalNumber(string: "12.50"), "link": URL(string: "https://a.b/c")!,
            "awake": NSNumber(value: true),
        ]
        let made = child.make("Patient", values)
        try child.save()
        let sibling = parent.child()
        for object in [made, parent.same(made), sibling.same(made)] {
            for (key, value) in values { #expect("\(object.value(forKey: key) ?? "nil")" == "\(value)", "\(key)") }
        }
        made.setValue(nil, forKey: "photo")
        try child.save()
        #expect(parent.same(made).value(forKey: "photo") == nil)
    }

    @Test("Relationships of all kinds reach the parent with both sides, each once")
    func relationships() throws {
        let patient = parent.make("Patient", ["name": "Ada"])
        let old = parent.make("Ward", ["name": "old"]), bed = parent.make("Bed", ["number": 1])
        let doctor = parent.make("Doctor", ["name": "Who"])
        patient.setValue(old, forKey: "ward")
        patient.setValue(bed, forKey: "bed")
        try parent.save()
        let mine = child.same(patient)
        let new = child.make("Ward", ["name": "new"]), other = child.make("Patient", ["name": "Bo"])
        mine.setValue(new, forKey: "ward")
        mine.setValue(nil, forKey: "bed")
        other.setValue(child.same(bed), forKey: "bed")
        mine.setValue(NSSet(array: [child.same(doctor), child.make("Doctor", ["name": "No"])]), forKey: "doctors")
        mine.setValue(NSOrderedSet(array: ["1", "2", "3"].map { child.make("Visit", ["note": $0]) }), forKey: "visits")
        try child.save()
        #expect((patient.value(forKey: "ward") as? NSManagedObject)?.name == "new")
        #expect(old.members("patients").isEmpty)
        #expect(patient.value(forKey: "bed") == nil)
        #expect((bed.value(forKey: "patient") as? NSManagedObject)?.name == "Bo")
        #expect(Set(patient.members("doctors").map(\.name)) == ["Who", "No"])
        #expect(doctor.members("patients") == [patient])
        #expect(patient.notes() == ["1", "2", "3"])
        let visits = (mine.value(forKey: "visits") as? NSOrderedSet)?.array ?? []
        mine.setValue(NSOrderedSet(array: visits.reversed()), forKey: "visits")
        mine.setValue(NSSet(), forKey: "doctors")
        try child.save()
        #expect(patient.notes() == ["3", "2", "1"])
        #expect(doctor.members("patients").isEmpty)
        try parent.save()
        let reader = stack.another()
        let read = try #require(try reader.named("Ada"))
        #expect(read.notes() == ["3", "2", "1"])
        #expect((read.value(forKey: "ward") as? NSManagedObject)?.name == "new")
        #expect(read.members("doctors").isEmpty)
    }

    @Test("After the parent's save a child finds its objects under their permanent keys")
    func alias() throws {
        let patient = child.make("Patient", ["name": "Ada"]), ward = child.make("Ward", ["name": "w"])
        patient.setValue(ward, forKey: "ward")
        try child.save()
        let temporary = patient.objectID
        child.refreshAllObjects()
        #expect(patient.isFault)
        try parent.save()
        #expect(patient.name == "Ada")
        #expect(patient.value(forKey: "ward") as? NSManagedObject === ward)
        #expect(try child.named("Ada") === patient)
        #expect(try child.all("Patient").count == 1)
        #expect(!patient.objectID.isTemporaryID)
        #expect(child.object(with: temporary) === patient)
        #expect(parent.object(with: temporary) === parent.same(patient))
        #expect(ward.members("patients") == [patient])
        patient.setValue("Bo", forKey: "name")
        patient.setValue(nil, forKey: "ward")
        try child.save()
        try parent.save()
        let other = stack.another()
        let read = try #require(try other.named("Bo"))
        #expect(read.name == "Bo")
        #expect(read.value(forKey: "ward") == nil)
    }

    @Test("A row that names an unsaved object still leads to it after that was saved")
    func aliasInCells() throws {
        let patient = parent.make("Patient", ["name": "Ada"]), ward = parent.make("Ward", ["name": "w"])
        patient.setValue(ward, forKey: "ward")
        let mine = try #require(try child.named("Ada"))
        _ = mine.name
        try parent.save()
        let target = try #require(mine.value(forKey: "ward") as? NSManagedObject)
        #expect(target.name == "w")
        #expect(try child.all("Ward") == [target])
        #expect(target.members("patients") == [mine])
        mine.setValue(target, forKey: "ward")
        try child.save()
        #expect(!parent.hasChanges, "the same target is no change")
    }

    @Test("Contexts nest to any depth")
    func depth() throws {
        let grandchild = child.child(), last = grandchild.child()
        let patient = last.make("Patient", ["name": "deep"])
        let ward = parent.make("Ward", ["name": "high"])
        patient.setValue(last.same(ward), forKey: "ward")
        for context in [last, grandchild, child] {
            #expect(context.hasChanges)
            try context.save()
            #expect(!context.hasChanges)
        }
        #expect((try parent.named("deep")?.value(forKey: "ward") as? NSManagedObject) === ward)
        try parent.save()
        #expect(try last.names() == ["deep"])
        #expect(try last.named("deep") === patient)
        #expect(!patient.objectID.isTemporaryID)
        patient.setValue("deeper", forKey: "name")
        for context in [last, grandchild, child, parent] { try context.save() }
        #expect(try stack.another().names() == ["deeper"])
        last.delete(patient)
        for context in [last, grandchild, child, parent] { try context.save() }
        #expect(try stack.another().names().isEmpty)
    }

    @Test("Deletions reach the parent with their rules; an unsaved object of the parent vanishes")
    func deletions() throws {
        let patient = parent.make("Patient", ["name": "Ada"]), ward = parent.make("Ward", ["name": "w"])
        patient.setValue(ward, forKey: "ward")
        let visit = parent.make("Visit", ["note": "1"])
        patient.setValue(NSOrderedSet(object: visit), forKey: "visits")
        try parent.save()
        let unsaved = parent.make("Patient", ["name": "unsaved"])
        child.delete(child.same(patient))
        child.delete(child.same(unsaved))
        try child.save()
        #expect(patient.isDeleted && visit.isDeleted)
        #expect(ward.members("patients").isEmpty)
        #expect(unsaved.managedObjectContext == nil)
        #expect(parent.insertedObjects.isEmpty)
        #expect(try child.all("Patient").isEmpty)
        try parent.save()
        #expect(try stack.another().all("Visit").isEmpty)
    }

    @Test("Undo in the parent takes a child's save back as one step, and redo does it again")
    func undo() throws {
        parent.undoManager = UndoManager()
        let patient = parent.make("Patient", ["name": "old"])
        try parent.save()
        parent.undoManager?.removeAllActions()
        let mine = child.same(patient)
        mine.setValue("new", forKey: "name")
        mine.setValue(child.make("Ward", ["name": "w"]), forKey: "ward")
        try child.save()
        parent.undo()
        #expect(patient.name == "old")
        #expect(patient.value(forKey: "ward") == nil)
        #expect(try parent.all("Ward").isEmpty)
        #expect(!parent.hasChanges)
        parent.redo()
        #expect(patient.name == "new")
        #expect((patient.value(forKey: "ward") as? NSManagedObject)?.name == "w")
        try parent.save()
        #expect(try stack.another().names("Ward") == ["w"])
    }

    @Test("Undo in a child after its save makes a new change to save")
    func undoInChild() throws {
        child.undoManager = UndoManager()
        let patient = child.make("Patient", ["name": "a"])
        try child.save()
        patient.setValue("b", forKey: "name")
        try child.save()
        child.undo()
        #expect(patient.name == "a")
        try child.save()
        #expect(try parent.names() == ["a"])
        child.undo()
        try child.save()
        #expect(try parent.names().isEmpty)
        child.redo()
        try child.save()
        #expect(try parent.names() == ["a"])
    }
}
