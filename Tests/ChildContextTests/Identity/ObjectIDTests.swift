// The names of objects: temporary, permanent, and as URIs.

import CoreDataTestSupport
import Foundation
import Testing

@testable import CoreData

@Suite struct ObjectIDTests {
    private let stack: Stack
    private var context: NSManagedObjectContext { stack.context }

    init() throws { stack = try Stack(undo: false) }

    @Test("2.1 A save replaces the temporary ID; the object stays the same")
    func replaced() throws {
        let patient = context.make("Patient", ["name": "Ada"])
        let temporary = patient.objectID
        #expect(temporary.isTemporaryID)
        #expect(temporary.persistentStore == nil)
        try context.save()
        #expect(!patient.objectID.isTemporaryID)
        #expect(patient.objectID != temporary)
        #expect(context.object(with: patient.objectID) === patient)
        #expect(patient.objectID.persistentStore === stack.coordinator.persistentStores[0])
    }

    @Test("2.2 obtainPermanentIDs makes IDs permanent before the save, and the object stays inserted")
    func permanent() throws {
        let patient = context.make("Patient", ["name": "Ada"]), ward = context.make("Ward", ["name": "w"])
        let later = context.make("Patient", ["name": "Bo"])
        patient.setValue(ward, forKey: "ward")
        try context.obtainPermanentIDs(for: [patient, ward])
        let id = patient.objectID
        #expect(!id.isTemporaryID && !ward.objectID.isTemporaryID && later.objectID.isTemporaryID)
        #expect(patient.isInserted && ward.isInserted)
        #expect(try stack.another().all("Patient").isEmpty)
        #expect(context.object(with: id) === patient)
        #expect(context.registeredObjects.count == 3)
        try context.obtainPermanentIDs(for: [patient])
        #expect(patient.objectID == id)
        try context.save()
        #expect(patient.objectID == id)
        let other = stack.another()
        let read = try other.existingObject(with: id)
        #expect(read.name == "Ada")
        #expect((read.value(forKey: "ward") as? NSManagedObject)?.objectID == ward.objectID)
        #expect(later.objectID != id && !later.objectID.isTemporaryID)
        try context.obtainPermanentIDs(for: [patient])
        #expect(!context.hasChanges)
    }

    @Test("2.2 Obtaining IDs writes to the store's file")
    func writes() throws {
        let counts = StatementLog()
        let stack = try Stack(undo: false, options: counts.options)
        let patient = stack.context.make("Patient", ["name": "Ada"])
        #expect(try !counts.writes { try stack.context.obtainPermanentIDs(for: [patient]) }.isEmpty)
    }

    @Test("2.2 An object with a permanent ID can be rolled back, and its number is not given again")
    func rolledBack() throws {
        let patient = context.make("Patient", ["name": "Ada"])
        try context.obtainPermanentIDs(for: [patient])
        let id = patient.objectID
        context.rollback()
        #expect(context.registeredObject(for: id) == nil)
        let other = context.make("Patient", ["name": "Bo"])
        try context.save()
        #expect(other.objectID != id)
        #expect(throws: CocoaError.self) { try context.existingObject(with: id) }
    }

    @Test("2.3 After a child's save its objects have temporary IDs, and so has its notification")
    func ofChild() throws {
        let child = context.child()
        let childSaves = Postings(NSManagedObjectContext.didSaveObjectIDsNotification, of: child)
        let rootSaves = Postings(NSManagedObjectContext.didSaveObjectIDsNotification, of: context)
        let patient = child.make("Patient", ["name": "Ada"])
        let temporary = patient.objectID
        try child.save()
        #expect(patient.objectID == temporary && temporary.isTemporaryID)
        #expect(childSaves.ids(0, NSInsertedObjectIDsKey) == [temporary])
        let twin = try #require(try context.named("Ada"))
        #expect(twin.objectID == temporary)
        try context.save()
        #expect(rootSaves.ids(0, NSInsertedObjectIDsKey) == [twin.objectID])
        #expect(!twin.objectID.isTemporaryID)
    }

