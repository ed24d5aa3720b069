// An incremental store whose entities count their reference objects each from 1.

import CoreDataTestSupport
import CoreDataValues
import Testing

@testable import CoreData

@Suite struct ReferenceObjectTests {
    /// Numbers its objects from 1 in each entity.
    private final class CountingStore: NSIncrementalStore, @unchecked Sendable {
        static let type = "SampleCounter"
        nonisolated(unsafe) var tables: [String: [String: String]] = [:]
        nonisolated(unsafe) var next: Int?

        override func loadMetadata() throws { metadata = [NSStoreUUIDKey: "COUNTER", NSStoreTypeKey: Self.type] }
        private func reference(_ id: NSManagedObjectID) -> String { "\(referenceObject(for: id))" }

        override func obtainPermanentIDs(for array: [NSManagedObject]) throws -> [NSManagedObjectID] {
            var taken: [String: Int] = [:]
            return array.map { object in
                let name = object.entity.name ?? ""
                taken[name, default: next ?? (tables[name]?.count ?? 0) + 1] += 1
                return newObjectID(for: object.entity, referenceObject: "\((taken[name] ?? 1) - 1)")
            }
        }

        override func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?) throws -> Any
        {
            if let save = request as? NSSaveChangesRequest {
                for object in save.insertedObjects ?? [] {
                    tables[object.entity.name ?? "", default: [:]][reference(object.objectID)] = object.name
                }
                return []
            }
            // As Core Data's programs spell it.
            let fetch = request as! NSFetchRequest<any NSFetchRequestResult>
            guard let context, let asked = fetch.entity, let model = persistentStoreCoordinator?.managedObjectModel
            else { return [] }
            return tables.flatMap { name, rows -> [NSManagedObject] in
                guard let entity = model.entitiesByName[name], entity.isKindOf(entity: asked) else { return [] }
                return rows.keys.map { context.object(with: newObjectID(for: entity, referenceObject: $0)) }
            }
        }

        override func newValuesForObject(
            with objectID: NSManagedObjectID, with context: NSManagedObjectContext
        ) throws -> NSIncrementalStoreNode {
            guard let name = tables[objectID.entity.name ?? ""]?[reference(objectID)] else {
                throw CocoaError(CocoaError.Code(rawValue: NSManagedObjectReferentialIntegrityError))
            }
            return NSIncrementalStoreNode(objectID: objectID, withValues: ["name": name], version: 1)
        }

        override func newValue(
            forRelationship relationship: NSRelationshipDescription, forObjectWith objectID: NSManagedObjectID,
            with context: NSManagedObjectContext?
        ) throws -> Any { relationship.isToMany ? [NSManagedObjectID]() : NSNull() }
    }

    private func counting() throws -> (Rig, CountingStore) {
        NSPersistentStoreCoordinator.registerStoreClass(CountingStore.self, forStoreType: CountingStore.type)
        var draft = Clinic.draft()
        let hall = EntityDraft("Hall", parent: "Place")
        draft.entities.append(hall)
        let rig = Rig(NSManagedObjectModel(draft: draft))
        return (rig, try #require(try rig.add(CountingStore.type) as? CountingStore))
    }

    @Test("Entities of which none is above the other may have the same reference objects")
    func countedByEntity() throws {
        let (rig, store) = try counting()
        let context = rig.context()
        let ward = context.make("Ward", ["name": "ward"]), hall = context.make("Hall", ["name": "hall"])
        let second = context.make("Hall", ["name": "second"])
        try context.save()
        #expect(Set([ward, hall, second].map(\.objectID)).count == 3)
        #expect(
            store.tables["Ward"] == ["1": "ward"] && store.tables["Hall"].map { Set($0.values) } == ["hall", "second"])
        let other = rig.context()
        #expect(try other.all("Place").map(\.name).sorted() == ["hall", "second", "ward"])
        #expect(try other.all("Hall").map(\.name).sorted() == ["hall", "second"])
        for object in [ward, hall, second] {
            #expect(
                rig.coordinator.managedObjectID(forURIRepresentation: object.objectID.uriRepresentation())
                    == object.objectID)
            let read = other.object(with: object.objectID)
            #expect(read.name == object.name && read.entity.name == object.entity.name)
        }
        let place = try #require(rig.coordinator.managedObjectModel.entitiesByName["Place"])
        let two = [hall, second].first { store.referenceObject(for: $0.objectID) as? String == "2" }
        #expect(store.newObjectID(for: place, referenceObject: "2") == two?.objectID)
    }

    @Test("A new object that is named like a row which is there is refused with 134030, and the row stays")
    func namedTwice() throws {
        let (rig, store) = try counting()
        let context = rig.context()
        _ = context.make("Ward", ["name": "ward"])
        try context.save()
        store.next = 1
        _ = context.make("Ward", ["name": "other"])
        #expect(code { try context.save() } == 134030)
        #expect(sentence { try context.save() }.contains("a new Ward 1"))
        #expect(store.tables["Ward"] == ["1": "ward"])
        store.next = nil
        try context.save()
        let reader = rig.context()
        #expect(try reader.all("Ward").map(\.name).sorted() == ["other", "ward"])
    }

    @Test(
        "Any text is a reference object: the ID's URI escapes it and leads back",
        arguments: ["7", "a b/ü%?#:", "é", "%41", ""])
    func anyText(_ reference: String) throws {
        let (rig, store) = try counting()
        let hall = try #require(rig.coordinator.managedObjectModel.entitiesByName["Hall"])
        let id = store.newObjectID(for: hall, referenceObject: reference)
        let uri = id.uriRepresentation()
        #expect(
            uri.absoluteString == "\(id)" && uri.scheme == "x-coredata" && uri.path.hasPrefix("/Hall/p")
                && uri.path.hasSuffix(reference))
        #expect(rig.coordinator.managedObjectID(forURIRepresentation: uri) == id)
    }
}
