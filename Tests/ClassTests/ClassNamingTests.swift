// Classes that a program names first: they are bound on the way, each to the entity that means it.

import CoreDataClassesNorth
import CoreDataClassesSouth
import Foundation
import Testing

import CoreData

@Suite struct ClassNamingTests {
    init() { _ = Warnings.shared }

    @Test("A request, a new object and entity() bind the one of two classes that the program names")
    func named() throws {
        let byRequest = try thingContext("Ketch")
        try byRequest.performAndWait {
            _ = try byRequest.fetch(NSFetchRequest<CoreDataClassesSouth.Ketch>(entityName: "Thing"))
            let object = NSEntityDescription.insertNewObject(forEntityName: "Thing", into: byRequest)
            #expect(object is CoreDataClassesSouth.Ketch)
            #expect(object.entity.managedObjectClassName == "CoreDataClassesSouth.Ketch")
        }
        let byObject = try thingContext(".Ketch")
        try byObject.performAndWait {
            _ = CoreDataClassesNorth.Ketch(context: byObject)
            try byObject.save()
            byObject.reset()
            let request = NSFetchRequest<CoreDataClassesNorth.Ketch>()
            #expect(try byObject.fetch(request).count == 1)
        }
    }

    @Test("Of two models in use entity() answers that whose class it is, whichever was used last")
    func entity() throws {
        let contexts = try ["CoreDataClassesNorth.Ketch", "CoreDataClassesSouth.Ketch"].map(thingContext)
        for context in contexts { context.performAndWait { _ = context.insertedObjects } }
        #expect(CoreDataClassesNorth.Ketch.entity().managedObjectClassName == "CoreDataClassesNorth.Ketch")
        #expect(CoreDataClassesSouth.Ketch.entity().managedObjectClassName == "CoreDataClassesSouth.Ketch")
        #expect(
            CoreDataClassesNorth.Ketch.fetchRequest().entity?.managedObjectClassName == "CoreDataClassesNorth.Ketch")
        withExtendedLifetime(contexts) {}
    }

    @Test("A model used later, whose class of the same name is another module's, is not asked about this one")
    func foreign() throws {
        let own = try thingContext("CoreDataClassesNorth.Ketch")
        own.performAndWait { _ = own.insertedObjects }
        for name in ["CoreDataClassesElsewhere.Ketch", ".Ketch"] {
            let foreign = try thingContext(name)
            foreign.performAndWait { _ = foreign.insertedObjects }
            #expect(CoreDataClassesNorth.Ketch.entity().managedObjectClassName == "CoreDataClassesNorth.Ketch")
            withExtendedLifetime(foreign) {}
        }
        withExtendedLifetime(own) {}
    }

    @Test("A class inside a function is bound when the program names it")
    func local() throws {
        final class Puffin: NSManagedObject {}
        let context = try thingContext("Puffin")
        try context.performAndWait {
            _ = Puffin(context: context)
            try context.save()
            context.reset()
            #expect(try context.fetch(NSFetchRequest<Puffin>(entityName: "Thing")).count == 1)
        }
    }

    @Test("Two threads that ask for classes at once find the same ones, with nothing held")
    func threads() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask { () throws in
                    for _ in 0..<50 {
                        #expect(try foundClass("Sloop").fetched == Fleet.Reserve.Sloop.self)
                        #expect(try foundClass("Nobody").fetched == NSManagedObject.self)
                    }
                }
            }
            try await group.waitForAll()
        }
    }
}
