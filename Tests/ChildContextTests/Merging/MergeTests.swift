// Contexts that take over what others have saved.

import CoreDataTestSupport
import Foundation
import Testing

@testable import CoreData

@Suite struct MergeTests {
    private let stack: Stack
    private var context: NSManagedObjectContext { stack.context }
    private let other: NSManagedObjectContext
    private let saves: NoteBox

    init() throws {
        stack = try Stack(undo: false)
        other = stack.another()
        saves = NoteBox(.NSManagedObjectContextDidSave, of: stack.context)
    }

    private func merge() throws { other.mergeChanges(fromContextDidSave: try #require(saves.last)) }

    @Test("10.4 A merge refreshes what was updated, brings in what is new and drops what was deleted")
    func merged() throws {
        let patient = context.make("Patient", ["name": "old"]), doomed = context.make("Patient", ["name": "doomed"])
        let ward = context.make("Ward", ["name": "w"])
        doomed.setValue(ward, forKey: "ward")
        try context.save()
        let mine = other.same(patient), mineDoomed = other.same(doomed), mineWard = other.same(ward)
        #expect(mine.name == "old")
        #expect(mineWard.members("patients") == [mineDoomed])
        patient.setValue("new", forKey: "name")
        patient.setValue(ward, forKey: "ward")
        context.delete(doomed)
        let fresh = context.make("Patient", ["name": "fresh"])
        fresh.setValue(ward, forKey: "ward")
        try context.save()
        try merge()
        #expect(mine.name == "new")
        #expect(mineDoomed.managedObjectContext == nil)
        #expect(mineWard.members("patients") == [mine, other.same(fresh)])
        #expect(!other.hasChanges)
        mine.setValue("newer", forKey: "name")
        try other.save()
        #expect(try stack.another().names() == ["fresh", "newer"])
    }

    @Test("10.4 Unsaved changes win over what is merged, and can be saved")
    func local() throws {
        let patient = context.make("Patient", ["name": "old", "age": 1])
        try context.save()
        let mine = other.same(patient)
        mine.setValue("mine", forKey: "name")
        patient.setValue("theirs", forKey: "name")
        patient.setValue(2, forKey: "age")
        try context.save()
        try merge()
        #expect(mine.name == "mine")
        #expect(mine.value(forKey: "age") as? Int == 2)
        try other.save()
        #expect(try stack.another().names() == ["mine"])
    }

    @Test("10.4 Members that both contexts added or removed are members once, or not at all")
    func members() throws {
        let doctor = context.make("Doctor", ["name": "Who"])
        let patients = (0..<5).map { context.make("Patient", ["name": "p\($0)"]) }
        doctor.setValue(NSSet(array: Array(patients[0...1])), forKey: "patients")
        try context.save()
        let mine = other.same(doctor)
        mine.setValue(NSSet(array: [patients[1], patients[2], patients[3]].map { other.same($0) }), forKey: "patients")
        doctor.setValue(NSSet(array: [patients[1], patients[2], patients[4]]), forKey: "patients")
        try context.save()
        try merge()
        let expected = Set([1, 2, 3, 4].map { other.same(patients[$0]) })
        #expect(mine.members("patients") == expected)
        let index = try #require(mine.toManyIndex("patients"))
        #expect(mine.members(at: index).count == 4, "none is listed twice")
        try other.save()
        let third = stack.another()
        let read = try #require(try third.named("Who", "Doctor"))
        #expect(Set(read.members("patients").map(\.name)) == ["p1", "p2", "p3", "p4"])
    }

    @Test("10.4 What an unsaved object points at may be deleted elsewhere")
    func dangling() throws {
        let ward = context.make("Ward", ["name": "w"])
        try context.save()
        let mine = other.make("Patient", ["name": "mine"])
        let mineWard = other.same(ward)
        mine.setValue(mineWard, forKey: "ward")
        context.delete(ward)
        try context.save()
        try merge()
        #expect(mine.value(forKey: "ward") == nil)
        try other.save()
        let third = stack.another()
        let read = try #require(try third.named("mine"))
        #expect(read.value(forKey: "ward") == nil)
    }

    @Test("10.5 Contexts that merge by themselves follow siblings on the coordinator, and children only their parent")
    func automatic() throws {
        #expect(!context.automaticallyMergesChangesFromParent)
        let patient = context.make("Patient", ["name": "old"])
        try context.save()
        let follower = stack.another(), stranger = stack.another()
        let child = follower.child(), strangersChild = stranger.child()
        for context in [follower, child, strangersChild] { context.automaticallyMergesChangesFromParent = true }
        let all = [follower, stranger, child, strangersChild].map { $0.same(patient) }
        #expect(all.map(\.name) == ["old", "old", "old", "old"])
        patient.setValue("new", forKey: "name")
        try context.save()
        for context in [follower, stranger, child, strangersChild] { context.drain() }
        #expect(all[0].name == "new")
        #expect(all[1].name == "old")
        #expect(all[2].name == "new", "the parent has merged, and its child follows")
        #expect(all[3].name == "old", "only from its parent")
        follower.automaticallyMergesChangesFromParent = false
        patient.setValue("newer", forKey: "name")
        try context.save()
        follower.drain()
        #expect(all[0].name == "new")
    }

    @Test("10.5 Merging may be switched on before the context has a coordinator")
    func early() throws {
        let follower = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        follower.automaticallyMergesChangesFromParent = true
        follower.persistentStoreCoordinator = stack.coordinator
        let changes = Postings(.NSManagedObjectContextObjectsDidChange, of: follower)
        _ = context.make("Patient", ["name": "Ada"])
        try context.save()
        follower.drain()
        #expect(changes.infos.count == 1)
    }

    @Test("10.5 A child follows what a sibling saves into their parent")
    func siblings() throws {
        let one = context.child(), two = context.child()
        two.automaticallyMergesChangesFromParent = true
        let changes = Postings(.NSManagedObjectContextObjectsDidChange, of: two)
        let patient = one.make("Patient", ["name": "Ada"])
        try one.save()
        two.drain()
        #expect(changes.objects(0, NSInsertedObjectsKey).count == 1)
        let mine = two.same(patient)
        #expect(mine.name == "Ada")
        patient.setValue("Bo", forKey: "name")
        try one.save()
        two.drain()
        #expect(mine.name == "Bo")
    }

    @Test("Changes made elsewhere are merged by ID or URI", arguments: [false, true])
    func remote(_ asURIs: Bool) throws {
        let patient = context.make("Patient", ["name": "old"]), doomed = context.make("Patient", ["name": "doomed"])
        try context.save()
        let third = stack.another()
        let mine = [other, third].map { $0.same(patient) }, gone = [other, third].map { $0.same(doomed) }
        #expect(mine.map(\.name) == ["old", "old"])
        patient.setValue("new", forKey: "name")
        context.delete(doomed)
        try context.save()
        func named(_ id: NSManagedObjectID) -> [Any] { [asURIs ? id.uriRepresentation() as Any : id] }
        NSManagedObjectContext.mergeChanges(
            fromRemoteContextSave: [
                NSUpdatedObjectIDsKey: named(patient.objectID), NSDeletedObjectsKey: named(doomed.objectID),
            ], into: [other, third])
        #expect(mine.map(\.name) == ["new", "new"])
        #expect(gone.allSatisfy { $0.managedObjectContext == nil })
    }

    @Test("A merge of IDs does what a merge of objects does")
    func ids() throws {
        let patient = context.make("Patient", ["name": "old"])
        try context.save()
        let mine = other.same(patient)
        #expect(mine.name == "old")
        let note = NoteBox(NSManagedObjectContext.didSaveObjectIDsNotification, of: context)
        patient.setValue("new", forKey: "name")
        try context.save()
        other.mergeChanges(fromContextDidSave: try #require(note.last))
        #expect(mine.name == "new")
    }

    @Test("10.5 A context that merges by itself keeps its unsaved changes and saves them without a conflict")
    func localWins() throws {
        let patient = context.make("Patient", ["name": "Ada", "age": 1])
        try context.save()
        other.automaticallyMergesChangesFromParent = true
        let mine = other.same(patient)
        mine.setValue("mine", forKey: "name")
        patient.setValue("theirs", forKey: "name")
        patient.setValue(2, forKey: "age")
        try context.save()
        other.drain()
        #expect(mine.name == "mine" && mine.value(forKey: "age") as? Int == 2)
        #expect(Array(mine.changedValues().keys) == ["name"])
        try other.save()
        let stored = try stack.another().existingObject(with: patient.objectID)
        #expect(stored.name == "mine" && stored.value(forKey: "age") as? Int == 2)
    }

    @Test("10.4 A merged deletion takes unsaved changes along; URIs of other stores are passed over")
    func remoteKinds() throws {
        let patient = context.make("Patient", ["name": "Ada"]), ward = context.make("Ward", ["name": "East"])
        patient.setValue(ward, forKey: "ward")
        try context.save()
        let mine = other.same(patient), here = other.same(ward)
        mine.setValue("changed", forKey: "name")
        here.setValue("West", forKey: "name")
        context.delete(patient)
        let new = context.make("Patient", ["name": "Bo"])
        try context.save()
        let foreign = try Stack(undo: false)
        let stranger = foreign.context.make("Patient", ["name": "Cy"])
        try foreign.context.save()
        NSManagedObjectContext.mergeChanges(
            fromRemoteContextSave: [
                NSInsertedObjectIDsKey: Set([new.objectID.uriRepresentation()]),
                NSDeletedObjectIDsKey: [patient.objectID.uriRepresentation(), stranger.objectID.uriRepresentation()],
                NSUpdatedObjectIDsKey: [stranger.objectID, ward.objectID],
            ], into: [other])
        #expect(mine.managedObjectContext == nil && other.updatedObjects == [here])
        #expect(other.same(new).name == "Bo")
        #expect(here.members("patients").isEmpty)
        try other.save()
        #expect(try stack.another().names("Ward") == ["West"])
        #expect(try stack.another().names() == ["Bo"])
    }

    @Test("10.4 Objects of another coordinator are known by their store, whatever its place among the stores there")
    func otherCoordinator() throws {
        let patient = context.make("Patient", ["name": "old"])
        try context.save()
        let coordinator = try NSPersistentStoreCoordinator(
            stack.coordinator.managedObjectModel, NSInMemoryStoreType, at: nil)
        _ = try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: stack.folder.file("store.sqlite"))
        let far = coordinator.context()
        let mine = try #require(try far.named("old"))
        let note = NoteBox(.NSManagedObjectContextDidSave, of: context)
        patient.setValue("new", forKey: "name")
        try context.save()
        far.mergeChanges(fromContextDidSave: try #require(note.last))
        #expect(mine.name == "new")
    }

    @Test("1.13 A merge leaves transient values and members alone", arguments: [false, true])
    func transients(_ isChanged: Bool) throws {
        var draft = Clinic.draft()
        var guests = Clinic.toMany("guests", "Doctor", inverse: nil)
        guests.isTransient = true
        draft.entities[0].attributes.append(Clinic.attribute("mood", .integer32, transient: true))
        draft.entities[0].relationships.append(guests)
        let stack = try Stack(model: NSManagedObjectModel(draft: draft), undo: false)
        let context = stack.context, other = stack.another()
        let patient = context.make("Patient", ["name": "Ada"]), doctor = context.make("Doctor", ["name": "Who"])
        try context.save()
        let mine = other.same(patient)
        mine.setValue(9, forKey: "mood")
        mine.setValue(NSSet(object: other.same(doctor)), forKey: "guests")
        try other.save()
        if isChanged { mine.setValue(5, forKey: "age") }
        let note = NoteBox(.NSManagedObjectContextDidSave, of: context)
        patient.setValue("Eve", forKey: "name")
        try context.save()
        other.mergeChanges(fromContextDidSave: try #require(note.last))
        #expect(mine.name == "Eve")
        #expect(mine.value(forKey: "mood") as? Int == 9)
        #expect(mine.members("guests").compactMap(\.name) == ["Who"])
    }
}
