// Calls to objects, their classes, and a log of notifications.

import CoreDataTestSupport
import Foundation
import Testing

@testable import CoreData

/// What objects are told, in which order and how often; and which class they have.
@Suite struct LifeCycleTests {
    @Test("Insert, save, fetch and delete call an object in Core Data's order")
    func order() throws {
        let stack = try Stack(model: Watched.model())
        let context = stack.context
        let patient = try #require(context.make("Patient", ["name": "Ada"]) as? Watched)
        try context.save()
        #expect(patient.calls == ["awakeFromInsert", "willSave", "validateForInsert", "didSave"])
        patient.calls = []
        patient.setValue("Bo", forKey: "name")
        try context.save()
        #expect(patient.calls == ["willSave", "validateForUpdate", "didSave"])
        patient.calls = []
        context.delete(patient)
        #expect(patient.calls == ["prepareForDeletion"])
        try context.save()
        #expect(patient.calls == ["prepareForDeletion", "willSave", "validateForDelete", "didSave"])
        #expect(!patient.isDeleted)
        #expect(patient.managedObjectContext == nil)
    }

    @Test("awakeFromFetch runs once for each fulfilled fault and its writes are no changes")
    func fetch() throws {
        let stack = try Stack(model: Watched.model())
        _ = stack.context.make("Patient", ["name": "Ada"])
        try stack.context.save()
        let other = stack.another()
        let found = try #require(try other.all("Patient").first as? Watched)
        #expect(found.calls.isEmpty)
        #expect(found.value(forKey: "name") as? String == "Ada")
        #expect(found.value(forKey: "age") == nil)
        #expect(found.calls == ["awakeFromFetch"])
        other.refresh(found, mergeChanges: false)
        _ = found.value(forKey: "name")
        #expect(found.calls == ["awakeFromFetch", "awakeFromFetch"])
        #expect(!other.hasChanges)
    }

    @Test("1.7 A change in willSave is saved, and willSave is called again for it")
    func changeInWillSave() throws {
        let stack = try Stack(model: Watched.model())
        let patient = try #require(stack.context.make("Patient", ["name": "Ada"]) as? Watched)
        patient.atWillSave = { $0.setValue(36, forKey: "age") }
        try stack.context.save()
        #expect(patient.calls.filter { $0 == "willSave" }.count == 2)
        #expect(try stack.another().all("Patient").first?.value(forKey: "age") as? Int == 36)
        #expect(!stack.context.hasChanges)
    }

    @Test("1.9 didSave comes before the did-save notification, willSave before the write")
    func notificationOrder() throws {
        let stack = try Stack(model: Watched.model())
        let patient = try #require(stack.context.make("Patient", ["name": "Ada"]) as? Watched)
        let log = NotificationLog(stack.context)
        log.onEach = { patient.calls.append($0) }
        try stack.context.save()
        #expect(
            patient.calls == [
                "awakeFromInsert", "didChange", "willSave", "validateForInsert", "willSave:", "didSave",
                "didSave:",
            ])
    }

    @Test("A model's class name is found as Module.Class", arguments: ["CoreDataTestSupport.Watched"])
    func qualified(_ name: String) throws {
        let stack = try Stack(model: Watched.model(name))
        #expect(stack.context.make("Patient") is Watched)
    }

    @Test("A class that the model names without a module is bound when the program first names it")
    func bound() throws {
        let stack = try Stack(model: Watched.model("Watched"))
        let patient = Watched(context: stack.context)
        #expect(patient.entity.name == "Patient")
        patient.setValue("Ada", forKey: "name")
        try stack.context.save()
        #expect(try stack.another().all("Patient").first is Watched)
    }
}
