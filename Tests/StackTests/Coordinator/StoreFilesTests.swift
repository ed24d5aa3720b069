// Destroying and replacing stores, and what is recorded beside their objects.

import CoreDataTestSupport
import CoreDataValues
import Testing

@testable import CoreData

@Suite struct StoreFilesTests {
    // MARK: Destroy and replace

    @Test(
        "15.4 destroyPersistentStore empties the SQLite file in its place, under its lock, and others with it open see that"
    )
    func destroy() throws {
        let rig = Rig()
        try rig.add()
        let context = try rig.filled()
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
        try again.filled()
        // Where nothing is, nothing is destroyed.
        try other.destroyPersistentStore(at: rig.folder.file("none"), ofType: NSSQLiteStoreType)
        #expect(!FileManager.default.fileExists(atPath: rig.folder.file("none").path))
    }

    @Test("15.4 A store that others have open and have only read is destroyed at once; they see an empty database")
    func destroyUnderReader() throws {
        let filled = Rig()
        let written = try filled.add()
        try filled.filled()
        try filled.coordinator.remove(written)
        let rig = Rig(in: filled.folder)
        try rig.add()
        let context = rig.context()
        #expect(try context.all("Patient").count == 1)
        context.reset()
        try rig.coordinator.destroyPersistentStore(at: rig.folder.file("store"), ofType: NSSQLiteStoreType)
        #expect(throws: CocoaError.self) { try context.all("Patient") }
        let again = Rig(in: rig.folder)
        try again.add()
        #expect(try again.context().all("Patient").isEmpty)
    }

    @Test("15.4 Destroying waits for a writer's lock and gives up with an error, leaving the store whole")
    func destroyLocked() throws {
        let rig = Rig()
        try rig.add()
        try rig.filled()
        let lock = try rig.lock()
        #expect(throws: CocoaError.self) {
            try rig.coordinator.destroyPersistentStore(at: rig.folder.file("store"), ofType: NSSQLiteStoreType)
        }
        lock()
        #expect(try rig.summary(rig.context()) == "North 1 [\"b\", \"a\"]")
    }

    @Test(
        "A file that is no store is not destroyed unless that is forced",
        arguments: [NSSQLiteStoreType, NSXMLStoreType])
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

    @Test(
        "15.4 replacePersistentStore puts a copy with the source's UUID in place, external data included",
        arguments: [NSSQLiteStoreType, NSBinaryStoreType])
    func replace(_ type: String) throws {
        let rig = Rig()
        let source = try rig.add(type, "source.db")
        try rig.filled()
        let files = rig.folder.file(".source_SUPPORT/_EXTERNAL_DATA")
        try FileManager.default.createDirectory(at: files, withIntermediateDirectories: true)
        let name = UUID().uuidString
        try Data([7]).write(to: files.appendingPathComponent(name))
        let other = Rig(in: rig.folder)
        let former = try other.add(type, "target.db")
        let context = other.context()
        _ = context.make("Doctor", ["name": "gone"])
        try context.save()
        try other.coordinator.remove(former)
        try rig.coordinator.replacePersistentStore(
            at: rig.folder.file("target.db"), withPersistentStoreFrom: rig.folder.file("source.db"), ofType: type)
        let copied = rig.folder.file(".target_SUPPORT/_EXTERNAL_DATA/\(name)")
        #expect(try Data(contentsOf: copied) == Data([7]))
        #expect(try other.add(type, "target.db").identifier == source.identifier)
        #expect(try other.summary(other.context()) == "North 1 [\"b\", \"a\"]")
        #expect(try other.context().all("Doctor").count == 1)
        // The source is as it was.
        #expect(try rig.summary(rig.context()) == "North 1 [\"b\", \"a\"]")
    }

    @Test("A replacement by what is no store leaves the destination as it was")
    func replaceByNothing() throws {
        let rig = Rig()
        try rig.add()
        try rig.filled()
        try Data("no store".utf8).write(to: rig.folder.file("letter"))
        for name in ["letter", "missing"] {
            #expect(throws: CocoaError.self) {
                try rig.coordinator.replacePersistentStore(
                    at: rig.folder.file("store"), withPersistentStoreFrom: rig.folder.file(name),
                    ofType: NSSQLiteStoreType)
            }
        }
        #expect(try rig.summary(rig.context()) == "North 1 [\"b\", \"a\"]")
    }

    // MARK: Metadata

    @Test(
        "Metadata is set and read through the coordinator and without it",
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
        let context = try rig.filled()
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
            #expect(got == 134080, "\(type) \(name)")
        }
        #expect(
            code {
                _ = try NSPersistentStoreCoordinator.metadataForPersistentStore(
                    ofType: NSInMemoryStoreType, at: folder.file("x"))
            }
                == 134000)
    }
}
