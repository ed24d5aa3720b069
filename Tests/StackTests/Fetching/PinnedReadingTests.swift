// Contexts that are pinned to one state of their stores, and the ways of reading that come back for more: asynchronous fetches, batches of
// `fetchBatchSize`, controllers of fetched results. Nothing is held between the steps that need not be.

import CoreDataTestSupport
import Foundation
import Synchronization
import Testing

@testable import CoreData

@Suite("12.1 Pinned contexts that come back for more") struct PinnedReadingTests {
    /// Patients p00 … of ages 0 …, and a writer that changes them.
    private final class Practice: @unchecked Sendable {
        let stack: Stack
        let context: NSManagedObjectContext

        init(_ count: Int, _ type: String = NSSQLiteStoreType) throws {
            stack = try Stack(type, undo: false)
            for age in 0..<count { _ = stack.context.make("Patient", ["name": "p\(age)", "age": age]) }
            try stack.context.save()
            stack.context.reset()
            context = stack.another()
        }

        /// Renames all patients, removes the first, and adds one more.
        func changeAll() throws {
            let writer = stack.another()
            for patient in try writer.fetch(Practice.request()) {
                let age = patient.value(forKey: "age") as? Int ?? 0
                if age == 0 { writer.delete(patient) } else { patient.setValue("q\(age)", forKey: "name") }
            }
            _ = writer.make("Patient", ["name": "new", "age": 30_000])
            try writer.save()
        }

        static func request(_ batch: Int = 0) -> NSFetchRequest<NSManagedObject> {
            let request = NSFetchRequest<NSManagedObject>("Patient", by: "age")
            request.fetchBatchSize = batch
            return request
        }

        static func names(_ objects: some Sequence<NSManagedObject>) -> [String] {
            objects.map { $0.value(forKey: "name") as? String ?? "-" }
        }
    }

    private static func before(_ count: Int) -> [String] { (0..<count).map { "p\($0)" } }
    private static func after(_ count: Int) -> [String] { (1..<count).map { "q\($0)" } + ["new"] }

    @Test("The batches of fetchBatchSize are read of the state that the keys were read of, while others commit")
    func paging() throws {
        let practice = try Practice(100)
        let context = practice.context
        try context.setQueryGenerationFrom(.current)
        var found = try context.fetch(Practice.request(10))
        #expect(Practice.names(found[..<10]) == Array(Self.before(100)[..<10]))
        try practice.changeAll()
        #expect(Practice.names(found) == Self.before(100))
        found = []
        #expect(Practice.names(try context.fetch(Practice.request(10))) == Self.before(100))
        #expect(context.pendingReadError == nil)
        try context.setQueryGenerationFrom(nil)
        #expect(Practice.names(try context.fetch(Practice.request(10))) == Self.after(100))
    }

    @Test(
        "A context that is not pinned reads later batches as they are then; a row that has gone meanwhile reads as deleted"
    )
    func unpinnedPaging() throws {
        let practice = try Practice(30)
        let context = practice.context
        context.stalenessInterval = 0
        let found = try context.fetch(Practice.request(10))
        #expect(Practice.names(found[10..<20]) == Array(Self.before(30)[10..<20]))
        try practice.changeAll()
        #expect(Practice.names(found[20...]) == (20..<30).map { "q\($0)" })
        #expect(Practice.names(found[10..<20]) == Array(Self.before(30)[10..<20]))
        #expect(found[0].value(forKey: "name") == nil && found[0].isDeleted)
    }

    @Test("A pinned context moves to the latest state with a save, and its faults of later batches with it")
    func advance() throws {
        let practice = try Practice(30)
        let context = practice.context
        try context.setQueryGenerationFrom(.current)
        _ = try context.fetch(Practice.request(10)).prefix(10).map { $0.value(forKey: "name") }
        try practice.changeAll()
        _ = context.make("Patient", ["name": "own", "age": 31_000])
        try context.save()
        #expect(Practice.names(try context.fetch(Practice.request(10))) == Self.after(30) + ["own"])
    }

