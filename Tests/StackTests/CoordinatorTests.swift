// Coordinators: notifications, metadata, moving and destroying stores, constraints, frozen models.

import CoreDataTestSupport
import CoreDataValues
import Testing

@testable import CoreData

/// What coordinators and stores post, in order.
final class StoreLog: @unchecked Sendable {
    private let lock = NSLock()
    private var all: [Notification] = []
    private var observers: [any NSObjectProtocol] = []

    /// Hears one coordinator and its stores.
    init(_ coordinator: NSPersistentStoreCoordinator) {
        let names: [Notification.Name] = [
            .NSPersistentStoreCoordinatorStoresWillChange, .NSPersistentStoreCoordinatorStoresDidChange,
            .NSPersistentStoreCoordinatorWillRemoveStore, .NSPersistentStoreRemoteChange,
        ]
        for name in names {
            observers.append(
                NotificationCenter.default.addObserver(forName: name, object: nil, queue: nil) {
                    [weak self, weak coordinator] note in
                    let sender = note.object as AnyObject?
                    let owner = (sender as? NSPersistentStore)?.persistentStoreCoordinator
                    guard let coordinator, sender === coordinator || owner === coordinator else { return }
                    self?.take(note)
                })
        }
    }

    private func take(_ note: Notification) { lock.withLock { all.append(note) } }
    var notes: [Notification] { lock.withLock { all } }

    var lines: [String] {
        notes.map { note in
            let name = note.name.rawValue.replacingOccurrences(of: "NSPersistentStoreCoordinator", with: "")
                .replacingOccurrences(of: "Notification", with: "")
            return ([name] + (note.userInfo ?? [:]).keys.map { "\($0)" }.sorted()).joined(separator: " ")
        }
    }

    deinit { observers.forEach { NotificationCenter.default.removeObserver($0) } }
}

@Suite struct CoordinatorTests {
    private func filled(_ rig: Rig) throws -> NSManagedObjectContext {
        let context = rig.context()
        let ward = context.make("Ward", ["name": "North"])
        let patient = context.make("Patient", ["name": "Eve"])
        patient.setValue(ward, forKey: "ward")
        patient.setValue(Set([context.make("Doctor", ["name": "Ada"])]), forKey: "doctors")
        let visits = ["b", "a"].map { context.make("Visit", ["note": $0]) }
        patient.setValue(NSOrderedSet(array: visits), forKey: "visits")
        try context.save()
        return context
    }

    private func summary(_ context: NSManagedObjectContext) throws -> String {
        let patient = try #require(try context.all("Patient").first)
        let visits = (patient.value(forKey: "visits") as? NSOrderedSet)?.array.map { ($0 as? NSManagedObject)?.value(forKey: "note") as? String ?? "" }
        let doctors = (patient.value(forKey: "doctors") as? NSSet)?.count
        let ward = (patient.value(forKey: "ward") as? NSManagedObject)?.value(forKey: "name") as? String
        return "\(ward ?? "") \(doctors ?? 0) \(visits ?? [])"
    }

    // MARK: Notifications

    @Test("10 Adding and removing a store post StoresDidChange with the store, and WillRemoveStore before; WillChange is not posted")
    func addAndRemove() throws {
        let rig = Rig()
        let log = StoreLog(rig.coordinator)
        let store = try rig.add()
        #expect(log.notes.last?.userInfo?[NSAddedPersistentStoresKey] as? [NSPersistentStore] == [store])
        try rig.coordinator.remove(store)
        #expect(log.lines == ["StoresDidChange added", "WillRemoveStore", "StoresDidChange removed"])
        #expect(log.notes[1].object as AnyObject === store)
        #expect(log.notes[2].userInfo?[NSRemovedPersistentStoresKey] as? [NSPersistentStore] == [store])
    }

