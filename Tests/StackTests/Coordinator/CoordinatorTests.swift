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
    // MARK: Notifications

    @Test(
        "10 Adding and removing a store post StoresDidChange with the store, and WillRemoveStore before; WillChange is not posted"
    )
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
        let context = try rig.filled()
        rig.coordinator.setMetadata(["note": "mine"], for: store)
        let old = try context.all("Patient").map(\.objectID) + context.all("Visit").map(\.objectID)
        let log = StoreLog(rig.coordinator)
        let url = rig.folder.file("moved")
        let new = try rig.coordinator.migratePersistentStore(store, to: url, options: nil, withType: type)
        #expect(
            log.lines == [
                "StoresDidChange added", "StoresDidChange changed", "WillRemoveStore", "StoresDidChange removed",
            ])
        let changed = try #require(log.notes[1].userInfo?[NSUUIDChangedPersistentStoresKey] as? [Any])
        #expect(changed.count == 3 && changed[0] as AnyObject === store && changed[1] as AnyObject === new)
        let ids = try #require(changed[2] as? [NSManagedObjectID])
        #expect(ids.count == 2 * 5)
        for id in old {
            let place = try #require(ids.firstIndex(of: id))
            #expect(
                place.isMultiple(of: 2) && ids[place + 1].persistentStore === new && ids[place + 1].entity === id.entity
            )
        }
        #expect(new.identifier != store.identifier && new.type == type && rig.coordinator.persistentStores == [new])
        #expect(new.metadata["note"] as? String == "mine")
        #expect(try rig.summary(rig.context()) == "North 1 [\"b\", \"a\"]")
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
        try rig.filled()
        let other = Rig(in: rig.folder)
        let there = try other.add(NSSQLiteStoreType, "there")
        try other.filled()
        try other.coordinator.remove(there)
        let refused = code {
            try rig.coordinator.migratePersistentStore(
                store, to: rig.folder.file("there"), options: nil, withType: NSSQLiteStoreType)
        }
        #expect(refused == 134030 && rig.coordinator.persistentStores == [store])
        #expect(try rig.summary(rig.context()) == "North 1 [\"b\", \"a\"]")
    }

    @Test("Values that a SQLite store keeps in files come along to another type")
    func migrateExternal() throws {
        let rig = Rig(Sample.model(constraints: false))
        let store = try rig.add()
        let context = rig.context()
        let item = context.make("Item", ["serial": 1])
        try context.save()
        let key = item._state.key.row
        let name = UUID().uuidString
        let files = rig.folder.file(".store_SUPPORT/_EXTERNAL_DATA")
        try FileManager.default.createDirectory(at: files, withIntermediateDirectories: true)
        let content = Data((0..<200_000).map { UInt8(truncatingIfNeeded: $0) })
        try content.write(to: files.appendingPathComponent(name))
        let entity = rig.coordinator.runtime.schema[key.entity]
        let slot = try #require(entity.slots.firstIndex { $0.name == "big" })
        var values = [Value](repeating: .null, count: entity.slots.count)
        values[slot] = .data(Data([2] + Array(name.utf8) + [0]))
        let chunk = RowChunk(layout: entity.layout, capacity: 1)
        try chunk.append(key: key.number, version: 2, values: values)
        var batch = ChangeBatch()
        batch.updates = [UpdateGroup(entity: key.entity, slots: [slot], chunk: chunk, expected: [1])]
        _ = try store.rows.commit(batch)
        try rig.coordinator.migratePersistentStore(
            store, to: rig.folder.file("moved"), options: nil, withType: NSBinaryStoreType)
        #expect(try rig.context().all("Item").first?.value(forKey: "big") as? Data == content)
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
        try rig.filled()
        #expect(logs.map(\.lines.count) == [1, 1, 0])
        let info = try #require(logs[1].notes.first?.userInfo)
        #expect(
            info[NSStoreUUIDKey] as? String == store.identifier && info[NSPersistentStoreURLKey] as? URL == store.url)
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
        #expect(
            Set(NSPersistentStoreCoordinator.registeredStoreTypes.keys).isSuperset(of: [
                "SQLite", "InMemory", "Binary", "XML",
            ]))
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
        try Rig().add(options: [
            NSPersistentHistoryTrackingKey: false, NSMigratePersistentStoresAutomaticallyOption: true,
            NSPersistentStoreDeferredLightweightMigrationOptionKey: true,
            NSPersistentStoreFileProtectionKey: "complete",
            NSPersistentStoreStagedMigrationManagerOptionKey: NSStagedMigrationManager([]),
        ])
        #expect(code { try Rig().add(options: [NSPersistentHistoryTrackingKey: "yes"]) } == 134060)
        #expect(
            code { try Rig().add(options: [NSPersistentStoreStagedMigrationManagerOptionKey: NSObject()]) } == 134060)
    }

    @Test("execute(_:with:) answers a fetch; perform and performAndWait run blocks, nested as well")
    func execute() async throws {
        let rig = Rig()
        try rig.add()
        let context = try rig.filled()
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
