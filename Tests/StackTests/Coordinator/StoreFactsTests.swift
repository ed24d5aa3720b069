// What coordinators tell of stores: messages, metadata without a type, IDs of texts, options of SQLite, folders.

import CoreDataTestSupport
import CoreDataValues
import Synchronization
import Testing

@testable import CoreData

@Suite struct StoreFactsTests {
    // MARK: Messages

    @MainActor
    @Test("Stores that come, go and take another UUID are told as messages, on the main actor and elsewhere")
    func messages() async throws {
        let rig = Rig()
        let coordinator = rig.coordinator
        let center = NotificationCenter.default
        let lines = Mutex<[String]>([])
        let asynchronous = Mutex<[String]>([])
        let tokens = [
            center.addObserver(of: coordinator, for: .storesDidChange) { message in
                let isReplaced = message.uuidChangedStores.map { $0.oldValue !== $0.newValue } ?? false
                lines.withLock {
                    $0.append("\(message.addedStores.count) \(message.removedStores.count) \(isReplaced)")
                }
                #expect(message.persistentStoreCoordinator === coordinator)
                typealias Message = NSPersistentStoreCoordinator.StoresDidChangeMessage
                let again = Message.makeMessage(Message.makeNotification(message))
                #expect(again?.addedStores == message.addedStores && again?.removedStores == message.removedStores)
                #expect(again?.uuidChangedStores?.newValue === message.uuidChangedStores?.newValue)
            },
            center.addObserver(of: coordinator, for: .storesDidChangeAsync) { message in
                asynchronous.withLock { $0.append("\(message.addedStores.count) \(message.removedStores.count)") }
            },
        ]
        defer { tokens.forEach { center.removeObserver($0) } }
        let store = try rig.add()
        try rig.filled()
        try coordinator.migratePersistentStore(
            store, to: rig.folder.file("moved"), options: nil, withType: NSSQLiteStoreType)
        #expect(lines.withLock { $0 } == ["1 0 false", "1 0 false", "0 0 true", "0 1 false"])
        for _ in 0..<1000 where asynchronous.withLock({ $0.count }) < 4 { try await Task.sleep(for: .milliseconds(5)) }
        #expect(asynchronous.withLock { $0 } == ["1 0", "1 0", "0 0", "0 1"])
    }

    // MARK: Metadata

