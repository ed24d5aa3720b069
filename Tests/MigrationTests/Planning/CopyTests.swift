// Copies of stores that others write, and stores behind links.

import CoreDataTestSupport
import Foundation
import Synchronization
import Testing

@testable import CoreData

@Suite("Copies of stores") struct CopyTests {
    private typealias V = Versions

    private static let photo = V.attribute(
        "photo", "Binary", "optional=\"YES\" allowsExternalBinaryDataStorage=\"YES\"")
    private static let first = V.entity("Box", "", photo, V.attribute("name"))
    private static let second = V.entity("Box", "", photo, V.attribute("name"), V.attribute("more"))

    private func filled(_ versions: V, _ count: Int = 3, _ type: String = NSSQLiteStoreType) throws {
        try versions.open(1, type) { context in
            for number in 0..<count {
                context.make("Box", ["name": "b\(number)", "photo": Data(repeating: UInt8(number), count: 150_000)])
            }
            try context.save()
        }
    }

    /// How many bytes each photo of a store has.
    private func photos(_ versions: V, _ version: Int, at url: URL, _ type: String = NSSQLiteStoreType) throws -> [Int]
    {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: try versions.model(version))
        try coordinator.addPersistentStore(ofType: type, configurationName: nil, at: url, options: nil)
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        return try context.performAndWait {
            try context.all("Box").map { ($0.value(forKey: "photo") as? Data)?.count ?? 0 }
        }
    }

    @Test("A copy beside a writer of large values has every value that its rows refer to")
    func besideWriter() throws {
        let versions = try V(Self.first, Self.second)
        try filled(versions, 40)
        let isDone = Atomic<Bool>(false)
        let saves = Atomic<Int>(0)
        let ended = DispatchSemaphore(value: 0)
        let writer = NSPersistentStoreCoordinator(managedObjectModel: try versions.model(1))
        try writer.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: versions.store, options: nil)
        Thread.detachNewThread {
            let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
            context.persistentStoreCoordinator = writer
            context.performAndWait {
                do {
                    let boxes = try context.all("Box").prefix(20)
                    while !isDone.load(ordering: .relaxed) {
                        for box in boxes {
                            box.setValue(Data(repeating: .random(in: 0...255), count: 150_000), forKey: "photo")
                        }
                        try context.save()
                        saves.add(1, ordering: .relaxed)
                    }
                } catch { Issue.record(error) }
            }
            ended.signal()
        }
        while saves.load(ordering: .relaxed) < 2 { usleep(1000) }
        for number in 0..<8 {
            let copy = versions.folder.file("copy\(number).sqlite")
            try NSPersistentStoreCoordinator(managedObjectModel: versions.model(1)).replacePersistentStore(
                at: copy, withPersistentStoreFrom: versions.store, ofType: NSSQLiteStoreType)
            #expect(try photos(versions, 1, at: copy) == Array(repeating: 150_000, count: 40))
        }
        isDone.store(true, ordering: .relaxed)
        ended.wait()
    }

    @Test(
        "A plan that somebody else has carried out makes no backup and is not rehearsed (134100); one without steps makes one"
    )
    func stale() throws {
        let versions = try V(Self.first, Self.second)
        try filled(versions)
        let (plan, same) = (try versions.plan(), try versions.plan())
        try same.run()
        let backup = versions.folder.file("backup.sqlite")
        #expect(caught { try plan.run(backup: backup) }?.number == 134100)
        #expect(caught { _ = try plan.rehearse() }?.number == 134100)
        #expect(
            try !FileManager.default.contentsOfDirectory(atPath: versions.folder.url.path).contains {
                $0.contains("backup")
            })
        try versions.plan().run(backup: backup)
        #expect(try photos(versions, 2, at: backup) == [150_000, 150_000, 150_000])
    }

    @Test(
        "A store behind a link has its large values and its lock beside the file itself; a link stays one",
        arguments: [NSSQLiteStoreType, NSXMLStoreType])
    func links(_ type: String) throws {
        let versions = try V(Self.first, Self.second)
        try filled(versions, 3, type)
        let files = FileManager.default
        let place = versions.folder.file("links")
        try files.createDirectory(at: place, withIntermediateDirectories: false)
        let link = place.appendingPathComponent("link.store")
        try files.createSymbolicLink(atPath: link.path, withDestinationPath: "../\(versions.store.lastPathComponent)")
        #expect(try photos(versions, 1, at: link, type) == [150_000, 150_000, 150_000])
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: try versions.model(1))
        let plan = try coordinator.migrationPlan(
            at: link, toVersionsOf: versions.url, type: NSPersistentStore.StoreType(rawValue: type))
        #expect(try plan.rehearse() == [])
        let backup = place.appendingPathComponent("backup.store")
        try plan.run(backup: backup)
        #expect(try photos(versions, 1, at: backup, type) == [150_000, 150_000, 150_000])
        for url in [link, versions.store] {
            #expect(try photos(versions, 2, at: url, type) == [150_000, 150_000, 150_000])
        }
        #expect(try files.destinationOfSymbolicLink(atPath: link.path) == "../\(versions.store.lastPathComponent)")
        #expect(try files.contentsOfDirectory(atPath: place.path).filter { $0.contains("link") } == ["link.store"])
    }

    @Test("Links lead on, also to what is not there yet; a ring of them ends")
    func linkTargets() throws {
        let folder = try V([]).folder
        func link(_ name: String, _ target: String) throws -> URL {
            try FileManager.default.createSymbolicLink(atPath: folder.file(name).path, withDestinationPath: target)
            return folder.file(name)
        }
        let first = try link("first", "second"), second = try link("second", folder.file("third").path)
        #expect(first.linkTarget.path == folder.file("third").path && second.linkTarget == first.linkTarget)
        #expect(folder.file("third").linkTarget == folder.file("third"))
        let ring = try link("ring", "ring")
        #expect(ring.linkTarget.path == ring.path)
    }

    @Test("A rehearsal tells of a large value whose file is gone, by entity and property, and of no other thing")
    func missingFile() throws {
        let versions = try V(Self.first, Self.second)
        try filled(versions)
        let folder = versions.folder.file(
            ".\(versions.store.deletingPathExtension().lastPathComponent)_SUPPORT/_EXTERNAL_DATA")
        let name = try #require(try FileManager.default.contentsOfDirectory(atPath: folder.path).first)
        try FileManager.default.removeItem(at: folder.appendingPathComponent(name))
        let finding = try #require(try versions.plan().rehearse().first)
        #expect(finding.entity == "Box" && finding.property == "photo" && finding.file == versions.store.path)
        #expect(finding.message.contains(name) && !finding.message.contains("CoreDataRehearsal"), "\(finding)")
    }

    @Test("A copy is seen by nobody who cannot see the store", arguments: [NSSQLiteStoreType, NSXMLStoreType])
    func access(_ type: String) throws {
        let versions = try V(Self.first, Self.second)
        try filled(versions, 1, type)
        chmod(versions.store.path, 0o600)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: try versions.model(1))
        let plan = try coordinator.migrationPlan(
            at: versions.store, toVersionsOf: versions.url, type: NSPersistentStore.StoreType(rawValue: type))
        let backup = versions.folder.file("backup")
        try plan.run(backup: backup)
        for url in [backup, versions.store] {
            #expect(try FileManager.default.attributesOfItem(atPath: url.path)[.posixPermissions] as? Int == 0o600)
        }
    }
}
