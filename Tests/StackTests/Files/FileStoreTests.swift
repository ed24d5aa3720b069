// The files of binary, XML and property-list stores.

import CoreDataTestSupport
import CoreDataValues
import Synchronization
import Testing

@testable import CoreData

@Suite struct FileStoreTests {
    static let types = [NSBinaryStoreType, NSXMLStoreType, NSPropertyListStoreType]

    private func filled(_ type: String, _ rig: Rig = Rig()) throws -> (Rig, NSManagedObjectContext) {
        try rig.add(type)
        let context = rig.context()
        _ = context.make("Patient", ["name": "Eve \u{e9}<&>\"\n\u{1}", "weight": -0.0])
        try context.save()
        return (rig, context)
    }

    @Test("A damaged file is refused with 134080 and left alone", arguments: types)
    func damaged(_ type: String) throws {
        let (rig, context) = try filled(type)
        try rig.coordinator.remove(try #require(rig.coordinator.persistentStores.first))
        _ = context
        let url = rig.folder.file("store")
        let good = try Data(contentsOf: url)
        var broken = [Data(), Data("<store>".utf8), good.prefix(good.count / 2), good.dropFirst(3)]
        if type == NSBinaryStoreType {
            var flipped = good
            flipped[flipped.count / 2] ^= 1
            broken.append(flipped)
        }
        for bytes in broken {
            try Data(bytes).write(to: url)
            let again = Rig(in: rig.folder)
            #expect(code { try again.add(type) } == 134080, "\(bytes.count) bytes")
            #expect(try Data(contentsOf: url) == Data(bytes))
        }
        try good.write(to: url)
        let again = Rig(in: rig.folder)
        try again.add(type)
        #expect(try again.context().all("Patient").first?.value(forKey: "name") as? String == "Eve \u{e9}<&>\"\n\u{1}")
    }

    @Test(
        "The same content gives the same bytes, and no draft is left beside the file",
        arguments: [NSBinaryStoreType, NSXMLStoreType])
    func stable(_ type: String) throws {
        let (rig, context) = try filled(type)
        let url = rig.folder.file("store")
        let before = try Data(contentsOf: url)
        let patient = try #require(try context.all("Patient").first)
        let doctor = context.make("Doctor")
        try context.save()
        #expect(try Data(contentsOf: url) != before)
        context.delete(doctor)
        try context.save()
        let names = try rig.folder.names()
        #expect(names == ["store"])
        #expect(patient.objectID.uriRepresentation().path == "/Patient/p1")
    }

    @Test("A save never undoes what another process wrote to the file meanwhile", arguments: types)
    func foreignChange(_ type: String) throws {
        let (rig, context) = try filled(type)
        let other = Rig(in: rig.folder)
        try other.add(type)
        let theirs = other.context()
        _ = theirs.make("Doctor", ["name": "Bo"])
        try theirs.save()
        _ = context.make("Doctor", ["name": "Ada"])
        let said = sentence { try context.save() }
        #expect(said.contains("changed by another writer"), "\(said)")
        #expect(try theirs.all("Doctor").count == 1)
    }

    @Test(
        "Of several who make a store at once one makes it, and nothing that they were told is saved is lost",
        arguments: types)
    func madeAtOnce(_ type: String) throws {
        for _ in 0..<8 {
            nonisolated(unsafe) let folder = Folder()
            let saved = Mutex<[String]>([])
            DispatchQueue.concurrentPerform(iterations: 4) { number in
                let rig = Rig(in: folder)
                guard code(of: { try rig.add(type) }) == nil else { return }
                let context = rig.context()
                _ = context.make("Doctor", ["name": "d\(number)"])
                if code(of: { try context.save() }) == nil { saved.withLock { $0.append("d\(number)") } }
            }
            let reader = Rig(in: folder)
            try reader.add(type)
            let names = try reader.context().all("Doctor").compactMap { $0.value(forKey: "name") as? String }
            let told = saved.withLock { $0 }
            #expect(!told.isEmpty && names.sorted() == told.sorted())
        }
    }

    @Test(
        "After setURL to a place without a file the next save writes one there; the former file stays as it was",
        arguments: types)
    func newPlace(_ type: String) throws {
        let (rig, context) = try filled(type)
        let store = try #require(rig.coordinator.persistentStores.first)
        let (old, new) = (rig.folder.file("store"), rig.folder.file("new"))
        let before = try Data(contentsOf: old)
        #expect(rig.coordinator.setURL(new, for: store) && rig.coordinator.url(for: store) == new)
        _ = context.make("Doctor", ["name": "Ada"])
        try context.save()
        _ = context.make("Doctor", ["name": "Bo"])
        try context.save()
        #expect(try Data(contentsOf: old) == before)
        let reader = Rig(in: rig.folder)
        try reader.add(type, "new")
        #expect(try reader.context().all("Doctor").count == 2 && reader.context().all("Patient").count == 1)
        // Another store's file is not overwritten, and one that went away is missed.
        #expect(rig.coordinator.setURL(old, for: store))
        _ = context.make("Doctor", ["name": "Cy"])
        #expect(code { try context.save() } == 134030)
        #expect(rig.coordinator.setURL(new, for: store))
        try FileManager.default.removeItem(at: new)
        #expect(code { try context.save() } == 134030)
    }

    @Test("After setURL to where the file was moved, saves go on there", arguments: types)
    func movedFile(_ type: String) throws {
        let (rig, context) = try filled(type)
        let store = try #require(rig.coordinator.persistentStores.first)
        let new = rig.folder.file("new")
        try FileManager.default.moveItem(at: rig.folder.file("store"), to: new)
        #expect(rig.coordinator.setURL(new, for: store))
        _ = context.make("Doctor", ["name": "Ada"])
        try context.save()
        let reader = Rig(in: rig.folder)
        try reader.add(type, "new")
        #expect(try reader.context().all("Doctor").count == 1)
    }

    @Test("A file of another model is refused with 134100, and taken when versions are ignored", arguments: types)
    func otherModel(_ type: String) throws {
        let (rig, _) = try filled(type)
        try rig.coordinator.remove(try #require(rig.coordinator.persistentStores.first))
        var draft = Clinic.draft()
        draft.entities[0].attributes[1].type = .integer64
        let other = Rig(NSManagedObjectModel(draft: draft), in: rig.folder)
        let said = sentence { try other.add(type) }
        #expect(
            code { try other.add(type) } == 134100 && said.contains("Entities that differ: Patient. Open"), "\(said)")
        try other.add(type, options: [NSIgnorePersistentStoreVersioningOption: true])
        #expect(try other.context().all("Patient").count == 1)
    }

    @Test("A store is no folder and lies in a folder that is there", arguments: types)
    func places(_ type: String) throws {
        let rig = Rig()
        try FileManager.default.createDirectory(at: rig.folder.file("folder"), withIntermediateDirectories: true)
        #expect(code { try rig.add(type, "folder") } == 134080)
        #expect(sentence { try rig.add(type, "missing/store") }.contains("does not exist"))
    }

    @Test("An XML document type is refused: nothing outside the file is read")
    func documentType() throws {
        let rig = Rig()
        let text =
            "<?xml version=\"1.0\"?><!DOCTYPE store [<!ENTITY x SYSTEM \"file:///etc/passwd\">]><store>&x;</store>"
        try Data(text.utf8).write(to: rig.folder.file("store"))
        #expect(code { try rig.add(NSXMLStoreType) } == 134080)
    }
}