    @Test(
        "2.4 After a migration the UUID is another one, and StoresDidChange carries old store, new store and the ID pairs",
        arguments: [NSSQLiteStoreType, NSXMLStoreType, BoxStore.type, ShelfStore.type])
    func migrate(_ type: String) throws {
        let rig = Rig()
        let store = try rig.add()
        let context = try filled(rig)
        rig.coordinator.setMetadata(["note": "mine"], for: store)
        let old = try context.all("Patient").map(\.objectID) + context.all("Visit").map(\.objectID)
        let log = StoreLog(rig.coordinator)
        let url = rig.folder.file("moved")
        let new = try rig.coordinator.migratePersistentStore(store, to: url, options: nil, withType: type)
        #expect(log.lines == ["StoresDidChange added", "StoresDidChange changed", "WillRemoveStore", "StoresDidChange removed"])
        let changed = try #require(log.notes[1].userInfo?[NSUUIDChangedPersistentStoresKey] as? [Any])
        #expect(changed.count == 3 && changed[0] as AnyObject === store && changed[1] as AnyObject === new)
        let ids = try #require(changed[2] as? [NSManagedObjectID])
        #expect(ids.count == 2 * 5)
        for id in old {
            let place = try #require(ids.firstIndex(of: id))
            #expect(place.isMultiple(of: 2) && ids[place + 1].persistentStore === new && ids[place + 1].entity === id.entity)
        }
        #expect(new.identifier != store.identifier && new.type == type && rig.coordinator.persistentStores == [new])
        #expect(new.metadata["note"] as? String == "mine")
        #expect(try summary(rig.context()) == "North 1 [\"b\", \"a\"]")
        let fresh = rig.context()
        let moved = try fresh.existingObject(with: ids[try #require(ids.firstIndex(of: old[0])) + 1])
        #expect(moved.value(forKey: "name") as? String == "Eve")
        moved.setValue("Eva", forKey: "name")
        try fresh.save()
        #expect(FileManager.default.fileExists(atPath: rig.folder.file("store").path))
    }

    @Test("A migration onto a store with objects is refused and changes nothing")
    func migrateOnto() throws {
        let rig = Rig()
        let store = try rig.add()
        _ = try filled(rig)
        let other = Rig(in: rig.folder)
        let there = try other.add(NSSQLiteStoreType, "there")
        _ = try filled(other)
        try other.coordinator.remove(there)
        let refused = code {
            try rig.coordinator.migratePersistentStore(
                store, to: rig.folder.file("there"), options: nil, withType: NSSQLiteStoreType)
        }
        #expect(refused == 134030 && rig.coordinator.persistentStores == [store])
        #expect(try summary(rig.context()) == "North 1 [\"b\", \"a\"]")
    }

    @Test("10 A write to a store that asks for it is told to every coordinator that has the file")
    func remoteChange() throws {
        let options: [AnyHashable: Any] = [NSPersistentStoreRemoteChangeNotificationPostOptionKey: true]
        let rig = Rig()
        let store = try rig.add(options: options)
        let second = Rig(in: rig.folder)
        try second.add(options: options)
        let silent = Rig(in: rig.folder)
        try silent.add()
        let logs = [rig, second, silent].map { StoreLog($0.coordinator) }
        _ = try filled(rig)
        #expect(logs.map(\.lines.count) == [1, 1, 0])
        let info = try #require(logs[1].notes.first?.userInfo)
        #expect(info[NSStoreUUIDKey] as? String == store.identifier && info[NSPersistentStoreURLKey] as? URL == store.url)
    }

    // MARK: Destroy and replace

    @Test("15.4 destroyPersistentStore empties the SQLite file in its place, under its lock, and others with it open see that")
    func destroy() throws {
        let rig = Rig()
        try rig.add()
        let context = try filled(rig)
        let path = rig.folder.file("store").path
        let node = try FileManager.default.attributesOfItem(atPath: path)[.systemFileNumber] as? Int
        let support = rig.folder.file(".store_SUPPORT/_EXTERNAL_DATA")
        try FileManager.default.createDirectory(at: support, withIntermediateDirectories: true)
        let other = NSPersistentStoreCoordinator(managedObjectModel: Clinic.model())
        try other.destroyPersistentStore(at: rig.folder.file("store"), ofType: NSSQLiteStoreType)
        #expect(try FileManager.default.attributesOfItem(atPath: path)[.systemFileNumber] as? Int == node)
        #expect(!FileManager.default.fileExists(atPath: rig.folder.file(".store_SUPPORT").path))
        #expect(throws: CocoaError.self) { try context.all("Patient") }
        let again = Rig(in: rig.folder)
        try again.add()
        #expect(try again.context().all("Patient").isEmpty)
        _ = try filled(again)
        // Where nothing is, nothing is destroyed.
        try other.destroyPersistentStore(at: rig.folder.file("none"), ofType: NSSQLiteStoreType)
        #expect(!FileManager.default.fileExists(atPath: rig.folder.file("none").path))
    }

    @Test("15.4 Destroying waits for a writer's lock and gives up with an error, leaving the store whole")
    func destroyLocked() throws {
        let rig = Rig()
        try rig.add()
        _ = try filled(rig)
        let lock = try rig.lock()
        #expect(throws: CocoaError.self) {
            try rig.coordinator.destroyPersistentStore(at: rig.folder.file("store"), ofType: NSSQLiteStoreType)
        }
        lock()
        #expect(try summary(rig.context()) == "North 1 [\"b\", \"a\"]")
    }

    @Test("A file that is no store is not destroyed unless that is forced", arguments: [NSSQLiteStoreType, NSXMLStoreType])
    func destroyForeign(_ type: String) throws {
        let rig = Rig()
        let url = rig.folder.file("letter")
        let text = Data(String(repeating: "Dear reader, ", count: 100).utf8)
        try text.write(to: url)
        #expect(throws: CocoaError.self) { try rig.coordinator.destroyPersistentStore(at: url, ofType: type) }
        #expect(try Data(contentsOf: url) == text)
        if type == NSXMLStoreType {
            try rig.coordinator.destroyPersistentStore(
                at: url, ofType: type, options: [NSPersistentStoreForceDestroyOption: true])
            #expect(!FileManager.default.fileExists(atPath: url.path))
        }
    }

    @Test("15.4 replacePersistentStore puts a copy with the source's UUID in place, external data included",
        arguments: [NSSQLiteStoreType, NSBinaryStoreType])
    func replace(_ type: String) throws {
        let rig = Rig()
        let source = try rig.add(type, "source.db")
        _ = try filled(rig)
        let files = rig.folder.file(".source_SUPPORT/_EXTERNAL_DATA")
        try FileManager.default.createDirectory(at: files, withIntermediateDirectories: true)
        try Data([7]).write(to: files.appendingPathComponent("A"))
        let other = Rig(in: rig.folder)
        let former = try other.add(type, "target.db")
        let context = other.context()
        _ = context.make("Doctor", ["name": "gone"])
        try context.save()
        try other.coordinator.remove(former)
        try rig.coordinator.replacePersistentStore(
            at: rig.folder.file("target.db"), withPersistentStoreFrom: rig.folder.file("source.db"), ofType: type)
        let copied = rig.folder.file(".target_SUPPORT/_EXTERNAL_DATA/A")
        #expect(try Data(contentsOf: copied) == Data([7]))
        #expect(try other.add(type, "target.db").identifier == source.identifier)
        #expect(try summary(other.context()) == "North 1 [\"b\", \"a\"]")
        #expect(try other.context().all("Doctor").count == 1)
        // The source is as it was.
        #expect(try summary(rig.context()) == "North 1 [\"b\", \"a\"]")
    }

    @Test("A replacement by what is no store leaves the destination as it was")
    func replaceByNothing() throws {
        let rig = Rig()
        try rig.add()
        _ = try filled(rig)
        try Data("no store".utf8).write(to: rig.folder.file("letter"))
        for name in ["letter", "missing"] {
            #expect(throws: CocoaError.self) {
                try rig.coordinator.replacePersistentStore(
                    at: rig.folder.file("store"), withPersistentStoreFrom: rig.folder.file(name), ofType: NSSQLiteStoreType)
            }
        }
        #expect(try summary(rig.context()) == "North 1 [\"b\", \"a\"]")
    }

