// What a batch request changes for objects that it does not name: owners of members, and lists of what nobody holds.

import CoreDataTestSupport
import CoreDataValues
import Foundation
import Testing

@testable import CoreData

@Suite("Owners beside batch requests") struct BatchOwnerTests {
    private func names(_ value: Any?) -> [String] {
        let members = (value as? NSSet)?.allObjects ?? (value as? NSOrderedSet)?.array ?? value as? [Any] ?? []
        return members.compactMap { ($0 as? NSManagedObject)?.value(forKey: "name") as? String }.sorted()
    }

    @Test(
        "9.2 A batch deletion takes what it deleted out of the to-manys that have it, and leaves no change",
        arguments: [
            NSSQLiteStoreType, NSInMemoryStoreType,
        ], [false, true])
    func deletion(_ type: String, isMerged: Bool) throws {
        let stack = try Stack(type, undo: false)
        let context = stack.context
        let (patient, doctor, ward) = (
            context.make("Patient", ["name": "p"]), context.make("Doctor", ["name": "d"]),
            context.make("Ward", ["name": "w"])
        )
        patient.setValue(NSSet(object: doctor), forKey: "doctors")
        patient.setValue(ward, forKey: "ward")
        try context.save()
        let request = NSBatchDeleteRequest(objectIDs: [patient.objectID])
        request.resultType = .resultTypeObjectIDs
        request.refreshesRegisteredObjects = !isMerged
        let ids = try (context.execute(request) as? NSBatchDeleteResult)?.result as? [NSManagedObjectID] ?? []
        if isMerged {
            NSManagedObjectContext.mergeChanges(fromRemoteContextSave: [NSDeletedObjectIDsKey: ids], into: [context])
        }
        #expect(names(doctor.value(forKey: "patients")) == [] && names(ward.value(forKey: "patients")) == [])
        #expect(
            (doctor.value(forKey: "patients") as? NSSet)?.count == 0
                && (ward.value(forKey: "patients") as? NSSet)?.count == 0)
        #expect(context.deletedObjects.isEmpty && !context.hasChanges)
        withExtendedLifetime(patient) {}
    }

    @Test("9.2 A deletion of another coordinator's objects is refused, whatever entities there are")
    func foreign() throws {
        let stack = try Stack(undo: false)
        var only = EntityDraft(name: "Only")
        only.attributes = [Clinic.attribute("name", .string)]
        let other = try Stack(model: NSManagedObjectModel(only), undo: false)
        let ids = try [stack.saved().objectID, stack.saved().objectID]
        for context in [other.context, try Stack(undo: false).context] {
            let error = #expect(throws: CocoaError.self) { try context.execute(NSBatchDeleteRequest(objectIDs: ids)) }
            #expect(error?.code.rawValue == 134060 && "\(error as Any)".contains("of another coordinator"))
        }
    }

    @Test(
        "9.3 A batch update of a to-one is seen by both owners, the former and the new one",
        arguments: [
            NSSQLiteStoreType, NSInMemoryStoreType,
        ], [false, true])
    func update(_ type: String, reads: Bool) throws {
        let stack = try Stack(type, undo: false)
        let context = stack.context
        let wards = ["w1", "w2"].map { context.make("Ward", ["name": $0]) }
        let patients = ["p", "q"].map { context.make("Patient", ["name": $0]) }
        for (patient, ward) in zip(patients, wards) { patient.setValue(ward, forKey: "ward") }
        try context.save()
        if reads { for ward in wards { _ = names(ward.value(forKey: "patients")) } }
        let request = NSBatchUpdateRequest(entityName: "Patient")
        request.propertiesToUpdate = ["ward": wards[1].objectID]
        request.refreshesRegisteredObjects = true
        _ = try context.execute(request)
        #expect(wards.map { names($0.value(forKey: "patients")) } == [[], ["p", "q"]])
        #expect(!context.hasChanges)
        withExtendedLifetime(patients) {}
    }

    @Test(
        "15.5 A controller takes in rows that nobody holds when they come to fit, by a batch request or by another context's save",
        arguments: [
            NSSQLiteStoreType, NSInMemoryStoreType,
        ], ["batch", "save", "ids"])
    func controllers(_ type: String, way: String) throws {
        let stack = try Stack(type, model: Shelf.model(), undo: false)
        do {
            let context = stack.another()
            for (number, shelf) in ["A", "B", "C"].enumerated() {
                _ = context.make("Thing", ["name": "t\(number)", "shelf": shelf, "rank": number])
            }
            try context.save()
        }
        let context = stack.context
        let request = Shelf.request(["name"], shown: false)
        request.predicate = NSPredicate(format: "shelf == 'Q'")
        let controller = NSFetchedResultsController(
            fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
        try controller.performFetch()
        let follower = Copy()
        follower.start(controller)
        defer { withExtendedLifetime(follower) {} }
        #expect(names(controller.fetchedObjects) == [])
        if way == "batch" {
            let update = NSBatchUpdateRequest(entityName: "Thing")
            update.predicate = NSPredicate(format: "shelf == 'A'")
            update.propertiesToUpdate = ["shelf": "Q"]
            update.refreshesRegisteredObjects = true
            _ = try context.execute(update)
        } else {
            let other = stack.another()
            nonisolated(unsafe) var told: Notification?
            let name: Notification.Name =
                way == "save" ? .NSManagedObjectContextDidSave : .NSManagedObjectContextDidSaveObjectIDs
            let observer = NotificationCenter.default.addObserver(forName: name, object: other, queue: nil) {
                told = $0
            }
            defer { NotificationCenter.default.removeObserver(observer) }
            try other.all("Thing").first { $0.value(forKey: "shelf") as? String == "A" }?.setValue("Q", forKey: "shelf")
            try other.save()
            context.mergeChanges(fromContextDidSave: try #require(told))
        }
        context.processPendingChanges()
        #expect(names(controller.fetchedObjects) == ["t0"])
    }

    @Test("8.9 Two entries of one name are refused, unless they are the same property")
    func entries() throws {
        let stack = try Stack(NSSQLiteStoreType, undo: false)
        let computed = NSExpressionDescription()
        computed.name = "name"
        computed.expression = NSExpression(forKeyPath: "age")
        computed.expressionResultType = .integer64AttributeType
        func fetch(_ properties: [Any]) throws {
            let request = NSFetchRequest<NSDictionary>(entityName: "Patient")
            request.resultType = .dictionaryResultType
            request.propertiesToFetch = properties
            _ = try stack.context.fetch(request)
        }
        for properties in [["name", computed], [computed, "name"]] as [[Any]] {
            let error = #expect(throws: CocoaError.self) { try fetch(properties) }
            #expect(error?.code.rawValue == 134060 && error?.localizedDescription.contains("“name”") == true)
        }
        try fetch(["name", "name", "age"])
        try fetch([computed, computed])
    }
}
