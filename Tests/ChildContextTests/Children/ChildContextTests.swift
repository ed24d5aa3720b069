// Contexts whose parent is a context.

import CoreDataTestSupport
import Foundation
import Testing

@testable import CoreData

@Suite final class ChildContextTests: Generations {
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
        let counts = StatementLog()
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
        let request = NSFetchRequest<NSManagedObject>("Patient", by: "name")
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
        let request = NSFetchRequest<NSManagedObject>("Patient", by: "code")
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
}
