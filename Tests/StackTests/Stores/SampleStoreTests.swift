// What the classes of programs' own stores are asked and given.

import CoreDataTestSupport
import CoreDataValues
import Testing

@testable import CoreData

/// Writes down what it is asked.
final class ListeningStore: NSIncrementalStore, @unchecked Sendable {
    static let type = "SampleListener"
    nonisolated(unsafe) var lines: [String] = []
    nonisolated(unsafe) var failure: (any Error)?
    nonisolated(unsafe) var added = 0
    nonisolated(unsafe) var removed = 0
    /// Called within a save, with the context that the store is given.
    nonisolated(unsafe) var saving: ((NSManagedObjectContext) -> Void)?
    nonisolated(unsafe) private var kept:
        [String: (entity: NSEntityDescription, values: [String: Any], version: UInt64)] = [:]

    override func loadMetadata() throws {
        metadata = [
            NSStoreUUIDKey: Self.identifierForNewStore(at: url ?? URL(fileURLWithPath: "/")), NSStoreTypeKey: Self.type,
        ]
    }

    override class func identifierForNewStore(at storeURL: URL) -> Any { "AAAAAAAA-BBBB-CCCC-DDDD-EEEEEEEEEEEE" }
    override func didAdd(to coordinator: NSPersistentStoreCoordinator) { added += 1 }
    override func willRemove(from coordinator: NSPersistentStoreCoordinator?) { removed += 1 }

    override func obtainPermanentIDs(for array: [NSManagedObject]) throws -> [NSManagedObjectID] {
        array.map { newObjectID(for: $0.entity, referenceObject: "N-\($0.value(forKey: "name") ?? "?")") }
    }

    override func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?) throws -> Any {
        if let failure { throw failure }
        if let save = request as? NSSaveChangesRequest {
            if let context { saving?(context) }
            if save.insertedObjects == nil, save.updatedObjects == nil, save.deletedObjects == nil,
                save.lockedObjects == nil
            {
                lines.append("metadata \(metadata["note"] ?? "")")
            }
            for object in save.insertedObjects ?? [] { note("insert", object) }
            for object in save.updatedObjects ?? [] { note("update", object) }
            for object in save.deletedObjects ?? [] {
                lines.append("delete \(referenceObject(for: object.objectID))")
                kept["\(referenceObject(for: object.objectID))"] = nil
            }
            return []
        }
        guard let fetch = request as? NSFetchRequest<any NSFetchRequestResult> else { return [] }
        lines.append("fetch \(fetch.entityName ?? "") \(fetch.predicate.map { "\($0)" } ?? "all")")
        let ids = kept.filter { $0.value.entity === fetch.entity }.keys.sorted()
        return ids.compactMap { key in
            kept[key].flatMap { context?.object(with: newObjectID(for: $0.entity, referenceObject: key)) }
        }
    }

    private func note(_ what: String, _ object: NSManagedObject) {
        let reference = "\(referenceObject(for: object.objectID))"
        let changed = object.changedValues().keys.sorted()
        let state =
            "\(object.isInserted ? "i" : "")\(object.isUpdated ? "u" : "")\(object.objectID.isTemporaryID ? "t" : "")"
        lines.append("\(what) \(reference) \(state) \(changed)")
        var values: [String: Any] = [:]
        for key in object.entity.attributesByName.keys { values[key] = object.value(forKey: key) }
        for (key, relationship) in object.entity.relationshipsByName where !relationship.isToMany {
            values[key] = (object.value(forKey: key) as? NSManagedObject)?.objectID ?? NSNull()
        }
        kept[reference] = (object.entity, values, (kept[reference]?.version ?? 0) + 1)
    }

    override func newValuesForObject(
        with objectID: NSManagedObjectID, with context: NSManagedObjectContext
    ) throws -> NSIncrementalStoreNode {
        if let failure { throw failure }
        guard let row = kept["\(referenceObject(for: objectID))"] else {
            throw CocoaError(CocoaError.Code(rawValue: NSManagedObjectReferentialIntegrityError))
        }
        return NSIncrementalStoreNode(objectID: objectID, withValues: row.values, version: row.version)
    }

    override func newValue(
        forRelationship relationship: NSRelationshipDescription, forObjectWith objectID: NSManagedObjectID,
        with context: NSManagedObjectContext?
    ) throws -> Any { [NSManagedObjectID]() }
}

