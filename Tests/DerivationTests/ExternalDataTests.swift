// Large binaries in files beside the store.

import CoreDataTestSupport
import CoreDataValues
import Foundation
import Testing

@testable import CoreData
@testable import CoreDataSQL
@testable import CoreDataSQLite

@Suite("External binary storage") struct ExternalDataTests {
    @Test(
        "A value up to 100 KB lies in the row behind the tag 01, a longer one in a file, and both read as they were",
        arguments: [0, 1, 1023, 1024, 102_400, 102_401, 1_000_000])
    func threshold(_ count: Int) throws {
        let album = Album()
        let value = Album.bytes(count)
        let context = try album.open()
        let photo = context.make("Photo", ["name": "a", "data": value])
        try context.save()
        #expect(photo.value(forKey: "data") as? Data == value)
        #expect(photo.anew("data") as? Data == value)
        #expect(try album.firstValue() == value)
        let column = try #require(try album.column().first)
        if count > 102_400 {
            let name = try #require(album.names().first)
            #expect(album.names().count == 1 && UUID(uuidString: name) != nil && name == name.uppercased())
            #expect(column == "02" + name.utf8.map { String(format: "%02X", $0) }.joined() + "00")
            #expect(try Data(contentsOf: album.files.appendingPathComponent(name)) == value)
        } else {
            #expect(album.names().isEmpty)
            #expect(column.hasPrefix("01") && column.count == 2 + 2 * count)
        }
        #expect(album.pending().isEmpty)
    }

    @Test(
        "The file is read when the value is asked for, not before; without it the value is nil and the next fetch throws"
    )
    func lazy() throws {
        let album = Album()
        let context = try album.open()
        _ = context.make("Photo", ["name": "a", "data": Album.large])
        try context.save()
        context.reset()
        let photo = try #require(try context.all("Photo").first)
        try FileManager.default.removeItem(at: album.files)
        #expect(photo.value(forKey: "name") as? String == "a")
        photo.setValue("b", forKey: "name")
        try context.save()
        #expect(photo.value(forKey: "data") == nil)
        let error = #expect(throws: CocoaError.self) { try context.all("Photo") }
        #expect(error?.code.rawValue == 134060)
        #expect(try context.all("Photo").count == 1)
        context.delete(photo)
        try context.save()
        #expect(try context.all("Photo").isEmpty)
    }

    @Test("A replaced value takes its file with it, and so do nil, a small value and a deletion")
    func orphans() throws {
        let album = Album()
        let context = try album.open()
        let photo = context.make("Photo", ["name": "a", "data": Album.large])
        let bystander = context.make(
            "Print", ["name": "b", "data": Album.bytes(200_000, 9), "negative": Album.bytes(150_000)])
        try context.save()
        #expect(album.names().count == 3)
        let kept = Set(try album.referred())
        photo.setValue(Album.bytes(400_000, 5), forKey: "data")
        try context.save()
        #expect(try album.names().count == 3 && Set(album.referred()) != kept)
        #expect(photo.anew("data") as? Data == Album.bytes(400_000, 5))
        photo.setValue("other", forKey: "name")
        try context.save()
        #expect(album.names().count == 3, "another attribute leaves the file alone")
        photo.setValue(Data([1, 2]), forKey: "data")
        try context.save()
        #expect(album.names().count == 2)
        photo.setValue(Album.large, forKey: "data")
        try context.save()
        photo.setValue(nil, forKey: "data")
        try context.save()
        #expect(album.names().count == 2)
        #expect(bystander.anew("negative") as? Data == Album.bytes(150_000))
        context.delete(bystander)
        try context.save()
        #expect(album.names().isEmpty && album.pending().isEmpty)
    }

    @Test("A failed save leaves no file and every value; the next save works once the cause is gone")
    func failed() throws {
        let album = Album()
        let context = try album.open()
        let first = context.make("Photo", ["name": "a", "data": Album.large])
        try context.save()
        let before = album.names()
        let second = context.make("Photo", ["name": "a", "data": Album.bytes(500_000)])
        first.setValue(Album.bytes(250_000, 8), forKey: "data")
        #expect(throws: CocoaError.self) { try context.save() }
        #expect(album.names() == before && album.pending().isEmpty)
        #expect(second.value(forKey: "data") as? Data == Album.bytes(500_000))
        #expect(try album.firstValue() == Album.large)
        second.setValue("b", forKey: "name")
        try context.save()
        #expect(try album.names() == album.referred() && album.names().count == 2)
        #expect(first.anew("data") as? Data == Album.bytes(250_000, 8))
        #expect(second.anew("data") as? Data == Album.bytes(500_000))
    }

