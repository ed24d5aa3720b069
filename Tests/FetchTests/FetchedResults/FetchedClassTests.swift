// Controllers whose results are of a class: what is of another class is not handed out.

import CoreDataTestSupport
import CoreDataValues
import Foundation
import Testing

@testable import CoreData

final class Boat: NSManagedObject {}

@Suite struct FetchedClassTests {
    private func stack() throws -> Stack {
        let vehicle = EntityDraft("Vehicle", [Clinic.attribute("name", .string)])
        var boat = EntityDraft("Boat", parent: "Vehicle")
        boat.className = NSStringFromClass(Boat.self)
        return try Stack(NSSQLiteStoreType, model: NSManagedObjectModel(vehicle, boat))
    }

    private func controller<T: NSFetchRequestResult>(_ stack: Stack, of type: T.Type, limit: Int = 0)
        -> NSFetchedResultsController<T>
    {
        let request = NSFetchRequest<T>("Vehicle", by: "name")
        request.fetchLimit = limit
        return NSFetchedResultsController(
            fetchRequest: request, managedObjectContext: stack.context, sectionNameKeyPath: nil, cacheName: nil)
    }

    @Test("performFetch throws for objects of another class, as a fetch does")
    func otherClass() throws {
        let stack = try stack()
        _ = stack.context.make("Boat", ["name": "a"])
        let boats = controller(stack, of: Boat.self)
        try boats.performFetch()
        _ = stack.context.make("Vehicle", ["name": "b"])
        let fetched = #expect(throws: CocoaError.self) { try stack.context.fetch(boats.fetchRequest) }
        let performed = #expect(throws: CocoaError.self) { try boats.performFetch() }
        #expect(performed?.code.rawValue == 134060)
        #expect(performed?.localizedDescription == fetched?.localizedDescription)
        #expect(boats.fetchedObjects?.count == 1, "The former results stay.")
        #expect(throws: CocoaError.self) { try controller(stack, of: NSDictionary.self).performFetch() }
        let all = controller(stack, of: (any NSFetchRequestResult).self)
        try all.performFetch()
        #expect(all.fetchedObjects?.count == 2)
    }

    @Test("An object of another class that comes in later is left out, or waits as an error")
    func laterObjects() throws {
        let stack = try stack()
        _ = stack.context.make("Boat", ["name": "b"])
        let (boats, limited) = (controller(stack, of: Boat.self), controller(stack, of: Boat.self, limit: 5))
        try boats.performFetch()
        try limited.performFetch()
        let changes = (boats.changes, limited.changes)
        _ = stack.context.make("Vehicle", ["name": "a"])
        stack.context.processPendingChanges()
        #expect(boats.fetchedObjects?.count == 1 && limited.fetchedObjects?.count == 1)
        #expect(throws: CocoaError.self) { try stack.context.save() }
        try stack.context.save()
        withExtendedLifetime(changes) {}
    }
}
