// Results one after another: the same as a fetch's, in the memory of a batch.

import CoreDataSQLite
import CoreDataTestSupport
import CoreDataValues
import Foundation
import Testing

@testable import CoreData

@Suite struct FetchedSequenceTests {
    private func stack(_ count: Int, _ type: String = NSSQLiteStoreType) throws -> Stack {
        let stack = try Stack(type, model: Shelf.model(), undo: false)
        for rank in 0..<count {
            _ = stack.context.make("Thing", ["name": "t\(rank)", "rank": Int64(rank % 50), "shelf": "A"])
        }
        try stack.context.save()
        stack.context.reset()
        return stack
    }

    private func names(_ context: NSManagedObjectContext, _ request: NSFetchRequest<NSManagedObject>) async throws
        -> [String]
    {
        var names: [String] = []
        for try await name in context.values(of: request, { $0.value(forKey: "name") as? String ?? "-" }) {
            names.append(name)
        }
        return names
    }

    @Test("A sequence has what a fetch finds, unsaved changes included", arguments: StoreMaker.types)
    func same(_ type: String) async throws {
        let stack = try stack(700, type)
        let context = stack.context
        let child = context.child()
        for isDirty in [false, true] {
            if isDirty {
                let some = try context.fetch(Shelf.request()).prefix(40)
                for (place, thing) in some.enumerated() {
                    if place % 3 == 0 { context.delete(thing) } else { thing.setValue(Int64(place), forKey: "rank") }
                }
                for number in 0..<20 {
                    _ = context.make("Thing", ["name": "n\(number)", "rank": Int64(number * 3), "shelf": "A"])
                }
            }
            for (sort, limit, offset) in [
                (["rank", "name"], 0, 0), (["rank", "name"], 300, 7), (["rank", "name"], 9, 690), ([], 0, 0),
            ] {
                nonisolated(unsafe) let request = Shelf.request(sort)
                (request.fetchLimit, request.fetchOffset) = (limit, offset)
                for context in [context, child] {
                    let fetched = try context.performAndWait {
                        try context.fetch(request).map { $0.value(forKey: "name") as? String ?? "-" }
                    }
                    let read = try await names(context, request)
                    #expect(sort.isEmpty ? Set(read) == Set(fetched) && read.count == fetched.count : read == fetched)
                }
            }
        }
    }

    @MainActor @Test("Objects that nobody holds go before the next batch comes; rows are not kept for others")
    func memory() async throws {
        let stack = try stack(2_000)
        let context = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
        // One that has saved nothing, and keeps no row of it.
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: stack.coordinator.managedObjectModel)
        _ = try coordinator.addPersistentStore(type: .sqlite, at: stack.folder.file("store.sqlite"))
        context.persistentStoreCoordinator = coordinator
        let store = try #require(coordinator.persistentStores.first?.rows as? SQLiteStore)
        let before = store.counts.run
        var (count, most) = (0, 0)
        var last: NSManagedObjectID?
        for try await thing in context.objects(of: Shelf.request()) {
            count += 1
            if count % 100 == 0 { most = max(most, context.registeredObjects.count) }
            last = thing.objectID
        }
        #expect(count == 2_000 && most <= 512, "\(most)")
        #expect(store.counts.run == before + 1)
        let object = try context.existingObject(with: try #require(last))
        #expect(object.value(forKey: "name") != nil && store.counts.run == before + 2, "Its row was in no cache.")
    }

    @Test(
        "A loop that is left, and one that is cancelled, let go of the store",
        arguments: [NSSQLiteStoreType, NSInMemoryStoreType])
    func leaving(_ type: String) async throws {
        let stack = try stack(1_000, type)
        let context = stack.context
        for _ in 0..<100 {
            for try await name in context.values(of: Shelf.request(), { $0.value(forKey: "name") as? String })
            where name != nil { break }
        }
        nonisolated(unsafe) let request = Shelf.request()
        let task = Task {
            var count = 0
            for try await _ in context.values(of: request, { _ in true }) {
                count += 1
                if count == 10 { withUnsafeCurrentTask { $0?.cancel() } }
            }
            return count
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(try await names(context, Shelf.request()).count == 1_000)
    }

    @Test("Objects that are deleted during the loop are left out; an error ends it")
    func changes() async throws {
        let stack = try stack(600)
        let context = stack.context
        nonisolated(unsafe) let doomed = try context.fetch(Shelf.request(["rank", "name"]))[599]
        var names: [String] = []
        for try await name in context.values(
            of: Shelf.request(["rank", "name"]), { $0.value(forKey: "name") as? String ?? "-" })
        {
            if names.isEmpty { context.performAndWait { context.delete(doomed) } }
            names.append(name)
        }
        #expect(names.count == 599)
        struct Enough: Error {}
        var read = 0
        var iterator = context.values(
            of: Shelf.request(),
            { _ throws -> Int in
                read += 1
                if read > 3 { throw Enough() }
                return read
            }
        ).makeAsyncIterator()
        await #expect(throws: Enough.self) { _ = try await iterator.next() }
        #expect(try await iterator.next() == nil)
        let wrong = Shelf.request()
        wrong.predicate = NSPredicate(format: "nosuch == 1")
        await #expect(throws: CocoaError.self) { for try await _ in context.values(of: wrong, { _ in 1 }) {} }
    }
}
