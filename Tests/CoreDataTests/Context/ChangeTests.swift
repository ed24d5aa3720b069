// Sets, flags, identity, refreshing and dropping of objects in a context.

import CoreDataTestSupport
import CoreDataValues
import Foundation
import Testing

@testable import CoreData

/// Sets, flags, identity, refreshing and dropping.
@Suite struct ChangeTests {
    private let stack: Stack
    private var context: NSManagedObjectContext { stack.context }

    init() throws { stack = try Stack(undo: false) }

    @Test("3.1 Flags and sets follow an object from insertion to deletion")
    func flags() throws {
        let patient = context.make("Patient", ["name": "Ada"])
        context.processPendingChanges()
        #expect(patient.isInserted && !patient.isUpdated && !patient.isDeleted && patient.hasChanges)
        #expect(context.insertedObjects == [patient])
        try context.save()
        #expect(!patient.isInserted && !patient.hasChanges)
        patient.setValue("Bo", forKey: "name")
        context.processPendingChanges()
        #expect(patient.isUpdated)
        #expect(context.updatedObjects == [patient])
        context.delete(patient)
        context.processPendingChanges()
        #expect(patient.isDeleted && !patient.isUpdated)
        #expect(context.deletedObjects == [patient])
        #expect(context.updatedObjects.isEmpty)
        try context.save()
        #expect(!patient.isDeleted && !context.hasChanges)
    }

    @Test("3.3 An object inserted and deleted without a save was never there")
    func cameAndWent() throws {
        let patient = context.make("Patient", ["name": "Ada"])
        context.delete(patient)
        context.processPendingChanges()
        #expect(context.insertedObjects.isEmpty && context.deletedObjects.isEmpty && !context.hasChanges)
        #expect(patient.managedObjectContext == nil)
    }

    @Test("3.6 Setting an equal value updates the object and changes nothing")
    func equalValue() throws {
        let patient = try stack.saved()
        patient.setValue("Ada", forKey: "name")
        #expect(patient.isUpdated)
        #expect(patient.changedValues().isEmpty)
        #expect(!patient.hasPersistentChangedValues)
        try context.save()
        #expect(patient._state.version == 1)
    }

    @Test("3.5 changedValues has the new values, committedValues the saved ones, nil as NSNull, of both ends")
    func values() throws {
        let patient = try stack.saved()
        let ward = context.make("Ward", ["name": "North"])
        try context.save()
        patient.setValue(36, forKey: "age")
        patient.setValue(ward, forKey: "ward")
        let changed = patient.changedValues()
        #expect(Set(changed.keys) == ["age", "ward"])
        #expect(changed["age"] as? Int == 36)
        #expect(changed["ward"] as? NSManagedObject === ward)
        #expect(Set(ward.changedValues().keys) == ["patients"])
        #expect(ward.isUpdated)
        let committed = patient.committedValues(forKeys: ["age", "name", "ward"])
        #expect(committed["age"] is NSNull)
        #expect(committed["ward"] is NSNull)
        #expect(committed["name"] as? String == "Ada")
        patient.setValue(nil, forKey: "age")
        #expect(Set(patient.changedValues().keys) == ["ward"])
    }

    @Test("One context has one object for each row; another context has its own")
    func uniquing() throws {
        let patient = try stack.saved()
        #expect(try context.all("Patient").first === patient)
        #expect(context.object(with: patient.objectID) === patient)
        #expect(try context.existingObject(with: patient.objectID) === patient)
        #expect(context.registeredObject(for: patient.objectID) === patient)
        let other = stack.another()
        #expect(other.registeredObject(for: patient.objectID) == nil)
        let same = other.object(with: patient.objectID)
        #expect(same !== patient)
        #expect(same.isFault)
        #expect(same.objectID == patient.objectID)
        #expect(same.value(forKey: "name") as? String == "Ada")
    }

