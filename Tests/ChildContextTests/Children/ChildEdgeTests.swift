// Child contexts when something is missing: invalid values, deleted objects, several stores, parents that let go.

import CoreDataTestSupport
import Foundation
import Testing

@testable import CoreData

@Suite final class ChildEdgeTests: Generations {
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
            let coordinator = try NSPersistentStoreCoordinator(model, at: folder.file(store))
            let context = coordinator.context()
            context.make("Patient", ["name": store]).setValue(context.make("Ward", ["name": store]), forKey: "ward")
            try context.save()
        }
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        for store in ["one", "two"] {
            _ = try coordinator.addPersistentStore(
                ofType: NSSQLiteStoreType, configurationName: nil, at: folder.file(store))
        }
        let parent = coordinator.context()
        let child = parent.child(), grandchild = child.child()
        _ = parent.make("Patient", ["name": "three"])
        try parent.named("two")?.setValue(9, forKey: "age")
        for context in [child, grandchild] {
            let request = NSFetchRequest<NSManagedObject>("Patient", by: "name")
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
        let counts = StatementLog()
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
        #expect(try stack.another().count(for: NSFetchRequest<NSManagedObject>("Patient", "age == 5")) == 500)
    }

    @Test("A child reads the members of an object that its parent holds with one statement")
    func members() throws {
        let counts = StatementLog()
        let stack = try Stack(undo: false, options: counts.options)
        let parent = stack.context
        let ward = parent.make("Ward", ["name": "w"])
        for number in 0..<100 { parent.make("Patient", ["name": "p\(number)"]).setValue(ward, forKey: "ward") }
        try parent.save()
        let child = parent.child()
        let mine = child.same(ward)
        #expect(mine.name == "w")
        var names: Set<String?> = []
        #expect(counts.count { names = Set(mine.members("patients").map(\.name)) } == 1)
        #expect(names.count == 100)
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

    @Test("What a child asks first after its parent has saved names objects by the IDs that they have now")
    func savedConstants() throws {
        let stack = try Stack(undo: false)
        func saved() throws -> (child: NSManagedObjectContext, ward: NSManagedObject) {
            let child = stack.context.child()
            let ward = child.make("Ward", ["name": "New"])
            child.make("Patient", ["name": "one"]).setValue(ward, forKey: "ward")
            try child.save()
            try stack.context.save()
            return (child, ward)
        }
        let request = NSFetchRequest<NSManagedObject>(entityName: "Patient")
        var (child, ward) = try saved()
        request.predicate = NSPredicate(format: "ward == %@", ward)
        #expect(try child.fetch(request).count == 1)
        (child, ward) = try saved()
        request.predicate = NSPredicate(format: "ward == %@", ward)
        #expect(try child.count(for: request) == 1)
        (child, ward) = try saved()
        let update = NSBatchUpdateRequest(entityName: "Patient")
        update.predicate = NSPredicate(format: "ward == %@", ward)
        update.propertiesToUpdate = ["ward": ward]
        update.resultType = .updatedObjectsCountResultType
        #expect((try child.execute(update) as? NSBatchUpdateResult)?.result as? Int == 1)
        (child, ward) = try saved()
        let delete = NSBatchDeleteRequest(objectIDs: [ward.objectID])
        delete.resultType = .resultTypeCount
        #expect((try child.execute(delete) as? NSBatchDeleteResult)?.result as? Int == 1)
    }
}
