// What objects, requests, stacks and errors say when they are printed.

import CoreDataTestSupport
import CoreDataValues
import Foundation
import Testing

@testable import CoreData

@Suite struct DescriptionTests {
    /// A saved patient with a ward, a visit and a doctor, let go again.
    private static func filled() throws -> Stack {
        let stack = try Stack()
        let context = stack.context
        try context.performAndWait {
            let patient = context.make("Patient", ["name": "Ada \"A\"", "age": 41, "photo": Data([1, 2, 3])])
            patient.setValue(context.make("Ward", ["name": "East"]), forKey: "ward")
            patient.mutableOrderedSetValue(forKey: "visits").add(context.make("Visit", ["note": "1"]))
            try context.save()
            context.reset()
        }
        return stack
    }

    private static func patient(_ context: NSManagedObjectContext) throws -> NSManagedObject {
        try #require(try context.all("Patient").first)
    }

    @Test("An object tells its values in the model's order, to-ones and members by their IDs, and reads nothing for it")
    func values() throws {
        let stack = try Self.filled()
        let context = stack.context
        try context.performAndWait {
            let patient = try Self.patient(context)
            #expect(
                patient.description.contains("(entity: Patient; id: <x-coredata://")
                    && patient.description.hasSuffix("data: <fault>)"))
            #expect(patient.isFault)
            _ = patient.value(forKey: "name")
            let text = patient.description
            let keys = text.split(separator: "\n").dropFirst().dropLast().map {
                String($0.drop { $0 == " " }.prefix { $0 != " " })
            }
            #expect(keys == patient.entity.properties.map(\.name))
            let ward = try #require(patient.value(forKey: "ward") as? NSManagedObject)
            #expect(text.contains("    name = \"Ada \\\"A\\\"\";\n    age = 41;\n    weight = nil;\n"))
            #expect(text.contains("    photo = <3 bytes>;\n") && text.contains("    ward = <\(ward.objectID)>;\n"))
            #expect(text.contains("    visits = <relationship fault>;\n"))
            #expect(ward.isFault && patient.hasFault(forRelationshipNamed: "visits"))
            let visit = try #require(
                (patient.value(forKey: "visits") as? NSOrderedSet)?.firstObject as? NSManagedObject)
            #expect(patient.description.contains("    visits = (<\(visit.objectID)>);\n") && visit.isFault)
            patient.setValue(nil, forKey: "ward")
            #expect(patient.description.contains("    ward = nil;\n"))
        }
    }

    @Test("An inherited entity's object tells inherited values first")
    func inherited() throws {
        let stack = try Stack(NSInMemoryStoreType)
        let context = stack.context
        context.performAndWait {
            let text = context.make("Ward", ["name": "East", "beds": 4]).description
            #expect(
                text.contains("data: {\n    name = \"East\";\n    code = nil;\n    beds = 4;\n    patients = ();\n})"))
        }
    }

    @Test("Another thread is told the ID and no values, whatever the context does meanwhile")
    func otherThread() throws {
        let stack = try Self.filled()
        let context = stack.context
        nonisolated(unsafe) var held: NSManagedObject?
        try context.performAndWait {
            held = try Self.patient(context)
            _ = held?.value(forKey: "name")
        }
        nonisolated(unsafe) let object = try #require(held)
        #expect(
            object.description.contains("x-coredata://") && object.description.hasSuffix("data: <of another queue>)"))
        #expect(context.description.contains("private queue; of another queue"))
        context.performAndWait { #expect(object.description.contains("age = 41")) }
        withExtendedLifetime(stack) {}
    }

    @Test("A request tells entity, predicate, order and bounds")
    func request() throws {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Patient")
        #expect(request.description == "<NSFetchRequest<NSManagedObject>: entity: Patient>")
        request.predicate = NSPredicate(format: "age > 5 AND name BEGINSWITH %@", "A")
        request.sortDescriptors = [
            NSSortDescriptor(key: "name", ascending: true), NSSortDescriptor(key: "ward.code", ascending: false),
        ]
        request.fetchLimit = 10
        request.fetchOffset = 20
        request.resultType = .managedObjectIDResultType
        #expect(
            request.description
                == "<NSFetchRequest<NSManagedObject>: entity: Patient; predicate: age > 5 AND name BEGINSWITH \"A\"; "
                + "order: name ascending, ward.code descending; limit: 10; offset: 20; result: object IDs>")
        request.predicate = NSPredicate(value: true)
        #expect(request.description.contains("predicate: TRUEPREDICATE"))
        #expect(
            "\(NSAsynchronousFetchRequest(fetchRequest: request))".contains("entity: Patient; predicate: TRUEPREDICATE")
        )
    }

    @Test("Stores, containers, contexts and entities tell what they are")
    func stacks() throws {
        let folder = Folder()
        let container = NSPersistentContainer(name: "Clinic", managedObjectModel: Clinic.model())
        container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: folder.file("clinic.sqlite"))]
        #expect(container.description.contains("not loaded: <NSPersistentStoreDescription: SQLite; url: file://"))
        container.loadPersistentStores { _, error in #expect(error == nil) }
        let store = try #require(container.persistentStoreCoordinator.persistentStores.first)
        #expect(store.description.hasPrefix("<\(type(of: store)): type: SQLite; url: file://"))
        #expect(
            container.description.contains("name: Clinic; entities: Patient, ")
                && container.description.contains(store.description))
        let context = container.newBackgroundContext()
        context.name = "import"
        let child = context.child()
        #expect(child.description.contains("parent: import"))
        context.performAndWait {
            _ = context.make("Visit")
            #expect(
                context.description.hasSuffix(
                    "name: import; private queue; inserted: 1; updated: 0; deleted: 0; registered: 1>"))
        }
        let ward = try #require(container.managedObjectModel.entitiesByName["Ward"])
        #expect(
            ward.description == "<NSEntityDescription: Ward; class: NSManagedObject; parent: Place; properties: {\n"
                + "    name: String, optional\n    code: Integer 32, optional\n    beds: Integer 32, optional\n"
                + "    patients: to-many Patient, inverse ward, optional\n}>")
    }
}
