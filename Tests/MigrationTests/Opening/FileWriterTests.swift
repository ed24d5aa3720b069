// Stores that are one file, migrated while others who have them open under the former version save.

import CoreDataTestSupport
import Foundation
import Synchronization
import Testing

@testable import CoreData

/// Saves items one after the other until it is refused.
private final class Writer: Sendable {
    private struct State {
        var saved: [String] = []
        var refusal: CocoaError?
    }
    private let state = Mutex(State())
    private let ended = DispatchSemaphore(value: 0)
    private let isStopped = Atomic<Bool>(false)

    init(_ model: NSManagedObjectModel, _ store: URL, _ type: String, pause: UInt32) throws {
        let coordinator = try NSPersistentStoreCoordinator(model, type, at: store)
        Thread.detachNewThread { [self] in
            let context = coordinator.context()
            var number = 0
            while !isStopped.load(ordering: .relaxed), state.withLock({ $0.refusal }) == nil {
                number += 1
                let title = "w\(number)"
                let refusal = context.performAndWait {
                    context.make("Item", ["title": title])
                    return caught { try context.save() }
                }
                state.withLock {
                    if let refusal { $0.refusal = refusal } else { $0.saved.append(title) }
                }
                usleep(pause)
            }
            try? coordinator.close()
            ended.signal()
        }
    }

    func wait(for count: Int) { while state.withLock({ $0.saved.count < count && $0.refusal == nil }) { usleep(1000) } }

    /// What it was told is saved, and what it was told last.
    func end() -> (saved: [String], refusal: Int?) {
        isStopped.store(ended.wait(timeout: .now() + 10) == .timedOut, ordering: .relaxed)
        return state.withLock { ($0.saved, $0.refusal?.number) }
    }
}

@Suite("Migration of files beside other writers", .serialized) struct FileWriterTests {
    private typealias V = Versions
    private static let types = [NSBinaryStoreType, NSXMLStoreType, NSPropertyListStoreType]
    private let versions: Versions

    init() throws {
        StoreMaker.registerSamples()
        versions = try V(
            V.entity("Item", "", V.attribute("title")),
            V.entity(
                "Item", "", V.attribute("title"), V.attribute("count", "Integer 64", "defaultValueString=\"4\"")))
    }

    private func fill(_ type: String, _ count: Int = 100) throws {
        try? FileManager.default.removeItem(at: versions.store)
        try versions.open(1, type) { context in
            for number in 0..<count { context.make("Item", ["title": "t\(number)"]) }
            try context.save()
        }
    }

    private func migrate(_ type: String, _ kind: String, _ meanwhile: @escaping () throws -> Void = {}) throws {
        guard kind == "mapped" else { return try versions.open(2, type) { _ in } }
        let (first, second) = (try versions.model(1), try versions.model(2))
        let mapping = try NSMappingModel.inferredMappingModel(forSourceModel: first, destinationModel: second)
        mapping.entityMappings.first { $0.destinationEntityName == "Item" }?.entityMigrationPolicyClassName =
            "MeanwhilePolicy"
        let manager = NSMigrationManager(sourceModel: first, destinationModel: second)
        manager.userInfo = ["meanwhile": meanwhile]
        try manager.migrateInPlace(versions.store, type: type, options: nil, with: mapping)
    }

    private func titles(_ type: String) throws -> Set<String> {
        try Set(versions.open(2, type) { try $0.values("Item", "title") })
    }

    private func old(_ type: String, _ options: [String: Any] = [:]) throws -> NSManagedObjectContext {
        try NSPersistentStoreCoordinator(versions.model(1), type, at: versions.store, options: options).context()
    }

    @Test(
        "What a writer of the old version was told is saved is in the migrated file, and the writer is told of the migration",
        arguments: types, ["inferred", "mapped"])
    func acknowledged(_ type: String, _ kind: String) throws {
        for pause: UInt32 in [0, 2000] {
            try fill(type)
            let writer = try Writer(versions.model(1), versions.store, type, pause: pause)
            writer.wait(for: 3)
            try migrate(type, kind) { usleep(30_000) }
            try versions.open(2, type) { context in
                context.make("Item", ["title": "new"])
                try context.save()
            }
            let (saved, refusal) = writer.end()
            #expect(refusal == 134100 && saved.count >= 3)
            let found = try titles(type)
            #expect(found.isSuperset(of: saved) && found.count == saved.count + 101)
        }
        let names = try versions.folder.names()
        #expect(Set(names) == ["Shop.xcdatamodeld", "shop.sqlite"], "\(names)")
    }

