// Stores that others have open when they are migrated, and several that migrate at once.

import CoreDataTestSupport
import Foundation
import Synchronization
import Testing

@testable import CoreData

@Suite("Migration beside others") struct OtherProcessTests {
    private typealias V = Versions

    private static func versions() throws -> Versions {
        try V(
            V.entity("Item", "", V.attribute("title")),
            V.entity("Item", "", V.attribute("title"), V.attribute("count", "Integer 64", "defaultValueString=\"4\"")),
            V.entity("Item", "versionHashModifier=\"other\"", V.attribute("title")))
    }

    /// A context of its own coordinator, which stays open.
    private func stack(
        _ versions: Versions, _ version: Int, _ options: [String: Any] = [:]
    ) throws -> NSManagedObjectContext {
        try NSPersistentStoreCoordinator(
            versions.model(version), at: versions.store, options: V.automatic.merging(options) { $1 }
        ).context()
    }

    @Test(
        "Who has the store open under the old version is refused at the next read and save (134100), and nothing is written",
        arguments: [2, 3])
    func outdated(_ version: Int) throws {
        let versions = try Self.versions()
        let (reader, writer) = (try stack(versions, 1), try stack(versions, 1))
        for context in [reader, writer] {
            context.make("Item", ["title": "a"])
            try context.save()
            _ = try context.all("Item")
        }
        let count = try versions.open(version) {
            try $0.count(for: NSFetchRequest<NSManagedObject>(entityName: "Item"))
        }
        #expect(count == 2)
        let read = caught { _ = try reader.all("Item") }
        #expect(
            read?.number == 134100 && read?.sentence.contains("was migrated elsewhere") == true,
            "\(read?.sentence ?? "")")
        writer.make("Item", ["title": "late"])
        #expect(caught { try writer.save() }?.number == 134100)
        #expect(try versions.sql("SELECT COUNT(*) FROM ZITEM") == ["2"])
        // A connection that is opened only now finds the same.
        #expect(
            caught { _ = try reader.count(for: NSFetchRequest<NSManagedObject>(entityName: "Item")) }?.number == 134100
        )
    }

    @Test(
        "A batch request of the old version is refused (134100) too, also after another refusal, and nothing is written",
        arguments: [
            [], [NSPersistentHistoryTrackingKey], [NSPersistentHistoryTrackingKey, NSPersistentStoreKeepsFormerValues],
        ])
    func outdatedSets(_ keys: [String]) throws {
        let versions = try V(
            V.entity("Item", "", V.attribute("title"), V.attribute("note")), V.entity("Item", "", V.attribute("title")))
        let options = Dictionary(uniqueKeysWithValues: keys.map { ($0, true) })
        func update() -> NSPersistentStoreRequest {
            let request = NSBatchUpdateRequest(entityName: "Item")
            request.propertiesToUpdate = ["title": "late"]
            return request
        }
        func delete() -> NSPersistentStoreRequest {
            NSBatchDeleteRequest(fetchRequest: NSFetchRequest(entityName: "Item"))
        }
        for (isUsed, isTold) in [(false, false), (true, false), (false, true), (true, true)] {
            for make in [update, delete] {
                let context = try stack(versions, 1, options)
                context.make("Item", ["title": "a", "note": "b"])
                try context.save()
                if isUsed { try context.execute(make()) }
                context.make("Item", ["title": "a", "note": "b"])
                try context.save()
                try versions.open(2, NSSQLiteStoreType, V.automatic.merging(options) { $1 }) { _ in }
                if isTold {
                    context.make("Item", ["title": "late"])
                    #expect(caught { try context.save() }?.number == 134100)
                    context.rollback()
                }
                for _ in 1...2 {
                    let refused = caught { try context.execute(make()) }
                    #expect(refused?.number == 134100, "\(refused.map { "\($0)" } ?? "")")
                }
                #expect(try versions.sql("SELECT COUNT(*) FROM ZITEM WHERE ZTITLE = 'a'") != ["0"])
                try FileManager.default.removeItem(at: versions.store)
                for suffix in ["-wal", "-shm"] {
                    try? FileManager.default.removeItem(atPath: versions.store.path + suffix)
                }
            }
        }
    }

    @Test("A schema that others change without migrating the store is no reason to refuse") func foreignIndex() throws {
        let versions = try Self.versions()
        let context = try stack(versions, 1)
        context.make("Item", ["title": "a"])
        try context.save()
        try versions.write("CREATE INDEX theirs ON ZITEM (ZTITLE)")
        #expect(try context.all("Item").count == 1)
        context.make("Item", ["title": "b"])
        try context.save()
        #expect(try context.all("Item").count == 2)
    }

    @Test("Of several that open a store at once one migrates it, and all open it") func openers() throws {
        let versions = try Self.versions()
        try versions.open(1) { context in
            for number in 1...200 { context.make("Item", ["title": "t\(number)"]) }
            try context.save()
        }
        let counts = Mutex<[Int]>([])
        DispatchQueue.concurrentPerform(iterations: 6) { _ in
            let count =
                (try? versions.open(2) { try $0.all("Item").filter { $0.value(forKey: "count") as? Int64 == 4 }.count })
                ?? -1
            counts.withLock { $0.append(count) }
        }
        #expect(counts.withLock { $0 } == Array(repeating: 200, count: 6))
    }

    @Test("What a writer of the old version was told is saved is in the migrated store") func acknowledged() throws {
        let versions = try Self.versions()
        let context = try stack(versions, 1)
        let saved = Atomic(0)
        let end = Mutex<Int?>(nil)
        let group = DispatchGroup()
        DispatchQueue.global().async(group: group) {
            for number in 1...100_000 {
                context.make("Item", ["title": "t\(number)"])
                do { try context.save() } catch { return end.withLock { $0 = (error as? CocoaError)?.number ?? -1 } }
                saved.add(1, ordering: .relaxed)
            }
        }
        while saved.load(ordering: .relaxed) < 50 { usleep(1000) }
        try versions.open(2) { _ in }
        group.wait()
        #expect(end.withLock { $0 } == 134100)
        let count = saved.load(ordering: .relaxed)
        #expect(try versions.sql("SELECT COUNT(*), COUNT(ZCOUNT) FROM ZITEM") == ["\(count)|\(count)"])
    }
}