@Suite struct SampleStoreTests {
    @Test("A program's atomic store may name itself by any text")
    func freeIdentifier() throws {
        let rig = Rig()
        let contents: [String: Any] = ["metadata": [NSStoreUUIDKey: "BOX-1"], "records": [String]()]
        try PropertyListSerialization.data(fromPropertyList: contents, format: .binary, options: 0).write(
            to: rig.folder.file("store"))
        let store = try rig.add(BoxStore.type)
        #expect(store.identifier == "BOX-1")
        let context = try rig.filled()
        let patient = try #require(try context.all("Patient").first)
        #expect(
            rig.coordinator.managedObjectID(forURIRepresentation: patient.objectID.uriRepresentation())
                == patient.objectID)
        let again = Rig(in: rig.folder)
        #expect(try again.add(BoxStore.type).identifier == "BOX-1")
        #expect(try again.summary(again.context()) == "North 1 [\"b\", \"a\"]")
    }

    private struct Refused: Error {}

    private func listening() throws -> (Rig, ListeningStore) {
        NSPersistentStoreCoordinator.registerStoreClass(ListeningStore.self, forStoreType: ListeningStore.type)
        let rig = Rig()
        return (rig, try #require(try rig.add(ListeningStore.type) as? ListeningStore))
    }

    @Test("An incremental store is asked for IDs with the objects themselves, then to save them with their changes")
    func save() throws {
        let (rig, store) = try listening()
        let context = rig.context()
        let ward = context.make("Ward", ["name": "North"])
        let patient = context.make("Patient", ["name": "Eve"])
        patient.setValue(ward, forKey: "ward")
        try context.save()
        #expect(store.lines.sorted() == ["insert N-Eve i []", "insert N-North i []"])
        #expect(patient.objectID.uriRepresentation().absoluteString.hasSuffix("EEEEEEEEEEEE/Patient/pN-Eve"))
        store.lines = []
        patient.setValue("Eva", forKey: "name")
        patient.setValue(nil, forKey: "ward")
        try context.save()
        #expect(store.lines.contains("update N-Eve u [\"name\", \"ward\"]"))
        store.lines = []
        context.delete(patient)
        try context.save()
        #expect(store.lines.contains("delete N-Eve"))
    }

    @Test("An incremental store is told of metadata that was set by a save request of nothing, with changes or without")
    func metadata() throws {
        let (rig, store) = try listening()
        let context = rig.context()
        try context.save()
        #expect(store.lines.isEmpty)
        rig.coordinator.setMetadata(rig.coordinator.metadata(for: store).merging(["note": 1]) { $1 }, for: store)
        store.failure = Refused()
        #expect(throws: Refused.self) { try context.save() }
        store.failure = nil
        try context.save()
        try context.save()
        #expect(store.lines == ["metadata 1"])
        store.lines = []
        store.metadata["note"] = 2
        _ = context.make("Ward", ["name": "North"])
        try context.save()
        #expect(store.lines == ["metadata 2", "insert N-North i []"])
    }

    @Test("An atomic store writes down metadata that was set at the next save, without changes too")
    func atomicMetadata() throws {
        let rig = Rig()
        let store = try rig.add(BoxStore.type)
        let context = rig.context()
        _ = context.make("Ward", ["name": "North"])
        try context.save()
        rig.coordinator.setMetadata(store.metadata.merging(["note": "new"]) { $1 }, for: store)
        #expect(try BoxStore.metadataForPersistentStore(with: rig.folder.file("store"))["note"] == nil)
        try context.save()
        #expect(try BoxStore.metadataForPersistentStore(with: rig.folder.file("store"))["note"] as? String == "new")
        let again = Rig(in: rig.folder)
        try again.add(BoxStore.type)
        #expect(try again.context().all("Ward").count == 1)
    }

    @Test("A store's class names the class that migrates its stores, and a program's own may name its own")
    func migrationManagerClass() {
        final class Mover: NSMigrationManager {}
        final class Moved: NSIncrementalStore, @unchecked Sendable {
            override class func migrationManagerClass() -> AnyClass { Mover.self }
        }
        let types: [NSPersistentStore.Type] = [NSAtomicStore.self, ListeningStore.self, Moved.self]
        let expected: [AnyClass] = [NSMigrationManager.self, NSMigrationManager.self, Mover.self]
        #expect(types.map { ObjectIdentifier($0.migrationManagerClass()) } == expected.map { ObjectIdentifier($0) })
        let models = (Clinic.model(), Clinic.model())
        let manager = Mover(sourceModel: models.0, destinationModel: models.1)
        #expect(manager.sourceModel === models.0 && manager.destinationModel === models.1)
    }

    @Test("An incremental store is told of coming and going, and names its own UUID")
    func comingAndGoing() throws {
        let (rig, store) = try listening()
        #expect(store.identifier == "AAAAAAAA-BBBB-CCCC-DDDD-EEEEEEEEEEEE" && store.added == 1 && store.removed == 0)
        #expect(store.metadata[NSStoreTypeKey] as? String == ListeningStore.type)
        try rig.coordinator.remove(store)
        #expect(store.removed == 1 && rig.coordinator.persistentStores.isEmpty)
    }

    @Test("What an incremental store throws reaches the caller, and a failed save leaves the context as it was")
    func failures() throws {
        let (rig, store) = try listening()
        let context = rig.context()
        let doctor = context.make("Doctor", ["name": "Ada"])
        store.failure = Refused()
        #expect(throws: Refused.self) { try context.save() }
        #expect(doctor.isInserted && doctor.objectID.isTemporaryID && context.hasChanges)
        #expect(throws: Refused.self) { try rig.context().all("Doctor") }
        store.failure = nil
        try context.save()
        #expect(try rig.context().all("Doctor").count == 1)
        store.failure = Refused()
        let other = rig.context()
        let fault = other.object(with: doctor.objectID)
        other.stalenessInterval = 0
        #expect(fault.value(forKey: "name") == nil)
        store.failure = nil
        #expect(code { try other.save() } == 134060)
    }

    @Test(
        "A fetch's predicate reaches an incremental store with objects of its own context in the place of the caller's")
    func predicate() throws {
        let (rig, store) = try listening()
        let context = rig.context()
        let ward = context.make("Ward", ["name": "North"])
        try context.save()
        store.lines = []
        let request = NSFetchRequest<NSManagedObject>("Patient", "ward == %@ AND age > 3", ward)
        #expect(try context.fetch(request).isEmpty)
        let line = try #require(store.lines.first)
        #expect(line.hasPrefix("fetch Patient ward == ") && line.hasSuffix("age > 3"), "\(line)")
    }

    @Test("An incremental store that changed a row by itself makes a stale save a conflict")
    func conflict() throws {
        let rig = Rig()
        let store = try rig.add(ShelfStore.type)
        let context = rig.context()
        let doctor = context.make("Doctor", ["name": "Ada"])
        try context.save()
        doctor.setValue("Eva", forKey: "name")
        try context.save()
        // Read once, so that the store's own count is known, then changed on the other side.
        _ = try rig.context().all("Doctor")
        let shelf = Shelf.at(try #require(store.url))
        for key in shelf.rows.keys {
            shelf.rows[key]?.version += 1
            shelf.rows[key]?.values["name"] = "theirs"
        }
        doctor.setValue("mine", forKey: "name")
        #expect(code { try context.save() } == 133020)
        #expect(try rig.context().all("Doctor").first?.value(forKey: "name") as? String == "theirs")
    }

    @Test(
        "An atomic store's nodes follow saves: values, targets as nodes, members as sets; a failed save takes them back"
    )
    func nodes() throws {
        let rig = Rig()
        let store = try #require(try rig.add(BoxStore.type) as? BoxStore)
        let context = rig.context()
        let patient = context.make("Patient", ["name": "Eve"])
        let doctor = context.make("Doctor", ["name": "Ada"])
        patient.setValue(Set([doctor]), forKey: "doctors")
        patient.setValue(context.make("Ward", ["name": "North"]), forKey: "ward")
        try context.save()
        let node = try #require(store.cacheNode(for: patient.objectID))
        #expect(store.cacheNodes().count == 3 && node.value(forKey: "name") as? String == "Eve")
        #expect((node.value(forKey: "ward") as? NSAtomicStoreCacheNode)?.value(forKey: "name") as? String == "North")
        #expect(
            (node.value(forKey: "doctors") as? NSSet)?.anyObject() as? NSAtomicStoreCacheNode
                === store.cacheNode(for: doctor.objectID))
        #expect(UUID(uuidString: "\(store.referenceObject(for: patient.objectID))") != nil)
        let bytes = try Data(contentsOf: rig.folder.file("store"))

        patient.setValue("Eva", forKey: "name")
        context.delete(doctor)
        let url = store.url
        store.url = rig.folder.url
        #expect(throws: (any Error).self) { try context.save() }
        store.url = url
        #expect(node.value(forKey: "name") as? String == "Eve" && store.cacheNodes().count == 3)
        #expect(try Data(contentsOf: rig.folder.file("store")) == bytes)
        #expect(try rig.context().all("Doctor").count == 1)
        try context.save()
        #expect(node.value(forKey: "name") as? String == "Eva" && store.cacheNodes().count == 2)
        #expect((node.value(forKey: "doctors") as? NSSet)?.count == 0)
    }

    @Test("A value in a node that the attribute cannot hold stops the loading, and names entity and property")
    func wrongNode() throws {
        let rig = Rig()
        let store = try rig.add(BoxStore.type)
        let context = rig.context()
        _ = context.make("Patient", ["name": "Eve", "age": 3])
        try context.save()
        try rig.coordinator.remove(store)
        let url = rig.folder.file("store")
        var all = try #require(
            try PropertyListSerialization.propertyList(from: Data(contentsOf: url), format: nil) as? [String: Any])
        var records = try #require(all["records"] as? [[String: Any]])
        records[0]["values"] = ["name": "Eve", "age": "three"]
        all["records"] = records
        try PropertyListSerialization.data(fromPropertyList: all, format: .binary, options: 0).write(to: url)
        let again = Rig(in: rig.folder)
        let said = sentence { try again.add(BoxStore.type) }
        #expect(said.contains("Patient.age"), "\(said)")
    }

    @Test("A store's methods cannot write through the context that they are given")
    func scratch() throws {
        let (rig, store) = try listening()
        let context = rig.context()
        let ada = context.make("Doctor", ["name": "Ada"])
        let other = context.make("Doctor", ["name": "Bob"])
        try context.save()
        let id = other.objectID
        nonisolated(unsafe) var said: [String] = []
        store.saving = { given in
            given.object(with: id).setValue("Max", forKey: "name")
            said.append(sentence { try given.save() })
            let doctor = given.make("Doctor", ["name": "Eve"])
            said.append(sentence { try given.obtainPermanentIDs(for: [doctor]) })
            said.append(sentence { try given.save() })
        }
        ada.setValue("Ann", forKey: "name")
        try context.save()
        #expect(said.count == 3 && said.allSatisfy { $0.contains("write to the store itself") }, "\(said)")
        #expect(
            try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Doctor")).map(\.name).sorted() == [
                "Ann", "Bob",
            ])
    }
}

extension NSManagedObject {
    var name: String { value(forKey: "name") as? String ?? "" }
}