    @Test("2.2 A child's objects get permanent IDs from above, inserted or not")
    func permanentInChild() throws {
        let child = context.child(), grandchild = child.child()
        let saved = child.make("Patient", ["name": "saved"])
        try child.save()
        let fresh = child.make("Patient", ["name": "fresh"])
        try child.obtainPermanentIDs(for: [saved, fresh])
        #expect(!saved.objectID.isTemporaryID && !fresh.objectID.isTemporaryID)
        #expect(context.insertedObjects.map(\.objectID) == [saved.objectID])
        let low = try #require(try grandchild.named("saved"))
        #expect(low.objectID == saved.objectID)
        let ids = Set([saved.objectID, fresh.objectID])
        try child.save()
        try context.save()
        let other = stack.another()
        #expect(Set(try other.all("Patient").map(\.objectID)) == ids)
    }

    @Test("2.4 An ID is a URI of store, entity and number, and back; an unknown store gives nil")
    func uris() throws {
        let patient = context.make("Patient", ["name": "Ada"])
        let temporary = patient.objectID.uriRepresentation()
        #expect(stack.coordinator.managedObjectID(forURIRepresentation: temporary) == nil)
        try context.save()
        let uri = patient.objectID.uriRepresentation()
        let store = stack.coordinator.persistentStores[0].identifier ?? ""
        #expect(uri.absoluteString == "x-coredata://\(store)/Patient/p1")
        #expect(stack.coordinator.managedObjectID(forURIRepresentation: uri) == patient.objectID)
        for other in [
            "x-coredata://\(UUID().uuidString)/Patient/p1", "x-coredata://\(store)/Nothing/p1",
            "x-coredata://\(store)/Patient/q1", "x-coredata://\(store)/Patient/p", "http://\(store)/Patient/p1",
            "x-coredata:///Patient/t1",
        ] {
            let url = try #require(URL(string: other))
            #expect(stack.coordinator.managedObjectID(forURIRepresentation: url) == nil, "\(other)")
        }
    }

    @Test("2.5 Objects of different entities may have the same number; IN tells them apart")
    func entities() throws {
        let patient = context.make("Patient", ["name": "Ada"]), doctor = context.make("Doctor", ["name": "Who"])
        let badge = context.make("Badge", ["code": "b"])
        badge.setValue(doctor, forKey: "doctor")
        try context.save()
        #expect(patient.objectID.uriRepresentation().lastPathComponent == "p1")
        #expect(doctor.objectID.uriRepresentation().lastPathComponent == "p1")
        #expect(patient.objectID != doctor.objectID)
        #expect(Set([patient.objectID, doctor.objectID]).count == 2)
        for other in [context, stack.another(), context.child()] {
            let request = NSFetchRequest<NSManagedObject>("Patient", "SELF IN %@", [doctor.objectID])
            #expect(try other.fetch(request).isEmpty)
            request.predicate = NSPredicate(format: "SELF IN %@", [doctor.objectID, patient.objectID])
            #expect(try other.fetch(request).count == 1)
            let badges = NSFetchRequest<NSManagedObject>("Badge", "doctor IN %@", [patient.objectID])
            #expect(try other.fetch(badges).isEmpty)
            badges.predicate = NSPredicate(format: "doctor IN %@", [doctor.objectID])
            #expect(try other.fetch(badges).count == 1)
        }
    }

    @Test("1.15 2.1 A child finds its object by the permanent ID as soon as a context above has saved it")
    func soon() throws {
        let child = context.child(), grandchild = child.child()
        let mine = grandchild.make("Patient", ["name": "Ada"])
        try grandchild.save()
        try child.save()
        try context.save()
        let id = try #require(try context.named("Ada")).objectID
        #expect(grandchild.registeredObject(for: id) === mine && grandchild.object(with: id) === mine)
        #expect(child.object(with: id) === child.same(mine))
        #expect(try grandchild.existingObject(with: id) === mine && grandchild.registeredObjects.count == 1)
    }
}
