import CoreDataTestSupport
import Foundation
import Testing

@testable import CoreData

@Suite struct ContextTests {
    @Test("What one context saves, another reads, of every attribute type")
    func roundTrip() throws {
        let stack = try Stack()
        let tag = UUID()
        let values: [String: Any] = [
            "name": "Ada", "age": 36, "weight": 61.5, "born": Date(timeIntervalSinceReferenceDate: 1000), "tag": tag,
            "photo": Data([1, 2, 3]), "fee": NSDecimalNumber(string: "10.11"),
            "link": URL(string: "https://example.org/ada") as Any, "awake": true,
        ]
        let patient = stack.context.make("Patient", values)
        #expect(patient.objectID.isTemporaryID)
        #expect(stack.context.hasChanges)
        try stack.context.save()
        #expect(!stack.context.hasChanges)
        #expect(!patient.objectID.isTemporaryID)
        let other = stack.another()
        let found = try #require(try other.all("Patient").first)
        #expect(found.value(forKey: "name") as? String == "Ada")
        #expect(found.value(forKey: "age") as? Int == 36)
        #expect(found.value(forKey: "weight") as? Double == 61.5)
        #expect(found.value(forKey: "born") as? Date == Date(timeIntervalSinceReferenceDate: 1000))
        #expect(found.value(forKey: "tag") as? UUID == tag)
        #expect(found.value(forKey: "photo") as? Data == Data([1, 2, 3]))
        #expect((found.value(forKey: "fee") as? NSDecimalNumber)?.stringValue == "10.11")
        #expect(found.value(forKey: "link") as? URL == URL(string: "https://example.org/ada"))
        #expect(found.value(forKey: "awake") as? Bool == true)
    }

    @Test("Relationships are kept on both sides and read back")
    func relationships() throws {
        let stack = try Stack()
        let context = stack.context
        let ward = context.make("Ward", ["name": "North"])
        let doctors = ["Bo", "Eve"].map { context.make("Doctor", ["name": $0]) }
        let patient = context.make("Patient", ["name": "Ada", "ward": ward])
        patient.setValue(Set(doctors), forKey: "doctors")
        let visits = (0..<4).map { context.make("Visit", ["note": "\($0)"]) }
        patient.setValue(NSOrderedSet(array: visits.reversed()), forKey: "visits")
        #expect((ward.value(forKey: "patients") as? NSSet)?.contains(patient) == true)
        #expect((doctors[0].value(forKey: "patients") as? NSSet)?.contains(patient) == true)
        #expect(visits[2].value(forKey: "patient") as? NSManagedObject === patient)
        try context.save()
        let other = stack.another()
        let found = try #require(try other.all("Patient").first)
        #expect((found.value(forKey: "ward") as? NSManagedObject)?.value(forKey: "name") as? String == "North")
        let names = (found.value(forKey: "doctors") as? NSSet)?.compactMap {
            ($0 as? NSManagedObject)?.value(forKey: "name") as? String
        }
        #expect(names?.sorted() == ["Bo", "Eve"])
        let notes = (found.value(forKey: "visits") as? NSOrderedSet)?.array.compactMap {
            ($0 as? NSManagedObject)?.value(forKey: "note") as? String
        }
        #expect(notes == ["3", "2", "1", "0"])
    }

    @Test("Undo and redo take an insertion, a change and a deletion back and forth")
    func undo() throws {
        let stack = try Stack()
        let context = stack.context
        let patient = context.make("Patient", ["name": "Ada"])
        context.processPendingChanges()
        context.undo()
        #expect(context.insertedObjects.isEmpty)
        #expect(!context.hasChanges)
        context.redo()
        #expect(context.insertedObjects == [patient])
        #expect(patient.value(forKey: "name") as? String == "Ada")
        try context.save()
        patient.setValue("Bo", forKey: "name")
        context.undo()
        #expect(patient.value(forKey: "name") as? String == "Ada")
        #expect(!context.hasChanges)
        context.redo()
        #expect(patient.value(forKey: "name") as? String == "Bo")
        try context.save()
        context.undo()
        #expect(patient.value(forKey: "name") as? String == "Ada")
        #expect(context.hasChanges)
        try context.save()
        context.delete(patient)
        context.processPendingChanges()
        try context.save()
        #expect(try context.all("Patient").isEmpty)
        context.undo()
        #expect(context.insertedObjects == [patient])
        try context.save()
        #expect(try stack.another().all("Patient").first?.value(forKey: "name") as? String == "Ada")
    }
}