    @Test(
        "Metadata is read and written without a type being said; the file tells it",
        arguments: [NSSQLiteStoreType, NSBinaryStoreType, NSXMLStoreType, NSPropertyListStoreType])
    func typeless(_ type: String) throws {
        let rig = Rig()
        let store = try rig.add(type)
        try rig.coordinator.remove(store)
        let url = rig.folder.file("store")
        let unknown: String? = nil
        var metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: unknown, at: url)
        #expect(metadata[NSStoreTypeKey] as? String == type && metadata[NSStoreUUIDKey] as? String == store.identifier)
        metadata["note"] = "mine"
        try NSPersistentStoreCoordinator.setMetadata(metadata, forPersistentStoreOfType: unknown, at: url)
        let known: String? = type
        let written = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: known, at: url)
        #expect(written["note"] as? String == "mine")
    }

    @Test(
        "Metadata that cannot be written when it is set is written with the next save, which throws what is in the way")
    func lateMetadata() throws {
        let rig = Rig()
        let store = try rig.add(options: [NSPersistentStoreTimeoutOption: 0.05])
        let (url, context) = (rig.folder.file("store"), rig.context())
        func written() throws -> String? {
            try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: NSSQLiteStoreType, at: url)["note"]
                as? String
        }
        let release = try rig.lock()
        store.metadata = store.metadata.merging(["note": "mine"]) { $1 }
        #expect(code { try context.save() } == 134090)
        #expect(store.metadata["note"] as? String == "mine")
        release()
        #expect(try written() == nil)
        try context.save()
        #expect(try written() == "mine" && store.metadata["note"] as? String == "mine")
        // What is no metadata stands in the way of no save.
        store.metadata = ["note": context]
        try context.save()
        #expect(try written() == "mine" && store.metadata["note"] as? String == "mine")
    }

    @Test("A file of no known type, and none at all, are refused with a sentence")
    func noType() throws {
        let folder = Folder()
        let unknown: String? = nil
        let text = folder.file("text")
        try Data("no store".utf8).write(to: text)
        for url in [text, folder.file("missing")] {
            #expect(
                code { _ = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: unknown, at: url) }
                    == 134080)
        }
        #expect(try Data(contentsOf: text) == Data("no store".utf8))
    }

    @Test("The copy of the model in a file is read; one that is damaged is refused, and a file without one says so")
    func cachedModel() throws {
        let rig = Rig()
        try rig.coordinator.remove(try rig.add())
        let url = rig.folder.file("store")
        func refusal() -> String {
            sentence { _ = try NSPersistentStoreCoordinator.cachedModelForPersistentStore(at: url) }
        }
        let copy = try NSPersistentStoreCoordinator.cachedModelForPersistentStore(at: url)
        #expect(copy.entityVersionHashesByName == rig.coordinator.managedObjectModel.entityVersionHashesByName)
        try rig.run("UPDATE Z_MODELCACHE SET Z_CONTENT = x'00'")
        #expect(refusal().contains("the model beside the rows cannot be read"))
        try rig.run("DELETE FROM Z_MODELCACHE")
        #expect(refusal().contains("keeps no copy of its model"))
        let missing = rig.folder.file("missing")
        #expect(code { _ = try NSPersistentStoreCoordinator.cachedModelForPersistentStore(at: missing) } == 134080)
    }

    // MARK: IDs and tokens

    @Test("An ID is made of the text of its URI, given as UTF-8; of another text it is nil")
    func texts() throws {
        let rig = Rig()
        try rig.add()
        let context = try rig.filled()
        let id = try #require(try context.all("Patient").first).objectID
        let text = id.uriRepresentation().absoluteString
        #expect(rig.coordinator.managedObjectID(for: text) == id)
        text.withCString { bytes in
            #expect(rig.coordinator.managedObjectID(fromUTF8String: bytes, length: text.utf8.count) == id)
            #expect(rig.coordinator.managedObjectID(fromUTF8String: bytes, length: 12) == nil)
            #expect(rig.coordinator.managedObjectID(fromUTF8String: bytes, length: 0) == nil)
        }
    }

    @MainActor
    @Test("The token of a coordinator and of a save's message is where the history is; without a history there is none")
    func tokens() throws {
        let rig = Rig()
        let plain = try rig.add()
        let recorded = try rig.add(NSSQLiteStoreType, "recorded", options: [NSPersistentHistoryTrackingKey: true])
        let context = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
        context.persistentStoreCoordinator = rig.coordinator
        let heard = Mutex<[NSPersistentHistoryToken?]>([])
        let center = NotificationCenter.default
        let tokens = [
            center.addObserver(of: context, for: .didSave) { message in
                heard.withLock { $0.append(message.historyToken) }
            },
            center.addObserver(of: context, for: .didSaveObjectIDs) { message in
                heard.withLock { $0.append(message.historyToken) }
            },
        ]
        defer { tokens.forEach { center.removeObserver($0) } }
        let before = try #require(rig.coordinator.currentPersistentHistoryToken(fromStores: nil))
        let patient = context.make("Patient", ["name": "Ada"])
        context.assign(patient, to: recorded)
        try context.save()
        let after = try #require(rig.coordinator.currentPersistentHistoryToken(fromStores: [recorded]))
        #expect(after != before && heard.withLock { $0 } == [after, after])
        #expect(rig.coordinator.currentPersistentHistoryToken(fromStores: [plain]) == nil)
    }

    @Test("The names of transitions have Core Data's numbers")
    func transitions() {
        let all: [NSPersistentStoreUbiquitousTransitionType] = [
            .accountAdded, .accountRemoved, .contentRemoved, .initialImportCompleted,
        ]
        #expect(all.map(\.rawValue) == [1, 2, 3, 4])
    }

    // MARK: Options

    @Test("A store is vacuumed and analysed when it is added, if asked, and only then")
    func upkeep() throws {
        let rig = Rig()
        let store = try rig.add()
        let context = rig.context()
        try context.performAndWait {
            for number in 0..<2000 { _ = context.make("Patient", ["name": String(repeating: "\(number)", count: 50)]) }
            try context.save()
            try context.all("Patient").forEach(context.delete)
            try context.save()
        }
        try rig.coordinator.remove(store)
        let url = rig.folder.file("store")
        func size() throws -> Int { try Data(contentsOf: url).count }
        func statistics() throws -> [String] {
            try SQLiteFile(url).rows("SELECT COUNT(*) FROM sqlite_master WHERE name = 'sqlite_stat1'")
        }
        try rig.coordinator.remove(try rig.add())
        let before = try size()
        #expect(try statistics() == ["0"])
        try rig.coordinator.remove(
            try rig.add(options: [NSSQLiteManualVacuumOption: true, NSSQLiteAnalyzeOption: true]))
        #expect(try size() < before / 2 && statistics() == ["1"])
        try rig.add(options: [NSReadOnlyPersistentStoreOption: true, NSSQLiteManualVacuumOption: true])
        #expect(code { try rig.add(NSSQLiteStoreType, "other", options: [NSSQLiteAnalyzeOption: "often"]) } == 134060)
    }

    @Test("The size of the pool is how many reads run at once, unless the library's own option says it")
    func poolSize() throws {
        func limit(_ options: [AnyHashable: Any]) throws -> Int { try StoreOptions(options).sqlite.readerLimit }
        #expect(try limit([NSPersistentStoreConnectionPoolMaxSizeKey: 7]) == 7)
        #expect(try limit([NSPersistentStoreConnectionPoolMaxSizeKey: NSNumber(value: 9)]) == 9)
        #expect(try limit([NSPersistentStoreConnectionPoolMaxSizeKey: 7, SQLiteReaderLimitOption: 3]) == 3)
        #expect(code { _ = try limit([NSPersistentStoreConnectionPoolMaxSizeKey: 0]) } == 134060)
        #expect(NSPersistentStoreOSCompatibility == "NSPersistentStoreOSCompatibility")
    }

    // MARK: Folders

    @Test("The default folder is a property as well as a method, of subclasses too")
    func folder() {
        let url: URL = NSPersistentContainer.defaultDirectoryURL
        #expect(url == NSPersistentContainer.defaultDirectoryURL())
        #expect(NSPersistentContainer.defaultDirectoryURL.lastPathComponent == ProcessInfo.processInfo.processName)
        final class Own: NSPersistentContainer, @unchecked Sendable {
            override class func defaultDirectoryURL() -> URL { URL(fileURLWithPath: "/own", isDirectory: true) }
        }
        let own: URL = Own.defaultDirectoryURL
        #expect(own.path == "/own")
    }
}
