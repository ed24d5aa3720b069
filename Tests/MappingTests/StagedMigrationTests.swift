// Migrations stage by stage.

import CoreDataTestSupport
import Synchronization
import Testing

@testable import CoreData

@Suite struct StagedMigrationTests {
    private let versions = Versions()
    private let models: [NSManagedObjectModel]

    /// A price in words becomes a number: first beside it, then in its place.
    private static let entities = [
        "<entity name=\"Ware\"><attribute name=\"name\" optional=\"YES\" attributeType=\"String\"/><attribute name=\"price\" optional=\"YES\" attributeType=\"String\"/></entity>",
        "<entity name=\"Ware\"><attribute name=\"name\" optional=\"YES\" attributeType=\"String\"/><attribute name=\"price\" optional=\"YES\" attributeType=\"String\"/><attribute name=\"cents\" optional=\"YES\" attributeType=\"Integer 32\"/></entity>",
        "<entity name=\"Ware\"><attribute name=\"name\" optional=\"YES\" attributeType=\"String\"/><attribute name=\"cents\" optional=\"YES\" attributeType=\"Integer 32\"/><attribute name=\"note\" optional=\"YES\" attributeType=\"String\"/></entity>",
        "<entity name=\"Ware\"><attribute name=\"title\" optional=\"YES\" attributeType=\"String\" elementID=\"name\"/><attribute name=\"cents\" optional=\"YES\" attributeType=\"Integer 32\"/><attribute name=\"note\" optional=\"YES\" attributeType=\"String\"/></entity>",
    ]

    init() throws {
        var models: [NSManagedObjectModel] = []
        for (number, text) in Self.entities.enumerated() {
            models.append(try versions.model("Shop.xcdatamodeld/Shop \(number + 1)", text))
        }
        self.models = models
        try versions.with(models[0], at: versions.file("shop")) { context in
            for (name, price) in [("Apple", "12"), ("Pear", "30")] {
                context.make("Ware", ["name": name, "price": price])
            }
            try context.save()
        }
    }

    private func reference(_ version: Int) -> NSManagedObjectModelReference {
        NSManagedObjectModelReference(
            fileURL: versions.file("Shop.xcdatamodeld"), versionChecksum: models[version - 1].versionChecksum)
    }

    private func sum(_ version: Int) -> String { models[version - 1].versionChecksum }

