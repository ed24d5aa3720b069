// Reads that fail: inside a getter, in `fulfill`, and what a save makes of them.

import CoreDataTestSupport
import Foundation
import Testing

@testable import CoreData

@Suite struct ReadErrorTests {
    private func underlying(_ error: CocoaError?) -> Int? {
        (error?.userInfo[NSUnderlyingErrorKey] as? CocoaError)?.code.rawValue
    }

    @Test("The next save, fetch or count throws what a getter could not, once, with the object and the key")
    func getter() throws {
        let hospital = try Hospital(5)
        _ = try hospital.spoil(3)
        let context = hospital.context
        let patients = try hospital.fetch(values: false)
        let request = NSFetchRequest<NSManagedObject>(entityName: "Ward")
        let doors: [(String, () throws -> Void)] = [
            ("age", { try context.save() }), ("name", { _ = try context.fetch(request) }),
            ("ward", { _ = try context.count(for: request) }),
        ]
        for (key, door) in doors {
            #expect(patients[3].value(forKey: key) == nil)
            #expect(patients[3].value(forKey: "fee") == nil, "the first error is kept")
            #expect(patients[3].isFault)
            let thrown = caught(door)
            #expect(thrown?.code.rawValue == 134060)
            #expect(underlying(thrown) == 134180)
            #expect(thrown?.affectedObjects?.first as? NSManagedObjectID == hospital.ids[3])
            #expect(thrown?.validationKey == key)
            #expect(caught(door) == nil, "it is thrown once")
        }
    }

    @Test("A row that cannot be read spoils none beside it")
    func neighbours() throws {
        let hospital = try Hospital(40)
        let mend = try hospital.spoil(7)
        let patients = try hospital.fetch(values: false)
        for index in 0..<40 where index != 7 { #expect(patients[index].name == "\(index)") }
        try hospital.context.save()
        #expect(patients[7].name == nil)
        #expect(throws: CocoaError.self) { try hospital.context.save() }
        try mend()
        #expect(patients[7].name == "7")
        try hospital.context.save()
    }

    @Test("4.12 Told not to delete what is gone, a getter leaves 134060 with 133000 below it and the key")
    func missing() throws {
        let hospital = try Hospital(2)
        let context = hospital.context
        context.shouldDeleteInaccessibleFaults = false
        let patient = context.object(with: hospital.ids[1])
        hospital.stack.context.delete(hospital.stack.context.object(with: hospital.ids[1]))
        try hospital.stack.context.save()
        #expect(patient.name == nil)
        #expect(!patient.isDeleted)
        let thrown = caught { try context.save() }
        #expect(thrown?.code.rawValue == 134060)
        #expect(underlying(thrown) == 133000)
        #expect(thrown?.validationKey == "name")
        #expect(patient.isFault && !context.hasChanges)
        #expect(patient.name == nil)
        #expect(underlying(caught { try context.save() }) == 133000, "Each read is an error.")
        try context.save()
    }

    @Test(
        "fulfill throws 134060 with 133000 for a row that is gone, and the store's own code for one that cannot be read"
    )
    func fulfill() throws {
        let hospital = try Hospital(3)
        let context = hospital.context
        context.shouldDeleteInaccessibleFaults = false
        let patients = hospital.ids.map { context.object(with: $0) }
        let mend = try hospital.spoil(0)
        let unreadable = caught { try context.fulfill(patients) }
        #expect(unreadable?.code.rawValue == 134180)
        #expect(unreadable?.validationKey == "tag")
        #expect(patients[0].isFault)
        try mend()
        hospital.stack.context.delete(hospital.stack.context.object(with: hospital.ids[1]))
        try hospital.stack.context.save()
        let gone = caught { try context.fulfill(patients) }
        #expect(gone?.code.rawValue == 134060)
        #expect(underlying(gone) == 133000)
        #expect(gone?.affectedObjects?.first as? NSManagedObjectID == hospital.ids[1])
        #expect(patients[0].name == "0")
        #expect(underlying(caught { try context.fulfill(patients) }) == 133000, "It is still gone.")
        try context.fulfill([patients[0], patients[2]])
    }

    @Test("A change of an object whose row cannot be read is not written until it can")
    func saveOverUnreadable() throws {
        let hospital = try Hospital(3)
        let context = hospital.context
        let patient = context.object(with: hospital.ids[1])
        let mend = try hospital.spoil(1)
        patient.setValue("Grace", forKey: "name")
        let first = caught { try context.save() }
        #expect(first?.code.rawValue == 134060)
        #expect(first?.validationKey == "name")
        let second = caught { try context.save() }
        #expect(second?.code.rawValue == 134060, "the row still cannot be read")
        #expect(underlying(second) == 134180)
        #expect(context.hasChanges)
        try mend()
        let witness = hospital.stack.another()
        #expect(witness.object(with: hospital.ids[1]).name == "1", "nothing was written")
        try context.save()
        let reader = hospital.stack.another()
        let saved = reader.object(with: hospital.ids[1])
        #expect(saved.name == "Grace")
        #expect(saved.value(forKey: "age") as? Int == 1, "what was not read is not lost")
    }

    @Test(
        "A read that fails inside a getter is thrown by the next save, with its cause, object and key",
        .timeLimit(.minutes(30)))
    func failedGetter() throws {
        let stack = try Stack()
        let ward = stack.context.make("Ward", ["name": "North"])
        try stack.context.save()
        let other = stack.another()
        other.stalenessInterval = 0
        let fault = other.object(with: ward.objectID)
        let store = try #require(stack.coordinator.persistentStores.first)
        try store.rows.close()
        #expect(fault.value(forKey: "name") == nil)
        _ = other.make("Doctor", ["name": "Eve"])
        let error = #expect(throws: CocoaError.self) { try other.save() }
        #expect(error?.code.rawValue == 134060)
        #expect(error?.userInfo[NSUnderlyingErrorKey] is CocoaError)
        #expect(error?.userInfo[NSAffectedObjectsErrorKey] as? [NSManagedObjectID] == [ward.objectID])
    }
}
