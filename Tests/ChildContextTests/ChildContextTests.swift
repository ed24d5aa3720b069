// Contexts whose parent is a context.

import CoreDataTestSupport
import Foundation
import Testing

@testable import CoreData

@Suite struct ChildContextTests {
    private let stack: Stack
    private let parent: NSManagedObjectContext
    private let child: NSManagedObjectContext

    init() throws {
        stack = try Stack(undo: false)
        parent = stack.context
        child = parent.child()
    }

    @Test("1.3 Defaults are set before awakeFromInsert, which a child's save also calls on the parent's new object")
    func awake() throws {
        let stack = try Stack(model: Waker.model(), undo: false)
        let child = stack.context.child()
        let mine = try #require(child.make("Patient", ["name": "Ada"]) as? Waker)
        #expect(mine.codesFound == [7])
        try child.save()
        let twin = try #require(stack.context.insertedObjects.first as? Waker)
        #expect(twin.codesFound == [7])
        #expect(twin.name == "Ada")
        #expect(twin.value(forKey: "age") == nil, "what only the twin's awakeFromInsert has set does not stay")
        #expect(mine.codesFound.count == 1)
    }

    @Test("7.1 A child's save changes the parent only, and the parent's save has the union")
    func union() throws {
        let counts = StatementCount()
        let stack = try Stack(undo: false, options: counts.options)
        let parent = stack.context
        let old = parent.make("Patient", ["name": "old"]), doomed = parent.make("Patient", ["name": "doomed"])
        try parent.save()
        let changes = Postings(.NSManagedObjectContextObjectsDidChange, of: parent)
        let saves = Postings(.NSManagedObjectContextDidSave, of: parent)
        let child = parent.child()
        let a = child.make("Patient", ["name": "a"])
        _ = child.make("Patient", ["name": "b"])
        #expect(try counts.count { try child.save() } == 0)
        #expect(!child.hasChanges)
        #expect(parent.hasChanges)
        child.same(old).setValue("new", forKey: "name")
        #expect(try counts.count { try child.save() } == 0)
        child.delete(child.same(doomed))
        #expect(try counts.writes { try child.save() }.isEmpty, "the delete rules may read members")
        _ = child.make("Patient", ["name": "c"])
        try child.save()
        #expect(changes.infos.count == 4)
        #expect(changes.objects(0, NSInsertedObjectsKey).count == 2)
        #expect(changes.objects(1, NSUpdatedObjectsKey) == [old])
        #expect(changes.objects(2, NSDeletedObjectsKey) == [doomed])
        #expect(try stack.another().names() == ["doomed", "old"])
        try parent.save()
        #expect(saves.objects(0, NSInsertedObjectsKey).count == 3)
        #expect(saves.objects(0, NSUpdatedObjectsKey) == [old])
        #expect(saves.objects(0, NSDeletedObjectsKey) == [doomed])
        #expect(try stack.another().names() == ["a", "b", "c", "new"])
        #expect(a.name == "a")
    }

    @Test("7.2 A child sees the parent's unsaved state, in fetches and in faults")
    func sees() throws {
        let saved = parent.make("Patient", ["name": "saved"]), gone = parent.make("Patient", ["name": "gone"])
        try parent.save()
        let early = child.same(saved)
        saved.setValue("changed", forKey: "name")
        parent.delete(gone)
        let ward = parent.make("Ward", ["name": "w", "beds": 4])
        let fresh = parent.make("Patient", ["name": "fresh"])
        fresh.setValue(ward, forKey: "ward")
        #expect(early.isFault)
        #expect(early.name == "changed", "from the parent's object, not from the store")
        #expect(try child.names() == ["changed", "fresh"])
        let found = try #require(try child.named("fresh"))
        #expect(found !== fresh)
        #expect(found.objectID == fresh.objectID && found.objectID.isTemporaryID)
        #expect((found.value(forKey: "ward") as? NSManagedObject)?.value(forKey: "beds") as? Int == 4)
        #expect((found.value(forKey: "ward") as? NSManagedObject)?.members("patients") == [found])
        #expect(try child.count(for: NSFetchRequest<NSManagedObject>(entityName: "Patient")) == 2)
        #expect(try child.existingObject(with: fresh.objectID) === found)
        #expect(throws: CocoaError.self) { try child.existingObject(with: gone.objectID) }
        #expect(!child.hasChanges)
    }

