// What programs' own stores are handed when two contexts write.

import CoreDataTestSupport
import CoreDataValues
import Testing

@testable import CoreData

@Suite struct TwoWriterStoreTests {
    /// A patient without a ward and two wards, which two contexts know; the second one has read the patient.
    private func moved(
        _ type: String, _ policy: NSMergePolicy
    ) throws -> (rig: Rig, contexts: [NSManagedObjectContext], patients: [NSManagedObject], wards: [[NSManagedObject]])
    {
        NSPersistentStoreCoordinator.registerStoreClass(ListeningStore.self, forStoreType: ListeningStore.type)
        let rig = Rig()
        try rig.add(type)
        let contexts = [rig.context(), rig.context()]
        contexts[1].mergePolicy = policy
        let patient = contexts[0].make("Patient", ["name": "Eve"])
        let wards = ["one", "two"].map { contexts[0].make("Ward", ["name": $0]) }
        try contexts[0].save()
        let theirs = contexts[1].object(with: patient.objectID)
        #expect(theirs.value(forKey: "ward") == nil)
        return (
            rig, contexts, [patient, theirs],
            contexts.map { context in wards.map { context.object(with: $0.objectID) } }
        )
    }

    @Test(
        "A store is handed the former owner of a member that another context moved meanwhile",
        arguments: [ShelfStore.type, BoxStore.type, ListeningStore.type], [true, false])
    func formerOwner(_ type: String, _ trumps: Bool) throws {
        let (rig, contexts, patients, wards) = try moved(type, trumps ? .mergeByPropertyObjectTrump : .error)
        if !trumps { patients[1].setValue(wards[1][0], forKey: "ward") }
        patients[0].setValue(wards[0][0], forKey: "ward")
        try contexts[0].save()
        if !trumps { contexts[1].refreshAllObjects() }
        patients[1].setValue(wards[1][1], forKey: "ward")
        let store = rig.coordinator.persistentStores[0]
        (store as? ListeningStore)?.lines = []
        try contexts[1].save()
        if let store = store as? ListeningStore {
            #expect(store.lines.sorted() == ["update N-Eve u [\"ward\"]", "update N-one u []", "update N-two u []"])
        } else if let store = store as? BoxStore {
            let nodes = wards[0].compactMap { store.cacheNode(for: $0.objectID) }
            #expect(nodes.map { ($0.value(forKey: "patients") as? NSSet)?.count } == [0, 1])
        } else {
            let reader = rig.context()
            let read = try reader.all("Ward").sorted { $0.name < $1.name }
            #expect(read.map { ($0.value(forKey: "patients") as? NSSet)?.count } == [0, 1])
            let rows = Shelf.at(try #require(store.url)).rows.values.filter { $0.entity == "Ward" }
            #expect(rows.map { $0.links["patients"]?.count ?? 0 }.sorted() == [0, 1])
        }
        guard !trumps else { return }
        // The store may count that as a change of the ward, which nobody has changed: no conflict with who has read it before.
        wards[0][0].setValue("first", forKey: "name")
        try contexts[0].save()
    }

    @Test("A store is handed the owner of a member that is deleted, also where another context put it there")
    func ownerOfDeleted() throws {
        let (rig, contexts, patients, wards) = try moved(ListeningStore.type, .mergeByPropertyObjectTrump)
        patients[0].setValue(wards[0][0], forKey: "ward")
        try contexts[0].save()
        let store = try #require(rig.coordinator.persistentStores[0] as? ListeningStore)
        store.lines = []
        contexts[1].delete(patients[1])
        try contexts[1].save()
        #expect(store.lines.sorted() == ["delete N-Eve", "update N-one u []"])
    }

    @Test(
        "A store is handed those that a deleted object was paired with by another context",
        arguments: [ShelfStore.type, BoxStore.type])
    func partnerOfDeleted(_ type: String) throws {
        let rig = Rig()
        let store = try rig.add(type)
        let (first, second) = (rig.context(), rig.context())
        second.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        let patient = first.make("Patient", ["name": "Eve"]), doctor = first.make("Doctor", ["name": "Who"])
        try first.save()
        let theirs = second.object(with: patient.objectID)
        #expect(theirs.name == "Eve")
        doctor.mutableSetValue(forKey: "patients").add(patient)
        try first.save()
        second.delete(theirs)
        try second.save()
        let reader = rig.context()
        #expect(try reader.all("Patient").isEmpty)
        #expect((reader.object(with: doctor.objectID).value(forKey: "patients") as? NSSet)?.count == 0)
        if let store = store as? BoxStore {
            #expect((store.cacheNode(for: doctor.objectID)?.value(forKey: "patients") as? NSSet)?.count == 0)
        } else {
            #expect(Shelf.at(try #require(store.url)).rows.values.map { $0.links["patients"] } == [[]])
        }
    }

    @Test("A store is not handed rows that are gone", arguments: [ShelfStore.type, BoxStore.type], 0..<4)
    func goneRows(_ type: String, _ policy: Int) throws {
        let policies: [NSMergePolicy] = [
            .mergeByPropertyStoreTrump, .rollback, .mergeByPropertyObjectTrump, .overwrite,
        ]
        // The last two write a changed object again.
        for deletes in policy < 2 ? [true, false] : [true] {
            let rig = Rig()
            let store = try rig.add(type)
            let (first, second) = (rig.context(), rig.context())
            second.mergePolicy = policies[policy]
            let patient = first.make("Patient", ["name": "Eve"]), doctor = first.make("Doctor", ["name": "Who"])
            let visits = [first.make("Visit", ["note": "one"]), first.make("Visit", ["note": "two"])]
            patient.setValue(NSSet(object: doctor), forKey: "doctors")
            patient.setValue(NSOrderedSet(array: visits), forKey: "visits")
            try first.save()
            let (theirs, who) = (second.object(with: patient.objectID), second.object(with: doctor.objectID))
            #expect((theirs.value(forKey: "doctors") as? NSSet)?.count == 1 && theirs.name == "Eve")
            #expect((theirs.value(forKey: "visits") as? NSOrderedSet)?.count == 2)
            #expect((who.value(forKey: "patients") as? NSSet)?.count == 1 && who.name == "Who")
            first.delete(patient)
            try first.save()
            if deletes {
                second.delete(theirs)
            } else {
                who.mutableSetValue(forKey: "patients").remove(theirs)
            }
            try second.save()
            let reader = rig.context()
            #expect(try reader.all("Patient").isEmpty)
            if type == ShelfStore.type {
                #expect(!Shelf.at(try #require(store.url)).rows.values.contains { $0.entity == "Patient" })
            }
            #expect((try reader.all("Doctor").first?.value(forKey: "patients") as? NSSet)?.count == 0)
        }
    }

    @Test(
        "5.6 5.7 A refresh that keeps changes shows members that another context has added since",
        arguments: [ShelfStore.type, BoxStore.type, NSSQLiteStoreType], [true, false])
    func refreshedMembers(_ type: String, _ refreshesAll: Bool) throws {
        let rig = Rig()
        try rig.add(type)
        let (first, second) = (rig.context(), rig.context())
        let patient = first.make("Patient", ["name": "Eve"]), doctor = first.make("Doctor", ["name": "Who"])
        try first.save()
        patient.setValue(30, forKey: "age")
        #expect((patient.value(forKey: "doctors") as? NSSet)?.count == 0)
        second.object(with: patient.objectID).mutableSetValue(forKey: "doctors").add(
            second.object(with: doctor.objectID))
        try second.save()
        if refreshesAll { first.refreshAllObjects() } else { first.refresh(patient, mergeChanges: true) }
        #expect(
            (patient.value(forKey: "doctors") as? NSSet)?.contains(doctor) == true
                && patient.value(forKey: "age") as? Int == 30)
    }
}
