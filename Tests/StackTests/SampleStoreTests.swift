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
    nonisolated(unsafe) private var kept: [String: (entity: NSEntityDescription, values: [String: Any], version: UInt64)] = [:]

    override func loadMetadata() throws {
        metadata = [NSStoreUUIDKey: Self.identifierForNewStore(at: url ?? URL(fileURLWithPath: "/")), NSStoreTypeKey: Self.type]
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
            if save.insertedObjects == nil, save.updatedObjects == nil, save.deletedObjects == nil, save.lockedObjects == nil {
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
        let state = "\(object.isInserted ? "i" : "")\(object.isUpdated ? "u" : "")\(object.objectID.isTemporaryID ? "t" : "")"
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
        try PropertyListSerialization.data(fromPropertyList: contents, format: .binary, options: 0).write(to: rig.folder.file("store"))
        let store = try rig.add(BoxStore.type)
        #expect(store.identifier == "BOX-1")
        let context = try rig.filled()
        let patient = try #require(try context.all("Patient").first)
        #expect(rig.coordinator.managedObjectID(forURIRepresentation: patient.objectID.uriRepresentation()) == patient.objectID)
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

    /// A patient without a ward and two wards, which two contexts know; the second one has read the patient.
    private func moved(
        _ type: String, _ policy: NSMergePolicy
    ) throws -> (rig: Rig, contexts: [NSManagedObjectContext], patients: [NSManagedObject], wards: [[NSManagedObject]]) {
        NSPersistentStoreCoordinator.registerStoreClass(ListeningStore.self, forStoreType: ListeningStore.type)
        let rig = Rig()
        try rig.add(type)
        let contexts = [rig.context(), rig.context()]
        contexts[1].mergePolicy = policy
        let patient = contexts[0].make("Patient", ["name": "Eve"])
        let wards = ["one", "two"].map { contexts[0].make("Ward", ["name": $0]) }
        try contexts[0].save()
        let theirs = contexts[1].object(with: patient.objectID)
        #expect(theirs.value(forKey: "ward") == nil)
        return (rig, contexts, [patient, theirs], contexts.map { context in wards.map { context.object(with: $0.objectID) } })
    }

    @Test(
        "A store is handed the former owner of a member that another context moved meanwhile",
        arguments: [ShelfStore.type, BoxStore.type, ListeningStore.type], [true, false])
    func formerOwner(_ type: String, _ trumps: Bool) throws {
        let (rig, contexts, patients, wards) = try moved(type, trumps ? .mergeByPropertyObjectTrump : .error)
        if !trumps { patients[1].setValue(wards[1][0], forKey: "ward") }
        patients[0].setValue(wards[0][0], forKey: "ward")
        try contexts[0].save()
        if !trumps { contexts[1].refreshAllObjects() }
        patients[1].setValue(wards[1][1], forKey: "ward")
        let store = rig.coordinator.persistentStores[0]
        (store as? ListeningStore)?.lines = []
        try contexts[1].save()
        if let store = store as? ListeningStore {
            #expect(store.lines.sorted() == ["update N-Eve u [\"ward\"]", "update N-one u []", "update N-two u []"])
        } else if let store = store as? BoxStore {
            let nodes = wards[0].compactMap { store.cacheNode(for: $0.objectID) }
            #expect(nodes.map { ($0.value(forKey: "patients") as? NSSet)?.count } == [0, 1])
        } else {
            let reader = rig.context()
            let read = try reader.all("Ward").sorted { $0.name < $1.name }
            #expect(read.map { ($0.value(forKey: "patients") as? NSSet)?.count } == [0, 1])
            let rows = Shelf.at(try #require(store.url)).rows.values.filter { $0.entity == "Ward" }
            #expect(rows.map { $0.links["patients"]?.count ?? 0 }.sorted() == [0, 1])
        }
        guard !trumps else { return }
        // The store may count that as a change of the ward, which nobody has changed: no conflict with who has read it before.
        wards[0][0].setValue("first", forKey: "name")
        try contexts[0].save()
    }

    @Test("A store is handed the owner of a member that is deleted, also where another context put it there")
    func ownerOfDeleted() throws {
        let (rig, contexts, patients, wards) = try moved(ListeningStore.type, .mergeByPropertyObjectTrump)
        patients[0].setValue(wards[0][0], forKey: "ward")
        try contexts[0].save()
        let store = try #require(rig.coordinator.persistentStores[0] as? ListeningStore)
        store.lines = []
        contexts[1].delete(patients[1])
        try contexts[1].save()
        #expect(store.lines.sorted() == ["delete N-Eve", "update N-one u []"])
    }

    @Test("A store is handed those that a deleted object was paired with by another context", arguments: [ShelfStore.type, BoxStore.type])
    func partnerOfDeleted(_ type: String) throws {
        let rig = Rig()
        let store = try rig.add(type)
        let (first, second) = (rig.context(), rig.context())
        second.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        let patient = first.make("Patient", ["name": "Eve"]), doctor = first.make("Doctor", ["name": "Who"])
        try first.save()
        let theirs = second.object(with: patient.objectID)
        #expect(theirs.name == "Eve")
        doctor.mutableSetValue(forKey: "patients").add(patient)
        try first.save()
        second.delete(theirs)
        try second.save()
        let reader = rig.context()
        #expect(try reader.all("Patient").isEmpty)
        #expect((reader.object(with: doctor.objectID).value(forKey: "patients") as? NSSet)?.count == 0)
        if let store = store as? BoxStore {
            #expect((store.cacheNode(for: doctor.objectID)?.value(forKey: "patients") as? NSSet)?.count == 0)
        } else {
            #expect(Shelf.at(try #require(store.url)).rows.values.map { $0.links["patients"] } == [[]])
        }
    }

    @Test("A store is not handed rows that are gone", arguments: [ShelfStore.type, BoxStore.type], 0..<4)
    func goneRows(_ type: String, _ policy: Int) throws {
        let policies: [NSMergePolicy] = [.mergeByPropertyStoreTrump, .rollback, .mergeByPropertyObjectTrump, .overwrite]
        // The last two write a changed object again.
        for deletes in policy < 2 ? [true, false] : [true] {
            let rig = Rig()
            let store = try rig.add(type)
            let (first, second) = (rig.context(), rig.context())
            second.mergePolicy = policies[policy]
            let patient = first.make("Patient", ["name": "Eve"]), doctor = first.make("Doctor", ["name": "Who"])
            let visits = [first.make("Visit", ["note": "one"]), first.make("Visit", ["note": "two"])]
            patient.setValue(NSSet(object: doctor), forKey: "doctors")
            patient.setValue(NSOrderedSet(array: visits), forKey: "visits")
            try first.save()
            let (theirs, who) = (second.object(with: patient.objectID), second.object(with: doctor.objectID))
            #expect((theirs.value(forKey: "doctors") as? NSSet)?.count == 1 && theirs.name == "Eve")
            #expect((theirs.value(forKey: "visits") as? NSOrderedSet)?.count == 2)
            #expect((who.value(forKey: "patients") as? NSSet)?.count == 1 && who.name == "Who")
            first.delete(patient)
            try first.save()
            if deletes {
                second.delete(theirs)
            } else {
                who.mutableSetValue(forKey: "patients").remove(theirs)
            }
            try second.save()
            let reader = rig.context()
            #expect(try reader.all("Patient").isEmpty)
            if type == ShelfStore.type {
                #expect(!Shelf.at(try #require(store.url)).rows.values.contains { $0.entity == "Patient" })
            }
            #expect((try reader.all("Doctor").first?.value(forKey: "patients") as? NSSet)?.count == 0)
        }
    }

    @Test(
        "5.6 5.7 A refresh that keeps changes shows members that another context has added since",
        arguments: [ShelfStore.type, BoxStore.type, NSSQLiteStoreType], [true, false])
    func refreshedMembers(_ type: String, _ refreshesAll: Bool) throws {
        let rig = Rig()
        try rig.add(type)
        let (first, second) = (rig.context(), rig.context())
        let patient = first.make("Patient", ["name": "Eve"]), doctor = first.make("Doctor", ["name": "Who"])
        try first.save()
        patient.setValue(30, forKey: "age")
        #expect((patient.value(forKey: "doctors") as? NSSet)?.count == 0)
        second.object(with: patient.objectID).mutableSetValue(forKey: "doctors").add(second.object(with: doctor.objectID))
        try second.save()
        if refreshesAll { first.refreshAllObjects() } else { first.refresh(patient, mergeChanges: true) }
        #expect((patient.value(forKey: "doctors") as? NSSet)?.contains(doctor) == true && patient.value(forKey: "age") as? Int == 30)
    }

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

        override func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?) throws -> Any {
            if let save = request as? NSSaveChangesRequest {
                for object in save.insertedObjects ?? [] {
                    tables[object.entity.name ?? "", default: [:]][reference(object.objectID)] = object.name
                }
                return []
            }
            // As Core Data's programs spell it.
            let fetch = request as! NSFetchRequest<any NSFetchRequestResult>
            guard let context, let asked = fetch.entity, let model = persistentStoreCoordinator?.managedObjectModel else { return [] }
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
        var hall = EntityDraft(name: "Hall")
        hall.parentName = "Place"
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
        #expect(store.tables["Ward"] == ["1": "ward"] && store.tables["Hall"].map { Set($0.values) } == ["hall", "second"])
        let other = rig.context()
        #expect(try other.all("Place").map(\.name).sorted() == ["hall", "second", "ward"])
        #expect(try other.all("Hall").map(\.name).sorted() == ["hall", "second"])
        for object in [ward, hall, second] {
            #expect(rig.coordinator.managedObjectID(forURIRepresentation: object.objectID.uriRepresentation()) == object.objectID)
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

    @Test("A fetch's predicate reaches an incremental store with objects of its own context in the place of the caller's")
    func predicate() throws {
        let (rig, store) = try listening()
        let context = rig.context()
        let ward = context.make("Ward", ["name": "North"])
        try context.save()
        store.lines = []
        let request = NSFetchRequest<NSManagedObject>(entityName: "Patient")
        request.predicate = NSPredicate(format: "ward == %@ AND age > 3", ward)
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

    @Test("An atomic store's nodes follow saves: values, targets as nodes, members as sets; a failed save takes them back")
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
        #expect((node.value(forKey: "doctors") as? NSSet)?.anyObject() as? NSAtomicStoreCacheNode === store.cacheNode(for: doctor.objectID))
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
        _ = context.make("Doctor", ["name": "Ada"])
        try context.save()
        let rows = PendingRowsProbe.rows(store)
        #expect(throws: StoreError.self) { try rows.allocateKeys(1, in: EntityIndex(0)) }
        #expect(throws: StoreError.self) { try rows.commit(ChangeBatch()) }
    }
}

enum PendingRowsProbe {
    static func rows(_ store: NSPersistentStore) -> any RowStore {
        (try? PendingRows(ChangeBatch(), over: store.rows)) ?? store.rows
    }
}

extension NSManagedObject {
    fileprivate var name: String { value(forKey: "name") as? String ?? "" }
}