    @Test("7.2 An object that the parent holds keeps the parent's values in the child, whatever the store says since")
    func heldVersion() throws {
        let patient = parent.make("Patient", ["name": "old"])
        try parent.save()
        let other = stack.another()
        try other.named("old")?.setValue("new", forKey: "name")
        try other.save()
        let request = NSFetchRequest<NSManagedObject>(entityName: "Patient")
        #expect(try child.fetch(request).map(\.name) == ["old"])
        parent.refresh(patient, mergeChanges: false)
        child.reset()
        #expect(try child.fetch(request).map(\.name) == ["new"])
    }

    @Test("7.2 Order, limit and offset count unsaved objects of the parent")
    func limits() throws {
        for name in ["b", "d"] { _ = parent.make("Patient", ["name": name]) }
        try parent.save()
        for name in ["a", "c", "e"] { _ = parent.make("Patient", ["name": name]) }
        let request = NSFetchRequest<NSManagedObject>(entityName: "Patient")
        request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
        request.fetchOffset = 1
        request.fetchLimit = 3
        #expect(try child.fetch(request).map(\.name) == ["b", "c", "d"])
        _ = child.make("Patient", ["name": "aa"])
        #expect(try child.fetch(request).map(\.name) == ["aa", "b", "c"])
    }

    @Test("7.3 A child keeps its values until it merges or refreshes", arguments: [false, true])
    func staleness(_ merges: Bool) throws {
        let patient = parent.make("Patient", ["name": "old"])
        try parent.save()
        child.automaticallyMergesChangesFromParent = merges
        let mine = child.same(patient)
        #expect(mine.name == "old")
        patient.setValue("new", forKey: "name")
        try parent.save()
        child.drain()
        #expect(mine.name == (merges ? "new" : "old"))
        child.refresh(mine, mergeChanges: false)
        #expect(mine.name == "new")
    }

    @Test("7.4 A child fetches a parent's unsaved objects in batches")
    func batches() throws {
        for number in 0..<600 { _ = parent.make("Patient", ["name": "p\(number)", "code": number]) }
        try parent.save()
        for number in 600..<1300 { _ = parent.make("Patient", ["name": "p\(number)", "code": number]) }
        let request = NSFetchRequest<NSManagedObject>(entityName: "Patient")
        request.sortDescriptors = [NSSortDescriptor(key: "code", ascending: true)]
        request.fetchBatchSize = 20
        let found = try child.fetch(request)
        #expect(found.map { $0.value(forKey: "code") as? Int } == (0..<1300).map { $0 })
        #expect(Set(found).count == 1300)
    }

