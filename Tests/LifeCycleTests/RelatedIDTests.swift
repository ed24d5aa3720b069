// Small declarations of contexts and objects that no other subject covers.

import CoreDataTestSupport
import Foundation
import Testing

@testable import CoreData

/// A context that decides itself what becomes of a fault without a row.
private final class Judge: NSManagedObjectContext, @unchecked Sendable {
    var asked: [NSManagedObjectID] = []
    override func shouldHandleInaccessibleFault(
        _ fault: NSManagedObject, for oid: NSManagedObjectID, triggeredByProperty property: NSPropertyDescription?
    ) -> Bool {
        asked.append(oid)
        return false
    }
}

@Suite struct RelatedIDTests {
    @Test("A context is made by the short name of its kind")
    func kinds() {
        #expect(NSManagedObjectContext(.privateQueue).concurrencyType == .privateQueueConcurrencyType)
        #expect(NSManagedObjectContext(.mainQueue).concurrencyType == .mainQueueConcurrencyType)
        #expect(NSManagedObjectContext.ConcurrencyType(rawValue: .mainQueueConcurrencyType) == .mainQueue)
    }

    @Test("An object whose context is gone says the same ID as before, if it was never asked")
    func orphan() throws {
        let stack = try Stack(undo: false)
        _ = stack.context.make("Patient", ["name": "Ada"])
        try stack.context.save()
        let orphan = try #require(try stack.another().all("Patient").first)
        #expect(orphan.managedObjectContext == nil)
        let again = try #require(try stack.context.all("Patient").first)
        #expect(orphan.objectID == again.objectID)
        #expect(orphan.objectID.uriRepresentation() == again.objectID.uriRepresentation())
    }

    @Test(
        "The IDs of a relationship's targets are answered without reading the targets' values, unsaved changes included"
    )
    func relatedIDs() throws {
        let stack = try Stack()
        let ward = stack.context.make("Ward", ["name": "w"])
        let patients = ["Ada", "Bo"].map { stack.context.make("Patient", ["name": $0, "ward": ward]) }
        try stack.context.save()
        let other = stack.another()
        let found = try #require(try other.all("Ward").first)
        #expect(Set(found.objectIDs(forRelationshipNamed: "patients")) == Set(patients.map(\.objectID)))
        let held = try #require(try other.all("Patient").first)
        #expect(held.objectIDs(forRelationshipNamed: "ward") == [ward.objectID])
        held.setValue(nil, forKey: "ward")
        #expect(held.objectIDs(forRelationshipNamed: "ward").isEmpty)
        #expect(found.objectIDs(forRelationshipNamed: "patients").count == 1)
    }

    @Test("IDs of an attribute are asked for: the process ends with entity and key")
    func wrongKey() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let stack = try Stack()
            _ = stack.context.make("Patient").objectIDs(forRelationshipNamed: "name")
        }
        let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(text.contains("Patient has no relationship name"))
    }

    @Test("A context may refuse that a fault without a row reads as deleted; the next save throws")
    func inaccessible() throws {
        let stack = try Stack(undo: false)
        let patient = stack.context.make("Patient", ["name": "Ada"])
        try stack.context.save()
        let judge = Judge(concurrencyType: .privateQueueConcurrencyType)
        judge.persistentStoreCoordinator = stack.coordinator
        let fault = judge.object(with: patient.objectID)
        stack.context.delete(patient)
        try stack.context.save()
        #expect(fault.value(forKey: "name") == nil)
        #expect(judge.asked == [fault.objectID])
        #expect(!fault.isDeleted)
        #expect(throws: CocoaError.self) { try judge.save() }
    }
}