    @Test("A folder that cannot be written refuses the save with the path and leaves the row as it was")
    func unwritable() throws {
        let album = Album()
        let context = try album.open()
        let photo = context.make("Photo", ["name": "a", "data": Data([1])])
        try context.save()
        // A file where the folder should be stops everybody, the superuser too.
        try Data().write(to: album.files.deletingLastPathComponent())
        photo.setValue(Album.large, forKey: "data")
        let error = #expect(throws: CocoaError.self) { try context.save() }
        #expect(error?.code.rawValue == 134030)
        #expect(error.sentence.contains("_EXTERNAL_DATA"))
        #expect(photo.value(forKey: "data") as? Data == Album.large && photo.hasChanges)
        try FileManager.default.removeItem(at: album.files.deletingLastPathComponent())
        try context.save()
        #expect(photo.anew("data") as? Data == Album.large)
    }

    @Test("Undo brings a replaced value back, rollback the saved one, and saving again makes a file again")
    func undo() throws {
        let album = Album()
        let context = try album.open()
        context.undoManager = UndoManager()
        let photo = context.make("Photo", ["name": "a", "data": Album.large])
        try context.save()
        context.processPendingChanges()
        photo.setValue(Data([7]), forKey: "data")
        context.processPendingChanges()
        context.undo()
        #expect(photo.value(forKey: "data") as? Data == Album.large)
        try context.save()
        #expect(photo.anew("data") as? Data == Album.large)
        photo.setValue(Data([7]), forKey: "data")
        context.rollback()
        #expect(photo.value(forKey: "data") as? Data == Album.large)
        let referred = try album.referred()
        #expect(album.names() == referred)
    }

    @Test("Undo after a save brings back a replaced and a deleted value, although their files are gone")
    func undoSaved() throws {
        let album = Album()
        let context = try album.open()
        context.undoManager = UndoManager()
        let photo = context.make("Photo", ["name": "a", "data": Album.large])
        let other = context.make("Print", ["name": "b", "negative": Album.bytes(333_000)])
        try context.save()
        photo.setValue(Album.bytes(200_000, 8), forKey: "data")
        try context.save()
        context.delete(other)
        try context.save()
        #expect(album.names().count == 1)
        context.undo()
        try context.save()
        #expect(try context.all("Print").first?.value(forKey: "negative") as? Data == Album.bytes(333_000))
        context.undo()
        #expect(photo.value(forKey: "data") as? Data == Album.large)
        try context.save()
        #expect(photo.anew("data") as? Data == Album.large)
        context.redo()
        try context.save()
        #expect(photo.anew("data") as? Data == Album.bytes(200_000, 8))
        #expect(album.names().count == 2)
    }

    @Test("An equal value is no change, and reads what was replaced elsewhere as it is now")
    func stale() throws {
        let album = Album()
        let context = try album.open()
        let photo = context.make("Photo", ["name": "a", "data": Album.large])
        try context.save()
        let file = album.names()
        photo.setValue(Album.large, forKey: "data")
        #expect(photo.changedValues().isEmpty)
        try context.save()
        #expect(album.names() == file)
        context.reset()
        let seen = try #require(try context.all("Photo").first)
        try album.replace(seenBy: seen)
        _ = try context.all("Photo")
    }

