// Contexts over every type of store: what is saved is there again.

import CoreDataTestSupport
import CoreDataValues
import Testing

@testable import CoreData

@Suite struct StoreTypeTests {
    static let kept = [
        NSSQLiteStoreType, NSBinaryStoreType, NSXMLStoreType, NSPropertyListStoreType, BoxStore.type, ShelfStore.type,
    ]

    private func fill(_ context: NSManagedObjectContext) throws {
        let ward = context.make("Ward", ["name": "North", "beds": 4])
        let doctors = ["Ada", "Bo"].map { context.make("Doctor", ["name": $0]) }
        let values: [String: Any] = [
            "name": "Eve", "age": 41, "weight": 61.25, "born": Date(timeIntervalSinceReferenceDate: 0.125),
            "tag": UUID(uuidString: "00112233-4455-6677-8899-AABBCCDDEEFF") as Any, "photo": Data([0, 1, 255]),
            "fee": NSDecimalNumber(string: "12.345"), "link": URL(string: "https://example.org/a") as Any,
            "awake": true,
        ]
        let patient = context.make("Patient", values)
        patient.setValue(ward, forKey: "ward")
        patient.setValue(Set(doctors), forKey: "doctors")
        let visits = ["first", "second", "third"].map { context.make("Visit", ["note": $0]) }
        patient.setValue(NSOrderedSet(array: [visits[2], visits[0], visits[1]]), forKey: "visits")
        context.make("Bed", ["number": 7]).setValue(patient, forKey: "patient")
        try context.save()
    }

    private func text(_ context: NSManagedObjectContext) throws -> [String] {
        let patient = try #require(try context.all("Patient").first)
        let plain = ["name", "age", "weight", "born", "tag", "photo", "fee", "link", "awake"].map { key in
            switch patient.value(forKey: key) {
            case let date as Date: "\(date.timeIntervalSinceReferenceDate)"
            case let data as Data: "\(Array(data))"
            case let value?: "\(value)"
            case nil: "nil"
            }
        }
        let visits = (patient.value(forKey: "visits") as? NSOrderedSet)?.array.compactMap { visit in
            (visit as? NSManagedObject)?.value(forKey: "note") as? String
        }
        let doctors = (patient.value(forKey: "doctors") as? NSSet)?.allObjects.compactMap { doctor in
            (doctor as? NSManagedObject)?.value(forKey: "name") as? String
        }
        let ward = patient.value(forKey: "ward") as? NSManagedObject
        let bed = patient.value(forKey: "bed") as? NSManagedObject
        return plain + [
            "\(visits ?? [])", "\((doctors ?? []).sorted())", "\(ward?.value(forKey: "name") ?? "")",
            "\(bed?.value(forKey: "number") ?? "")", "\(ward?.entity.name ?? "")",
        ]
    }

    static let expected = [
        "Eve", "41", "61.25", "0.125", "00112233-4455-6677-8899-AABBCCDDEEFF", "[0, 1, 255]", "12.345",
        "https://example.org/a", "1", "[\"third\", \"first\", \"second\"]", "[\"Ada\", \"Bo\"]", "North", "7", "Ward",
    ]

    @Test("A graph comes back from the store in a second coordinator", arguments: kept)
    func roundTrip(_ type: String) throws {
        let first = Rig()
        let store = try first.add(type)
        try fill(first.context())
        #expect(try text(first.context()) == Self.expected)
        let uuid = try #require(store.identifier)
        try first.coordinator.remove(store)
        let second = Rig(in: first.folder)
        #expect(try second.add(type).identifier == uuid)
        #expect(try text(second.context()) == Self.expected)
    }