    @Test(
        "An asynchronous fetch reads the state that its context is pinned to, however late it runs", arguments: [0, 10])
    func asynchronous(batch: Int) async throws {
        let practice = try Practice(600)
        let context = practice.context
        try await context.perform {
            try context.setQueryGenerationFrom(.current)
            _ = try context.count(for: Practice.request())
        }
        // It has its turn after the writer.
        let found = Mutex<[String]>([])
        context.performAndWait {
            let asynchronous = NSAsynchronousFetchRequest(fetchRequest: Practice.request(batch)) { result in
                found.withLock { $0 = Practice.names(result.finalResult ?? []) }
            }
            _ = try? context.execute(asynchronous)
            try? practice.changeAll()
        }
        context.performAndWait {}
        #expect(found.withLock { $0 } == Self.before(600))
        let awaited = try await context.results(of: NSAsynchronousFetchRequest(fetchRequest: Practice.request(batch)))
        #expect(Practice.names(awaited) == Self.before(600))
        try await context.perform { try context.setQueryGenerationFrom(nil) }
        let latest = try await context.results(of: NSAsynchronousFetchRequest(fetchRequest: Practice.request(batch)))
        #expect(latest.count == 600 && latest.last?.value(forKey: "name") as? String == "new")
    }

    @Test("Cancelling an asynchronous fetch of a pinned context leaves it pinned, and its state readable")
    func cancelled() async throws {
        let practice = try Practice(600)
        let context = practice.context
        try await context.perform {
            try context.setQueryGenerationFrom(.current)
            _ = try context.count(for: Practice.request())
        }
        try practice.changeAll()
        let error = Mutex("")
        context.performAndWait {
            let asynchronous = NSAsynchronousFetchRequest(fetchRequest: Practice.request()) { result in
                error.withLock { $0 = "\(result.operationError.map { "\(Swift.type(of: $0))" } ?? "none")" }
            }
            (try? context.execute(asynchronous) as? NSPersistentStoreAsynchronousResult)?.cancel()
        }
        context.performAndWait {}
        #expect(error.withLock { $0 } == "CancellationError")
        #expect(try Practice.names(context.fetch(Practice.request())) == Self.before(600))
    }

    /// What a controller tells.
    private final class Told: NSObject, NSFetchedResultsControllerDelegate {
        var count = 0
        func controllerDidChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {
            count += 1
        }
    }

    @Test(
        "A controller in a pinned context shows one state until the context moves; a merge moves it, and tells",
        arguments: [0, 10])
    func controller(batch: Int) throws {
        let practice = try Practice(40)
        let context = practice.context
        try context.setQueryGenerationFrom(.current)
        let controller = NSFetchedResultsController(
            fetchRequest: Practice.request(batch), managedObjectContext: context, sectionNameKeyPath: nil,
            cacheName: nil)
        let told = Told()
        controller.delegate = told
        try controller.performFetch()
        try practice.changeAll()
        #expect(Practice.names(controller.fetchedObjects ?? []) == Self.before(40) && told.count == 0)
        // Its own unsaved changes are followed all the same.
        let own = context.make("Patient", ["name": "own", "age": 20_000])
        context.processPendingChanges()
        #expect(Practice.names(controller.fetchedObjects ?? []) == Self.before(40) + ["own"] && told.count == 1)
        context.delete(own)
        context.processPendingChanges()
        try controller.performFetch()
        #expect(Practice.names(controller.fetchedObjects ?? []) == Self.before(40))
        context.refreshAllObjects()
        #expect(Practice.names(controller.fetchedObjects ?? []) == Self.before(40))
        try context.setQueryGenerationFrom(.current)
        try controller.performFetch()
        context.refreshAllObjects()
        #expect(Practice.names(controller.fetchedObjects ?? []) == Self.after(40))
    }

    @Test("A pinned context that merges what others save follows them: its controller too", arguments: [0, 10])
    func merging(batch: Int) throws {
        let practice = try Practice(40)
        let context = practice.context
        try context.setQueryGenerationFrom(.current)
        context.automaticallyMergesChangesFromParent = true
        let controller = NSFetchedResultsController(
            fetchRequest: Practice.request(batch), managedObjectContext: context, sectionNameKeyPath: nil,
            cacheName: nil)
        let told = Told()
        controller.delegate = told
        try controller.performFetch()
        #expect(Practice.names(controller.fetchedObjects ?? []) == Self.before(40))
        try practice.changeAll()
        // The merge comes on the context's own queue.
        context.performAndWait {}
        #expect(Practice.names(controller.fetchedObjects ?? []) == Self.after(40) && told.count > 0)
    }

    @Test(
        "Two threads: one reads batches of a pinned state while the other commits again and again",
        arguments: [1, 7, 300])
    func threads(batch: Int) throws {
        let practice = try Practice(300)
        let context = practice.context
        try context.setQueryGenerationFrom(.current)
        let found = try context.fetch(Practice.request(batch))
        let done = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            for _ in 0..<3 { try? practice.changeAll() }
            done.signal()
        }
        #expect(Practice.names(found) == Self.before(300))
        done.wait()
        #expect(try Practice.names(context.fetch(Practice.request(batch))) == Self.before(300))
    }
}