    @Test("A context lets clean objects go and keeps changed ones")
    func registered() throws {
        for index in 0..<10 { _ = context.make("Patient", ["name": "\(index)"]) }
        #expect(context.registeredObjects.count == 10)
        try context.save()
        #expect(context.registeredObjects.isEmpty)
        let number = try {
            let found = try context.all("Patient")
            found[3].setValue("changed", forKey: "name")
            return found[3].objectID
        }()
        #expect(context.registeredObjects.count == 1)
        #expect(context.registeredObject(for: number)?.value(forKey: "name") as? String == "changed")
    }

    @Test("A temporary ID becomes permanent at the save, and its URI leads back to the object")
    func identifiers() throws {
        let patient = context.make("Patient", ["name": "Ada"])
        let temporary = patient.objectID
        #expect(temporary.isTemporaryID && temporary.persistentStore == nil)
        #expect(stack.coordinator.managedObjectID(forURIRepresentation: temporary.uriRepresentation()) == nil)
        try context.save()
        let permanent = patient.objectID
        #expect(permanent != temporary && !permanent.isTemporaryID)
        let store = try #require(stack.coordinator.persistentStores.first)
        #expect(permanent.uriRepresentation().absoluteString == "x-coredata://\(store.identifier ?? "")/Patient/p1")
        let back = stack.coordinator.managedObjectID(forURIRepresentation: permanent.uriRepresentation())
        #expect(back == permanent)
        let strange = try #require(URL(string: "x-coredata://\(UUID().uuidString)/Patient/p1"))
        #expect(stack.coordinator.managedObjectID(forURIRepresentation: strange) == nil)
    }

    @Test("existingObject throws 133000 for a row that is not there")
    func missing() throws {
        let patient = try stack.saved()
        let id = patient.objectID
        context.delete(patient)
        try context.save()
        let error = #expect(throws: CocoaError.self) { try stack.another().existingObject(with: id) }
        #expect(error?.code.rawValue == 133000)
    }

    @Test("refresh keeps changes with mergeChanges and drops them without")
    func refresh() throws {
        let patient = try stack.saved()
        let other = stack.another()
        let same = other.object(with: patient.objectID)
        same.setValue("Bo", forKey: "name")
        same.setValue(1, forKey: "age")
        try other.save()
        patient.setValue(36, forKey: "age")
        context.refresh(patient, mergeChanges: true)
        #expect(patient.value(forKey: "name") as? String == "Bo")
        #expect(patient.value(forKey: "age") as? Int == 36)
        context.refresh(patient, mergeChanges: false)
        #expect(patient.isFault && !patient.hasChanges && !context.hasChanges)
        #expect(patient.value(forKey: "age") as? Int == 1)
    }

    @Test("Members that are let go after a save come back with the saved values")
    func membersAfterSave() throws {
        let ward = context.make("Ward")
        for name in ["a", "b"] { _ = context.make("Patient", ["name": name, "ward": ward]) }
        try context.save()
        context.refresh(ward, mergeChanges: false)
        func patients() -> [NSManagedObject] {
            (ward.value(forKey: "patients") as? NSSet)?.compactMap { $0 as? NSManagedObject } ?? []
        }
        for patient in patients() { patient.setValue(7, forKey: "age") }
        try context.save()
        #expect(patients().compactMap { $0.value(forKey: "age") as? Int } == [7, 7])
        for patient in patients() { patient.setValue(8, forKey: "age") }
        try context.save()
    }

    @Test("refreshAllObjects makes unchanged objects faults and keeps the changes of others")
    func refreshAll() throws {
        let (clean, changed) = (try stack.saved("a"), try stack.saved("b"))
        changed.setValue("c", forKey: "name")
        context.refreshAllObjects()
        #expect(clean.isFault)
        #expect(!changed.isFault)
        #expect(changed.value(forKey: "name") as? String == "c")
        #expect(context.updatedObjects == [changed])
    }