    @Test("Changes and deletions are kept, and the objects' URIs find them again", arguments: kept)
    func changes(_ type: String) throws {
        let first = Rig()
        let store = try first.add(type)
        let context = first.context()
        try fill(context)
        let patient = try #require(try context.all("Patient").first)
        let uri = patient.objectID.uriRepresentation()
        patient.setValue("Eva", forKey: "name")
        patient.setValue(nil, forKey: "ward")
        let visits = (patient.value(forKey: "visits") as? NSOrderedSet)?.array ?? []
        patient.setValue(NSOrderedSet(array: Array(visits.reversed())), forKey: "visits")
        for doctor in try context.all("Doctor") where doctor.value(forKey: "name") as? String == "Ada" {
            context.delete(doctor)
        }
        try context.save()
        patient.setValue(42, forKey: "age")
        try context.save()
        try first.coordinator.remove(store)

        let second = Rig(in: first.folder)
        try second.add(type)
        let again = second.context()
        let id = try #require(second.coordinator.managedObjectID(forURIRepresentation: uri))
        let found = try again.existingObject(with: id)
        #expect(found.value(forKey: "name") as? String == "Eva" && found.value(forKey: "age") as? Int == 42)
        #expect(try text(again)[9...] == ["[\"second\", \"first\", \"third\"]", "[\"Bo\"]", "", "7", ""])
        #expect(try again.all("Doctor").count == 1)
    }

    @Test(
        "A second context that changes the same object is refused with a conflict",
        arguments: kept + [NSInMemoryStoreType])
    func conflict(_ type: String) throws {
        let rig = Rig()
        try rig.add(type)
        let first = rig.context()
        try fill(first)
        let second = rig.context()
        let mine = try #require(try first.all("Patient").first)
        let theirs = try #require(try second.all("Patient").first)
        _ = theirs.value(forKey: "name")
        mine.setValue("mine", forKey: "name")
        try first.save()
        theirs.setValue("theirs", forKey: "name")
        #expect(code { try second.save() } == 133020)
        mine.setValue("mine again", forKey: "name")
        try first.save()
    }

    @Test("A predicate and an order reach every type of store", arguments: kept + [NSInMemoryStoreType])
    func fetches(_ type: String) throws {
        let rig = Rig()
        try rig.add(type)
        let context = rig.context()
        let ward = context.make("Ward", ["name": "North"])
        for (name, age) in [("Ann", 3), ("Bob", 1), ("Cid", 2), ("Dan", 9)] {
            context.make("Patient", ["name": name, "age": age]).setValue(age < 9 ? ward : nil, forKey: "ward")
        }
        try context.save()
        let request = NSFetchRequest<NSManagedObject>("Patient", "ward.name == %@ AND age > 1", "North", by: "age")
        let other = rig.context()
        #expect(try other.fetch(request).map { $0.value(forKey: "name") as? String } == ["Cid", "Ann"])
        request.predicate = NSPredicate(format: "ward == %@", ward)
        #expect(try context.count(for: request) == 3)
        request.fetchLimit = 1
        request.fetchOffset = 1
        #expect(try context.fetch(request).first?.value(forKey: "name") as? String == "Cid")
    }

    @Test("A store opened read-only is read, refuses saves and stays as it is", arguments: kept)
    func readOnly(_ type: String) throws {
        let first = Rig()
        let store = try first.add(type)
        try fill(first.context())
        try first.coordinator.remove(store)
        let second = Rig(in: first.folder)
        let opened = try second.add(type, options: [NSReadOnlyPersistentStoreOption: true])
        #expect(opened.isReadOnly)
        let context = second.context()
        #expect(try text(context) == Self.expected)
        let patient = try #require(try context.all("Patient").first)
        patient.setValue("changed", forKey: "name")
        #expect(code { try context.save() } == 134030)
        context.rollback()
        _ = context.make("Doctor", ["name": "New"])
        #expect(code { try context.save() } == 134070)
        #expect(try text(second.context()) == Self.expected)
    }

    @Test(
        "A store that is not there is not made read-only",
        arguments: [NSSQLiteStoreType, NSBinaryStoreType, NSXMLStoreType])
    func absentReadOnly(_ type: String) {
        let rig = Rig()
        #expect(code { try rig.add(type, options: [NSReadOnlyPersistentStoreOption: true]) } == 134080)
        #expect(!FileManager.default.fileExists(atPath: rig.folder.file("store").path))
    }
}