    @Test(
        "Whoever has a migrated store open under the former version saves nothing more, be it objects or metadata alone (134100)",
        arguments: types + [BoxStore.type, NSSQLiteStoreType])
    func outdated(_ type: String) throws {
        try fill(type, 3)
        let context = try old(type)
        let store = try #require(context.persistentStoreCoordinator?.persistentStores.first)
        #expect(try context.all("Item").count == 3)
        try migrate(type, "inferred")
        store.metadata = store.metadata.merging(["mine": 1]) { $1 }
        for _ in 0..<2 {
            let refusal = caught { try context.save() }
            #expect(refusal?.number == 134100, "\(refusal?.sentence ?? "saved")")
        }
        context.make("Item", ["title": "late"])
        let refusal = caught { try context.save() }
        #expect(
            refusal?.number == 134100 && refusal?.sentence.contains("migrated elsewhere") == true,
            "\(refusal?.sentence ?? "saved")")
        try versions.open(2, type) { context in
            let titles = try context.values("Item", "title").sorted()
            #expect(titles == ["t0", "t1", "t2"])
            #expect(context.persistentStoreCoordinator?.persistentStores.first?.metadata["mine"] == nil)
        }
    }

    @Test("A save waits for a migration no longer than the options say; one inside a migration never waits for itself")
    func patience() throws {
        try fill(NSXMLStoreType, 3)
        let context = try old(NSXMLStoreType, [NSPersistentStoreTimeoutOption: 0.05])
        nonisolated(unsafe) var refusals: [Int?] = []
        try migrate(NSXMLStoreType, "mapped") {
            context.performAndWait { _ = context.make("Item", ["title": "late"]) }
            let ended = DispatchSemaphore(value: 0)
            Thread.detachNewThread {
                refusals.append(context.performAndWait { caught { try context.save() }?.number })
                ended.signal()
            }
            ended.wait()
            refusals.append(context.performAndWait { caught { try context.save() }?.number })
        }
        refusals.append(context.performAndWait { caught { try context.save() }?.number })
        #expect(refusals == [134090, 134110, 134100])
        #expect(try titles(NSXMLStoreType) == ["t0", "t1", "t2"])
    }

    @Test(
        "A migration begins anew where somebody who asks for no lock has exchanged the file, and ends if that goes on")
    func exchanged() throws {
        try fill(NSXMLStoreType, 5)
        let larger = try Data(contentsOf: versions.store)
        try fill(NSXMLStoreType, 3)
        var runs = 0
        try migrate(NSXMLStoreType, "mapped") {
            runs += 1
            if runs == 1 { try larger.write(to: versions.store, options: .atomic) }
        }
        #expect(try titles(NSXMLStoreType).count == 5 && runs == 2)

        try fill(NSXMLStoreType, 3)
        let error = caught {
            try migrate(NSXMLStoreType, "mapped") { try larger.write(to: versions.store, options: .atomic) }
        }
        #expect(
            error?.number == 134110 && error?.sentence.contains("changed elsewhere") == true, "\(error?.sentence ?? "")"
        )
        #expect(try Data(contentsOf: versions.store) == larger)
    }

    @Test("What a program's own store saves while it is migrated is in the migrated store")
    func box() throws {
        try fill(BoxStore.type, 3)
        let context = try old(BoxStore.type)
        var runs = 0
        try migrate(BoxStore.type, "mapped") {
            runs += 1
            guard runs == 1 else { return }
            try context.performAndWait {
                context.make("Item", ["title": "late"])
                try context.save()
            }
        }
        #expect(try titles(BoxStore.type) == ["t0", "t1", "t2", "late"] && runs == 2)
    }
}