    @Test("6.4 A child's values win over the parent's, and no conflict is told")
    func wins() throws {
        let patient = parent.make("Patient", ["name": "old", "age": 1])
        try parent.save()
        let mine = child.same(patient)
        mine.setValue("child", forKey: "name")
        patient.setValue("parent", forKey: "name")
        patient.setValue(2, forKey: "age")
        try parent.save()
        try child.save()
        #expect(patient.name == "child")
        #expect(patient.value(forKey: "age") as? Int == 2, "a value that the child left alone stays the parent's")
        try parent.save()
        #expect(try stack.another().names() == ["child"])
    }

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
        #expect(try sibling.named("Ada")?.value(forKey: "mood") as? Int == 50, "the parent has it though it has no changes")
        #expect(grandchild.same(patient).value(forKey: "mood") as? Int == 50)
    }

    @Test("Every kind of value passes from child to parent and back")
    func values() throws {
        let uuid = UUID(), born = Date(timeIntervalSinceReferenceDate: 1.5), big = Data(repeating: 3, count: 5000)
        let values: [String: Any] = [
            "name": String(repeating: "x", count: 3000), "age": 41, "weight": 70.5, "born": born, "tag": uuid,
            "photo": big, "fee": NSDecimalNumber(string: "12.50"), "link": URL(string: "https://a.b/c")!, "awake": NSNumber(value: true),
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
        mine.setValue(NSOrderedSet(array: (mine.value(forKey: "visits") as? NSOrderedSet)?.array.reversed() ?? []), forKey: "visits")
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

    @Test("Validation runs in the child, and a save that fails leaves both contexts as they were")
    func validation() throws {
        _ = child.make("Patient")
        let good = child.make("Patient", ["name": "good"])
        #expect(throws: CocoaError.self) { try child.save() }
        #expect(!parent.hasChanges)
        #expect(child.insertedObjects.count == 2)
        #expect(good.isInserted)
    }

    @Test("Saving a change to an object that the parent has deleted is an error and changes nothing")
    func deletedAbove() throws {
        let patient = parent.make("Patient", ["name": "Ada"]), other = parent.make("Patient", ["name": "Bo"])
        try parent.save()
        child.same(other).setValue("Cy", forKey: "name")
        child.same(patient).setValue("new", forKey: "name")
        parent.delete(patient)
        try parent.save()
        #expect { try child.save() } throws: { ($0 as? CocoaError)?.code.rawValue == 133000 }
        #expect(!parent.hasChanges)
        #expect(child.updatedObjects.count == 2)
        child.delete(child.same(patient))
        try child.save()
        #expect(other.name == "Cy")
    }

    @Test("A relationship with an object that the parent has deleted is no reason to refuse a save")
    func relationshipDeletedAbove() throws {
        let patient = parent.make("Patient", ["name": "Ada"]), visit = parent.make("Visit", ["note": "1"])
        visit.setValue(patient, forKey: "patient")
        try parent.save()
        let mine = child.same(visit)
        #expect((mine.value(forKey: "patient") as? NSManagedObject)?.name == "Ada")
        parent.delete(patient)
        parent.processPendingChanges()
        child.delete(mine)
        try child.save()
        try parent.save()
        #expect(try stack.another().all("Visit").isEmpty)
    }

    @Test("An object that the parent's redo brings back is the child's object again")
    func redo() throws {
        parent.undoManager = UndoManager()
        let mine = child.make("Patient", ["name": "a"])
        try child.save()
        parent.undo()
        #expect(try child.names().isEmpty)
        parent.redo()
        #expect(try child.named("a") === mine)
        mine.setValue("b", forKey: "name")
        try child.save()
        try parent.save()
        #expect(try stack.another().names() == ["b"])
    }

    @Test("A child asks all stores of the coordinator, and the parent's unsaved objects once")
    func stores() throws {
        let folder = Folder(), model = Clinic.model()
        for store in ["one", "two"] {
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
            _ = try coordinator.addPersistentStore(
                ofType: NSSQLiteStoreType, configurationName: nil, at: folder.file(store))
            let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
            context.persistentStoreCoordinator = coordinator
            context.make("Patient", ["name": store]).setValue(context.make("Ward", ["name": store]), forKey: "ward")
            try context.save()
        }
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        for store in ["one", "two"] {
            _ = try coordinator.addPersistentStore(
                ofType: NSSQLiteStoreType, configurationName: nil, at: folder.file(store))
        }
        let parent = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        parent.persistentStoreCoordinator = coordinator
        let child = parent.child(), grandchild = child.child()
        _ = parent.make("Patient", ["name": "three"])
        try parent.named("two")?.setValue(9, forKey: "age")
        for context in [child, grandchild] {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Patient")
            request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
            #expect(try context.fetch(request).map(\.name) == ["one", "three", "two"])
            #expect(try context.count(for: request) == 3)
            let two = try #require(try context.named("two"))
            #expect(two.value(forKey: "age") as? Int == 9)
            #expect((two.value(forKey: "ward") as? NSManagedObject)?.name == "two")
        }
    }

    @Test("A fetch of IDs alone finds a parent's unsaved objects")
    func idsOnly() throws {
        let saved = parent.make("Patient", ["name": "a"])
        try parent.save()
        let unsaved = parent.make("Patient", ["name": "b"])
        let request = NSFetchRequest<NSManagedObject>(entityName: "Patient")
        request.includesPropertyValues = false
        #expect(Set(try child.fetch(request).map(\.objectID)) == [saved.objectID, unsaved.objectID])
        #expect(try child.fetch(request).map(\.name).count == 2)
        #expect(try child.named("b")?.name == "b")
    }

    @Test("A child whose parent let go of the objects saves with one statement a table")
    func letGo() throws {
        let counts = StatementCount()
        let stack = try Stack(undo: false, options: counts.options)
        for number in 0..<500 { _ = stack.context.make("Patient", ["name": "p\(number)"]) }
        try stack.context.save()
        let child = stack.context.child()
        let found = try child.all("Patient")
        #expect(stack.context.registeredObjects.isEmpty)
        for object in found { object.setValue(5, forKey: "age") }
        #expect(try counts.count { try child.save() } <= 1)
        #expect(stack.context.updatedObjects.count == 500)
        try stack.context.save()
        let request = NSFetchRequest<NSManagedObject>(entityName: "Patient")
        request.predicate = NSPredicate(format: "age == 5")
        #expect(try stack.another().count(for: request) == 500)
    }

    @Test("A child's rollback and reset leave the parent alone")
    func rollback() throws {
        let patient = parent.make("Patient", ["name": "a"])
        let mine = child.same(patient)
        mine.setValue("b", forKey: "name")
        _ = child.make("Patient", ["name": "c"])
        child.rollback()
        #expect(mine.name == "a")
        child.reset()
        #expect(try child.names() == ["a"])
        #expect(patient.isInserted)
    }
}