    /// Computes cents while both are there.
    private func custom(_ label: String = "cents") -> NSCustomMigrationStage {
        let stage = NSCustomMigrationStage(migratingFrom: reference(2), to: reference(3))
        stage.label = label
        stage.willMigrateHandler = { manager, stage in
            guard let context = manager.container?.newBackgroundContext() else { throw CocoaError(.featureUnsupported) }
            try context.performAndWait {
                for ware in try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Ware")) {
                    ware.setValue((ware.value(forKey: "price") as? String).flatMap { Int($0) }, forKey: "cents")
                }
                try context.save()
            }
        }
        stage.didMigrateHandler = { manager, stage in
            guard let context = manager.container?.newBackgroundContext() else { throw CocoaError(.featureUnsupported) }
            let label = stage.label ?? ""
            try context.performAndWait {
                for ware in try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Ware")) {
                    ware.setValue(label, forKey: "note")
                }
                try context.save()
            }
        }
        return stage
    }

    private func open(_ version: Int, _ manager: NSStagedMigrationManager) throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: models[version - 1])
        let store = try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: versions.file("shop"),
            options: [NSPersistentStoreStagedMigrationManagerOptionKey: manager])
        try coordinator.remove(store)
        #expect(manager.container == nil)
    }

    private func wares() throws -> [String] {
        try versions.with(models[3], at: versions.file("shop")) { context in
            try context.all("Ware", by: "title").map {
                "\($0.value(forKey: "title") ?? "") \($0.value(forKey: "cents") ?? "") \($0.value(forKey: "note") ?? "")"
            }
        }
    }

    @Test("13.6: stages run in order, and handlers of a custom stage have the store open before and after")
    func walked() throws {
        let manager = NSStagedMigrationManager([
            NSLightweightMigrationStage([sum(1), sum(2)]), custom(), NSLightweightMigrationStage([sum(4)]),
        ])
        #expect(manager.stages.count == 3)
        #expect((manager.stages[0] as? NSLightweightMigrationStage)?.versionChecksums == [sum(1), sum(2)])
        try open(4, manager)
        #expect(try wares() == ["Apple 12 cents", "Pear 30 cents"])
        // A store that fits asks nobody.
        try open(4, NSStagedMigrationManager([]))
    }

    @Test("A store begins at the stage of its own version, and a description takes the manager as a container does")
    func later() throws {
        try open(2, NSStagedMigrationManager([NSLightweightMigrationStage([sum(1), sum(2)])]))
        let manager = NSStagedMigrationManager([NSLightweightMigrationStage([sum(1), sum(2)]), custom("second")])
        let description = NSPersistentStoreDescription(url: versions.file("shop"))
        description.setOption(manager, forKey: NSPersistentStoreStagedMigrationManagerOptionKey)
        let container = NSPersistentContainer(name: "Shop", managedObjectModel: models[3])
        container.persistentStoreDescriptions = [description]
        var failure: (any Error)?
        container.loadPersistentStores { failure = $1 }
        #expect(failure == nil)
        for store in container.persistentStoreCoordinator.persistentStores {
            try container.persistentStoreCoordinator.remove(store)
        }
        #expect(try wares() == ["Apple 12 second", "Pear 30 second"])
    }

    /// Another tool's checksums of two versions with a derived attribute, and its hash of the entity that has it.
    @Test("13.6: checksums that are recorded beside a model, and hashes in a store, stand for what cannot be computed")
    func recorded() throws {
        let ware = """
            <attribute name="name" optional="YES" attributeType="String"/>
            <attribute name="changed" optional="YES" attributeType="Date" derived="YES" derivationExpression="now()"/>
            """
        let note = "<entity name=\"Note\"><attribute name=\"text\" optional=\"YES\" attributeType=\"String\"/></entity>"
        let price = "<attribute name=\"price\" optional=\"YES\" attributeType=\"Integer 32\" defaultValueString=\"3\"/>"
        let first = try versions.model("Stock.xcdatamodeld/Stock 1", "<entity name=\"Ware\">\(ware)</entity>\(note)")
        _ = try versions.model("Stock.xcdatamodeld/Stock 2", "<entity name=\"Ware\">\(ware)\(price)</entity>\(note)")
        let info: [String: Any] = [
            "NSManagedObjectModel_CurrentVersionName": "Stock 2",
            "NSManagedObjectModel_VersionChecksums": ["Stock 1": "their first", "Stock 2": "their second"],
        ]
        let package = versions.file("Stock.xcdatamodeld")
        try PropertyListSerialization.data(fromPropertyList: info, format: .xml, options: 0)
            .write(to: package.appendingPathComponent("VersionInfo.plist"))
        let current = ["_XCCurrentVersionName": "Stock 2.xcdatamodel"]
        try PropertyListSerialization.data(fromPropertyList: current, format: .xml, options: 0)
            .write(to: package.appendingPathComponent(".xccurrentversion"))
        let url = versions.file("stock")
        try versions.with(first, at: url) { context in
            context.make("Ware", ["name": "Äpfel"])
            try context.save()
        }
        try NSPersistentStoreCoordinator.recordOthersHash(of: "Ware", at: url)

        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: try NSManagedObjectModel(loading: package))
        let manager = NSStagedMigrationManager([NSLightweightMigrationStage(["their first", "their second"])])
        let store = try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: url,
            options: [NSPersistentStoreStagedMigrationManagerOptionKey: manager])
        let context = coordinator.context()
        let found = try context.performAndWait {
            try context.all("Ware", by: "name").map {
                "\($0.value(forKey: "name") ?? "") \($0.value(forKey: "price") ?? "") \($0.value(forKey: "changed") != nil)"
            }
        }
        #expect(found == ["Äpfel 3 true"])
        try coordinator.remove(store)
    }

    @Test("A store goes no further than to its coordinator's version, though stages lead on")
    func noFurther() throws {
        try open(2, NSStagedMigrationManager([[sum(1), sum(2)], [sum(4)]].map { NSLightweightMigrationStage($0) }))
        let prices = try versions.with(models[1], at: versions.file("shop")) { context in
            try context.all("Ware", by: "name").map { $0.value(forKey: "price") as? String }
        }
        #expect(prices == ["12", "30"])
    }

    @Test("One manager serves stores that are opened at once: each handler has its own store's container")
    func shared() throws {
        let inside = Mutex(0)
        let found = Mutex<[URL?]>([])
        let stage = custom()
        stage.willMigrateHandler = nil
        stage.didMigrateHandler = { manager, _ in
            inside.withLock { $0 += 1 }
            let end = Date().addingTimeInterval(20)
            while inside.withLock({ $0 }) < 2, Date() < end { usleep(1000) }
            let url = manager.container?.persistentStoreCoordinator.persistentStores.first?.url
            manager.container?.newBackgroundContext().performAndWait {
                let same = manager.container?.persistentStoreCoordinator.persistentStores.first?.url
                found.withLock { $0 += [url, same] }
            }
            inside.withLock { $0 += 1 }
            while inside.withLock({ $0 }) < 4, Date() < end { usleep(1000) }
        }
        let manager = NSStagedMigrationManager([stage])
        let urls = [versions.file("one"), versions.file("two")]
        for url in urls { try versions.with(models[1], at: url) { try $0.save() } }
        nonisolated(unsafe) let model = models[2]
        let failures = Mutex<[String]>([])
        DispatchQueue.concurrentPerform(iterations: 2) { place in
            do {
                let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
                let store = try coordinator.addPersistentStore(
                    ofType: NSSQLiteStoreType, configurationName: nil, at: urls[place],
                    options: [NSPersistentStoreStagedMigrationManagerOptionKey: manager])
                try coordinator.remove(store)
            } catch { failures.withLock { $0.append("\(error)") } }
        }
        #expect(failures.withLock { $0 } == [])
        let names = found.withLock { $0.map { $0?.lastPathComponent ?? "none" } }
        #expect(names.sorted() == ["one", "one", "two", "two"])
        #expect(manager.container == nil)
    }

    @Test("A handler that opens another store with its manager has its own container again, and other threads have it")
    func nested() throws {
        let seen = Mutex<[String]>([])
        let inner = versions.file("inner")
        try versions.with(models[1], at: inner) { try $0.save() }
        let stage = custom()
        let model = models[2]
        stage.willMigrateHandler = nil
        stage.didMigrateHandler = { manager, _ in
            func look() {
                let url = manager.container?.persistentStoreCoordinator.persistentStores.first?.url
                seen.withLock { $0.append(url?.lastPathComponent ?? "none") }
            }
            look()
            guard seen.withLock({ $0.count }) == 1 else { return }
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
            let store = try coordinator.addPersistentStore(
                ofType: NSSQLiteStoreType, configurationName: nil, at: inner,
                options: [NSPersistentStoreStagedMigrationManagerOptionKey: manager])
            try coordinator.remove(store)
            look()
            let done = DispatchSemaphore(value: 0)
            Thread.detachNewThread {
                let url = manager.container?.persistentStoreCoordinator.persistentStores.first?.url
                seen.withLock { $0.append(url?.lastPathComponent ?? "none") }
                done.signal()
            }
            done.wait()
        }
        try open(3, NSStagedMigrationManager([NSLightweightMigrationStage([sum(1), sum(2)]), stage]))
        #expect(seen.withLock { $0 } == ["shop", "inner", "shop", "shop"])
    }

    @Test("A handler that fails names its stage and leaves the last whole version")
    func failure() throws {
        let stage = custom("broken")
        stage.willMigrateHandler = { _, _ in throw CocoaError(.fileLocking) }
        let error = thrown {
            try open(
                4,
                NSStagedMigrationManager([
                    NSLightweightMigrationStage([sum(1), sum(2)]), stage, NSLightweightMigrationStage([sum(4)]),
                ]))
        }
        #expect(error?.code == .migration)
        #expect(error?.sentence.contains("“broken”") == true)
        #expect(
            error?.sentence.contains("the store has the version Shop 2 (\(sum(2)))") == true
                && error?.sentence.contains("as it was") == false, "\(error?.sentence ?? "")")
        let count = try versions.with(models[1], at: versions.file("shop")) {
            try $0.count(for: NSFetchRequest<NSManagedObject>(entityName: "Ware"))
        }
        #expect(count == 2)
    }

    @Test(
        "134504 for a version that no stage knows and a model that is not found, 134505 for another checksum, 134506 backwards"
    )
    func errors() throws {
        let unknown = thrown { try open(4, NSStagedMigrationManager([NSLightweightMigrationStage([sum(2), sum(4)])])) }
        #expect(unknown?.errorCode == NSManagedObjectModelReferenceNotFoundError)
        let missing = NSManagedObjectModelReference(fileURL: versions.file("None.momd"), versionChecksum: sum(2))
        let lost = thrown {
            try open(4, NSStagedMigrationManager([NSCustomMigrationStage(migratingFrom: reference(1), to: missing)]))
        }
        #expect(lost?.errorCode == NSManagedObjectModelReferenceNotFoundError)
        let wrong = NSManagedObjectModelReference(model: models[1], versionChecksum: sum(3))
        let other = thrown {
            try open(4, NSStagedMigrationManager([NSCustomMigrationStage(migratingFrom: reference(1), to: wrong)]))
        }
        #expect(other?.errorCode == NSStagedMigrationFrameworkVersionMismatchError)
        try open(4, NSStagedMigrationManager([NSLightweightMigrationStage([sum(1), sum(4)])]))
        let back = thrown {
            try open(2, NSStagedMigrationManager([NSLightweightMigrationStage([sum(1), sum(2), sum(4)])]))
        }
        #expect(back?.errorCode == NSStagedMigrationBackwardMigrationError)
        #expect(
            thrown {
                try NSPersistentStoreCoordinator(managedObjectModel: models[0]).addPersistentStore(
                    ofType: NSSQLiteStoreType, configurationName: nil, at: versions.file("shop"),
                    options: [NSPersistentStoreStagedMigrationManagerOptionKey: "no manager"])
            }?.sentence.contains("NSStagedMigrationManager") == true)
    }

    @Test("A handler that fails after its step says that the store has the step's version")
    func failureAfterwards() throws {
        let stage = custom("late")
        stage.didMigrateHandler = { _, _ in throw CocoaError(.fileLocking) }
        let error = thrown {
            try open(4, NSStagedMigrationManager([NSLightweightMigrationStage([sum(1), sum(2)]), stage]))
        }
        #expect(error?.code == .migration)
        #expect(error?.sentence.contains("“late”, and the store has the version Shop 3 (\(sum(3)))") == true)
    }

    @Test("13.6: each reference to a version is verified, also a further one to a version that another stage leads to")
    func furtherReferences() throws {
        let first = NSCustomMigrationStage(migratingFrom: reference(1), to: reference(2))
        let missing = NSManagedObjectModelReference(fileURL: versions.file("None.momd"), versionChecksum: sum(2))
        let wrong = NSManagedObjectModelReference(model: models[0], versionChecksum: sum(2))
        for (further, code) in [(wrong, 134505), (missing, 134504)] {
            let error = thrown {
                try open(
                    4,
                    NSStagedMigrationManager([first, NSCustomMigrationStage(migratingFrom: further, to: reference(3))]))
            }
            #expect(error?.errorCode == code, "\(error?.sentence ?? "none")")
        }
        // Before anything was written.
        let count = try versions.with(models[0], at: versions.file("shop")) {
            try $0.count(for: NSFetchRequest<NSManagedObject>(entityName: "Ware"))
        }
        #expect(count == 2)
    }

    @Test("References by name and by hashes find their version in a bundle, and verify its checksum (134504, 134505)")
    func bundled() throws {
        let bundle = try #require(Bundle(url: versions.file("Shop.xcdatamodeld").deletingLastPathComponent()))
        let named = NSManagedObjectModelReference(name: "Shop 2", in: bundle, versionChecksum: sum(2))
        #expect(named.resolvedModel.versionChecksum == sum(2))
        let current = NSManagedObjectModelReference(name: "Shop", in: bundle, versionChecksum: sum(4))
        #expect(current.resolvedModel.versionChecksum == sum(4))
        let hashed = NSManagedObjectModelReference(
            entityVersionHashes: models[2].entityVersionHashesByName, in: bundle, versionChecksum: sum(3))
        #expect(hashed.resolvedModel.entityVersionHashesByName == models[2].entityVersionHashesByName)
        func code(_ reference: NSManagedObjectModelReference) -> Int? {
            do { _ = try reference.resolve() } catch { return (error as? CocoaError)?.code.rawValue }
            return nil
        }
        #expect(code(NSManagedObjectModelReference(name: "Shop 2", in: bundle, versionChecksum: sum(3))) == 134505)
        #expect(code(NSManagedObjectModelReference(name: "Shop 9", in: bundle, versionChecksum: sum(3))) == 134504)
        let hashes = ["Nobody": Data(repeating: 1, count: 32)]
        #expect(
            code(NSManagedObjectModelReference(entityVersionHashes: hashes, in: bundle, versionChecksum: sum(1)))
                == 134504)
        let other = NSManagedObjectModelReference(
            entityVersionHashes: models[2].entityVersionHashesByName, in: bundle, versionChecksum: sum(1))
        #expect(code(other) == 134505)
    }

    @Test("References find their model by model, file, name and hashes, and verify its checksum")
    func references() throws {
        let model = models[1]
        #expect(NSManagedObjectModelReference(model: model, versionChecksum: sum(2)).resolvedModel === model)
        #expect(reference(2).resolvedModel.versionChecksum == sum(2))
        #expect(reference(2).versionChecksum == sum(2))
        let hashes = NSManagedObjectModelReference(
            entityVersionHashes: model.entityVersionHashesByName, in: Bundle.main, versionChecksum: sum(2))
        #expect(throws: CocoaError.self) { try hashes.resolve() }
        let named = NSManagedObjectModelReference(name: "Shop 2", in: nil, versionChecksum: sum(2))
        #expect(throws: CocoaError.self) { try named.resolve() }
        let sums = try NSManagedObjectModel.__checksumsForVersionedModel(at: versions.file("Shop.xcdatamodeld"))
        #expect(sums == ["Shop 1": sum(1), "Shop 2": sum(2), "Shop 3": sum(3), "Shop 4": sum(4)])
        #expect(throws: (any Error).self) {
            try NSManagedObjectModel.__checksumsForVersionedModel(at: versions.file("none"))
        }
        #expect(NSMigrationStage().label.isEmpty)
        #expect(NSPersistentStoreModelVersionChecksumKey == "NSStoreModelVersionChecksumKey")
    }
}