    @Test("Rollback restores values, relationships and deletions and drops insertions")
    func rollback() throws {
        let ward = context.make("Ward", ["name": "North"])
        let patient = context.make("Patient", ["name": "Ada", "ward": ward])
        let visits = (0..<3).map { context.make("Visit", ["note": "\($0)"]) }
        patient.setValue(NSOrderedSet(array: visits), forKey: "visits")
        try context.save()
        patient.setValue("Bo", forKey: "name")
        patient.setValue(nil, forKey: "ward")
        patient.setValue(NSOrderedSet(array: visits.reversed()), forKey: "visits")
        context.delete(ward)
        let extra = context.make("Patient", ["name": "Eve"])
        context.rollback()
        #expect(!context.hasChanges)
        #expect(patient.value(forKey: "name") as? String == "Ada")
        #expect(patient.value(forKey: "ward") as? NSManagedObject === ward)
        #expect((ward.value(forKey: "patients") as? NSSet)?.contains(patient) == true)
        #expect((patient.value(forKey: "visits") as? NSOrderedSet)?.array as? [NSManagedObject] == visits)
        #expect(!ward.isDeleted)
        #expect(extra.managedObjectContext == nil)
        #expect(try context.all("Patient") == [patient])
    }

    @Test("Reset forgets every object and tells so")
    func reset() throws {
        let patient = try stack.saved()
        patient.setValue("Bo", forKey: "name")
        let log = NotificationLog(context)
        context.reset()
        #expect(log.entries.last?.info[NSInvalidatedAllObjectsKey] != nil)
        #expect(context.registeredObjects.isEmpty && !context.hasChanges)
        #expect(patient.managedObjectContext == nil)
        #expect(try context.all("Patient").first?.value(forKey: "name") as? String == "Ada")
    }

    @Test("Notifications name what was inserted, updated and deleted, once, and nothing for an empty event")
    func notifications() throws {
        let (kept, gone) = (try stack.saved("a"), try stack.saved("b"))
        let log = NotificationLog(context)
        kept.setValue("c", forKey: "name")
        let new = context.make("Ward")
        context.delete(gone)
        context.processPendingChanges()
        context.processPendingChanges()
        #expect(log.entries.map(\.name) == ["didChange"])
        #expect(log.objects(0, NSInsertedObjectsKey) == [new])
        #expect(log.objects(0, NSUpdatedObjectsKey) == [kept])
        #expect(log.objects(0, NSDeletedObjectsKey) == [gone])
        log.clear()
        try context.save()
        #expect(log.entries.map(\.name) == ["willSave:", "didSave:"])
        #expect(log.entries[0].info.isEmpty)
        #expect(log.objects(1, NSInsertedObjectsKey) == [new])
        #expect(log.objects(1, NSUpdatedObjectsKey) == [kept])
        #expect(log.objects(1, NSDeletedObjectsKey) == [gone])
        log.clear()
        try context.save()
        #expect(try context.all("Patient").count == 1)
        #expect(log.entries.isEmpty)
    }

    @Test("performAndWait nests in any way, also across two contexts, and throws what its block throws")
    func nesting() throws {
        let (a, b) = (context, stack.another())
        let depth = a.performAndWait { b.performAndWait { a.performAndWait { b.performAndWait { 4 } } } }
        #expect(depth == 4)
        #expect(throws: CocoaError.self) { try a.performAndWait { throw CocoaError(.fileNoSuchFile) } }
        a.performAndWait { _ = a.make("Patient", ["name": "Ada"]) }
        #expect(a.hasChanges)
    }

    @Test("perform processes pending changes when its block is done")
    func perform() async throws {
        let context = self.context
        let count = await context.perform { () -> Int in
            _ = context.make("Patient", ["name": "Ada"])
            return context.insertedObjects.count
        }
        #expect(count == 1)
        await context.perform { #expect(!context.tracker.hasEvent) }
        try await context.perform { try context.save() }
        #expect(!context.hasChanges)
    }
}