    // MARK: Metadata

    @Test("Metadata is set and read through the coordinator and without it",
        arguments: [NSSQLiteStoreType, NSBinaryStoreType, NSXMLStoreType, NSPropertyListStoreType])
    func metadata(_ type: String) throws {
        let rig = Rig()
        let store = try rig.add(type)
        let url = rig.folder.file("store")
        #expect(rig.coordinator.metadata(for: store)[NSStoreTypeKey] as? String == type)
        rig.coordinator.setMetadata(["colour": "red", "n": 3], for: store)
        let read = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: type, at: url)
        #expect(read["colour"] as? String == "red" && read["n"] as? Int == 3)
        #expect(read[NSStoreUUIDKey] as? String == store.identifier)
        #expect((read[NSStoreModelVersionHashesKey] as? [String: Data])?.count == 7)
        try rig.coordinator.remove(store)
        try NSPersistentStoreCoordinator.setMetadata(["colour": "blue"], forPersistentStoreOfType: type, at: url)
        let again = Rig(in: rig.folder)
        let reopened = try again.add(type)
        #expect(reopened.identifier == store.identifier)
        #expect(reopened.metadata["colour"] as? String == "blue" && reopened.metadata["n"] == nil)
        let typed = try NSPersistentStoreCoordinator.metadataForPersistentStore(
            type: NSPersistentStore.StoreType(rawValue: type), at: url)
        #expect(typed["colour"] as? String == "blue")
    }

    @Test("A store's identifier can be set; its objects' URIs follow")
    func identifier() throws {
        let rig = Rig()
        let store = try rig.add()
        let context = try filled(rig)
        let wanted = "11111111-2222-3333-4444-555555555555"
        store.identifier = wanted
        let patient = try #require(try context.all("Patient").first)
        #expect(store.identifier == wanted && patient.objectID.uriRepresentation().host == wanted)
        try rig.coordinator.remove(store)
        #expect(try Rig(in: rig.folder).add().identifier == wanted)
    }

    @Test("Metadata of a file that is no store is refused with 134080", arguments: [NSSQLiteStoreType, NSXMLStoreType])
    func noMetadata(_ type: String) throws {
        let folder = Folder()
        try Data(repeating: 65, count: 4096).write(to: folder.file("letter"))
        for name in ["letter", "missing"] {
            let got = code {
                _ = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: type, at: folder.file(name))
            }
            #expect(got != 0)
        }
        #expect(
            code { _ = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: NSInMemoryStoreType, at: folder.file("x")) }
                == 134000)
    }

    // MARK: Constraints and models

    @Test("6.6 A store that cannot keep constraints cannot be added to a model that has them; one that can, can")
    func constraints() throws {
        var draft = Clinic.draft()
        draft.entities[0].uniquenessConstraints = [["name"]]
        for type in [NSBinaryStoreType, NSXMLStoreType, ShelfStore.type] {
            let rig = Rig(NSManagedObjectModel(draft: draft))
            let said = sentence { try rig.add(type) }
            #expect(code { try rig.add(type) } == 134020 && said.contains("Patient"), "\(type): \(said)")
            #expect(rig.coordinator.persistentStores.isEmpty)
            #expect(!FileManager.default.fileExists(atPath: rig.folder.file("store").path))
        }
        for type in [NSSQLiteStoreType, NSInMemoryStoreType, NSPropertyListStoreType, BoxStore.type] {
            let rig = Rig(NSManagedObjectModel(draft: draft))
            try rig.add(type)
            let context = rig.context()
            for _ in 0..<2 { _ = context.make("Patient", ["name": "Eve"]) }
            #expect(code { try context.save() } == 133021, "\(type)")
        }
    }

    @Test("15.1 A model that a coordinator uses cannot be changed any more; a copy can")
    func frozen() async throws {
        let model = Clinic.model()
        model.entitiesByName["Patient"]?.attributesByName["name"]?.isOptional = true
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let copy = try #require(model.copy() as? NSManagedObjectModel)
        copy.entitiesByName["Patient"]?.attributesByName["name"]?.isOptional = false
        #expect(coordinator.managedObjectModel === model)
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let model = Clinic.model()
            _ = NSPersistentStoreCoordinator(managedObjectModel: model)
            model.entitiesByName["Patient"]?.attributesByName["name"]?.isOptional = true
        }
        let said = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(said.contains("isOptional of Patient.name") && said.contains("coordinator uses its model"))
        await #expect(processExitsWith: .failure) {
            let container = NSPersistentContainer(name: "Clinic", managedObjectModel: Clinic.model())
            container.managedObjectModel.entities = []
        }
    }

    // MARK: Store classes, requests, queues

    @Test("Store classes are registered and taken away by type; other classes are a misuse")
    func classes() async throws {
        NSPersistentStoreCoordinator.registerStoreClass(BoxStore.self, type: .init(rawValue: "SampleOnce"))
        #expect(NSPersistentStoreCoordinator.registeredStoreTypes["SampleOnce"] != nil)
        let rig = Rig()
        #expect(try rig.add("SampleOnce").type == "SampleOnce")
        NSPersistentStoreCoordinator.registerStoreClass(nil, forStoreType: "SampleOnce")
        #expect(NSPersistentStoreCoordinator.registeredStoreTypes["SampleOnce"] == nil)
        #expect(code { try Rig().add("SampleOnce") } == 134000)
        #expect(Set(NSPersistentStoreCoordinator.registeredStoreTypes.keys).isSuperset(of: ["SQLite", "InMemory", "Binary", "XML"]))
        await #expect(processExitsWith: .failure) {
            NSPersistentStoreCoordinator.registerStoreClass(NSObject.self, forStoreType: "Wrong")
        }
    }

    @Test("An unknown option is refused by the library's stores and left to a program's own")
    func options() throws {
        for type in [NSSQLiteStoreType, NSXMLStoreType] {
            let said = sentence { try Rig().add(type, options: ["Colour": "red"]) }
            #expect(said.contains("unsupported") && said.contains("Colour"))
        }
        let store = try Rig().add(BoxStore.type, options: ["Colour": "red"])
        #expect(store.options?["Colour"] as? String == "red")
        #expect(sentence { try Rig().add(options: [NSPersistentHistoryTrackingKey: true]) }.contains("unsupported"))
        try Rig().add(options: [NSPersistentHistoryTrackingKey: false, NSMigratePersistentStoresAutomaticallyOption: true])
    }

    @Test("execute(_:with:) answers a fetch; perform and performAndWait run blocks, nested as well")
    func execute() async throws {
        let rig = Rig()
        try rig.add()
        let context = try filled(rig)
        let found = try rig.coordinator.execute(NSFetchRequest<NSManagedObject>(entityName: "Patient"), with: context)
        #expect((found as? [NSManagedObject])?.count == 1)
        #expect(throws: CocoaError.self) { try rig.coordinator.execute(NSSaveChangesRequest(), with: context) }
        let coordinator = rig.coordinator
        let sum = coordinator.performAndWait { coordinator.performAndWait { 1 } + 1 }
        #expect(sum == 2)
        #expect(await coordinator.perform { 3 } == 3)
        let id = try #require(try context.all("Patient").first?.objectID)
        #expect(coordinator.managedObjectID(for: id.uriRepresentation().absoluteString) == id)
    }
}