    @Test(
        "A predicate asks for nil and compares contents; functions of them are refused",
        arguments: [NSSQLiteStoreType, NSInMemoryStoreType])
    func predicates(_ type: String) throws {
        let stack = try Stack(type, model: Album.model())
        _ = stack.context.make("Photo", ["name": "a", "data": Album.large])
        _ = stack.context.make("Photo", ["name": "b"])
        try stack.context.save()
        let request = NSFetchRequest<NSManagedObject>("Photo", "data == nil")
        #expect(try stack.context.fetch(request).map { $0.value(forKey: "name") as? String } == ["b"])
        request.predicate = NSPredicate(format: "data != nil")
        #expect(try stack.context.fetch(request).map { $0.value(forKey: "name") as? String } == ["a"])
        for dirty in [false, true] {
            if dirty { _ = stack.context.make("Photo", ["name": "c"]) }
            for predicate in [
                NSPredicate(format: "data == %@", Album.large as NSData),
                NSPredicate(format: "data == data AND data != nil"),
                NSPredicate(format: "data IN %@", [Album.large as NSData]),
            ] {
                request.predicate = predicate
                #expect(
                    try stack.context.fetch(request).map { $0.value(forKey: "name") as? String } == ["a"],
                    "\(predicate)")
            }
            request.predicate = NSPredicate(format: "max:(data, data) == %@", Album.large as NSData)
            let error = #expect(throws: CocoaError.self) { try stack.context.fetch(request) }
            #expect(error.sentence.contains("file of their own"))
        }
    }

    @Test("A store in memory keeps every value in its row")
    func memory() throws {
        let stack = try Stack(NSInMemoryStoreType, model: Album.model())
        let photo = stack.context.make("Photo", ["data": Album.large])
        try stack.context.save()
        #expect(photo.anew("data") as? Data == Album.large)
        #expect(try stack.folder.names().isEmpty)
    }

    @Test("Both forms read, whoever chose where a value lies, also from a store that is opened read-only")
    func foreign() throws {
        let album = Album()
        let context = try album.open()
        _ = context.make("Photo", ["name": "a", "data": Album.large])
        _ = context.make("Photo", ["name": "b", "data": Data([5])])
        try context.save()
        // Longer than our threshold and in the row, shorter and in a file: both may come from elsewhere.
        let name = UUID().uuidString
        try Data([4, 2]).write(to: album.files.appendingPathComponent(name))
        let inline = "01" + String(repeating: "2A", count: 200_000)
        let reference = "02" + name.utf8.map { String(format: "%02X", $0) }.joined() + "00"
        try SQLiteFile(album.url).run("UPDATE ZPHOTO SET ZDATA = x'\(inline)' WHERE ZNAME = 'a'")
        try SQLiteFile(album.url).run("UPDATE ZPHOTO SET ZDATA = x'\(reference)' WHERE ZNAME = 'b'")
        let reader = try album.open(readOnly: true)
        let request = NSFetchRequest<NSManagedObject>("Photo", by: "name")
        let photos = try reader.fetch(request)
        #expect(photos[0].value(forKey: "data") as? Data == Data(repeating: 0x2A, count: 200_000))
        #expect(photos[1].value(forKey: "data") as? Data == Data([4, 2]))
    }

    @Test("Opening removes what a killed save left, and nothing else")
    func sweep() throws {
        let album = Album()
        let context = try album.open()
        _ = context.make("Photo", ["name": "a", "data": Album.large])
        try context.save()
        let store = try #require(context.persistentStoreCoordinator?.persistentStores.first?.identifier)
        let referred = try #require(album.names().first)
        let (orphan, foreign, running) = (UUID().uuidString, UUID().uuidString, UUID().uuidString)
        for name in [orphan, foreign, running] { try Data([1]).write(to: album.files.appendingPathComponent(name)) }
        let support = album.files.deletingLastPathComponent()
        func note(_ store: String, _ names: [String]) throws -> URL {
            let url = support.appendingPathComponent("\(store)-\(UUID().uuidString).pending")
            try Data((names.joined(separator: "\n") + "\n../../../etc/passwd\n").utf8).write(to: url)
            return url
        }
        _ = try note(store, [referred, orphan])
        _ = try note(UUID().uuidString, [foreign])
        let held = open(try note(store, [running]).path, O_RDONLY)
        flock(held, LOCK_EX)
        defer { close(held) }
        #expect(try album.firstValue() == Album.large)
        #expect(Set(album.names()) == [referred, foreign, running])
        #expect(album.pending().count == 2)
    }

    @Test("The folder goes with its store, whether it is there or not")
    func folders() throws {
        let album = Album()
        let context = try album.open()
        _ = context.make("Photo", ["name": "a", "data": Album.large])
        try context.save()
        try ExternalFolder.remove(for: album.url)
        try ExternalFolder.remove(for: album.url)
        #expect(!FileManager.default.fileExists(atPath: ExternalFolder(store: album.url).files.path))
    }
}
