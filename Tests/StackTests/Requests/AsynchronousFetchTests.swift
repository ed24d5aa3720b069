// Asynchronous fetches: how far they are, and what ends them.

import CoreDataTestSupport
import CoreDataValues
import Foundation
import Synchronization
import Testing

@testable import CoreData

/// An object that calls what its context has for it when it wakes.
private final class Sleeper: NSManagedObject {
    override func awakeFromFetch() {
        super.awakeFromFetch()
        (managedObjectContext?.userInfo["wakes"] as? Wakes)?.call()
    }
}

private final class Wakes: @unchecked Sendable {
    private let block: () -> Void
    init(_ block: @escaping () -> Void) { self.block = block }
    func call() { block() }
}

@Suite struct AsynchronousFetchTests {
    private static let count = 20_000

    /// A store with as many rows, and how many of them each SELECT over all of them has read.
    private final class Dormitory {
        let rig: Rig
        let read = Rows()

        final class Rows: Sendable {
            let counts = Mutex<[Int]>([])
        }

        init(_ type: String) throws {
            var sleeper = EntityDraft(name: "Sleeper")
            sleeper.className = "Sleeper"
            sleeper.attributes = [Clinic.attribute("number", .integer64), Clinic.attribute("name", .string)]
            NSManagedObjectModel.setClass(Sleeper.self, forClassName: "Sleeper")
            rig = Rig(NSManagedObjectModel(sleeper))
            let trace = SQLTrace { [read] statement in
                if statement.sql.contains("FROM \"ZSLEEPER\"") { read.counts.withLock { $0.append(statement.rows) } }
            }
            try rig.add(type, options: type == NSSQLiteStoreType ? [SQLTraceOption: trace] : nil)
            var number = 0
            let insertion = NSBatchInsertRequest(entityName: "Sleeper") { (row: NSMutableDictionary) in
                row["number"] = number
                row["name"] = "s\(number)"
                number += 1
                return number > AsynchronousFetchTests.count
            }
            try rig.context().execute(insertion)
        }

        func request() -> NSAsynchronousFetchRequest<NSManagedObject> {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Sleeper")
            request.returnsObjectsAsFaults = false
            return NSAsynchronousFetchRequest(fetchRequest: request)
        }

        func context(wakes: @escaping () -> Void = {}) -> NSManagedObjectContext {
            let context = rig.context()
            context.performAndWait { [wakes = Wakes(wakes)] in context.userInfo["wakes"] = wakes }
            return context
        }
    }

    /// What a result came to, read on its context's queue.
    private struct Outcome: Sendable {
        var found: Int?
        var error = ""
        init(_ result: NSPersistentStoreAsynchronousResult, _ found: Int?) {
            self.found = found
            error = result.operationError.map { "\(Swift.type(of: $0))" } ?? ""
        }
    }

    /// Executes a request and waits for its completion block.
    private func outcome(
        _ request: NSFetchRequest<NSManagedObject>, in context: NSManagedObjectContext,
        _ started: @escaping @Sendable (NSPersistentStoreAsynchronousResult) -> Void
    ) async -> Outcome {
        nonisolated(unsafe) let request = request
        return await withCheckedContinuation { continuation in
            context.performAndWait {
                let asynchronous = NSAsynchronousFetchRequest(fetchRequest: request) { result in
                    continuation.resume(returning: Outcome(result, result.finalResult?.count))
                }
                asynchronous.estimatedResultCount = AsynchronousFetchTests.count
                if let result = try? context.execute(asynchronous) as? NSPersistentStoreAsynchronousResult {
                    started(result)
                }
            }
        }
    }

    /// Whether all rows were left but those that were on their way.
    private func expectFew(_ rows: [Int], _ type: String) {
        guard type == NSSQLiteStoreType else { return }
        #expect(rows.count == 1 && rows.allSatisfy { $0 > 0 && $0 < 5_000 }, "\(rows)")
    }

    @Test(
        "8.15 The progress counts objects as they come, against how many were expected, and for the caller's own progress",
        arguments: [NSSQLiteStoreType, NSInMemoryStoreType])
    func progress(type: String) async throws {
        let house = try Dormitory(type)
        let seen = Mutex<Set<Int64>>([])
        let running = Mutex<Progress?>(nil)
        let context = house.context {
            guard let progress = running.withLock({ $0 }) else { return }
            seen.withLock { _ = $0.insert(progress.completedUnitCount) }
        }
        let own = Progress(totalUnitCount: 1)
        let outcome = await outcome(house.request().fetchRequest, in: context) { result in
            running.withLock { $0 = result.progress }
            guard let progress = result.progress else { return }
            #expect(progress.totalUnitCount == Int64(AsynchronousFetchTests.count) && progress.completedUnitCount == 0)
            own.addChild(progress, withPendingUnitCount: 1)
        }
        #expect(outcome.found == Self.count && outcome.error == "")
        let counts = seen.withLock { $0 }
        #expect(counts.count > 10 && counts.contains { $0 > 0 && $0 < Int64(Self.count) / 2 }, "\(counts.count)")
        let progress = try #require(running.withLock { $0 })
        #expect(progress.completedUnitCount == Int64(Self.count) && progress.isFinished)
        #expect(own.isFinished)
    }

    @Test(
        "A request whose number was not expected, or was too small, has a progress of unknown length until it is done")
    func unknown() async throws {
        let house = try Dormitory(NSInMemoryStoreType)
        for expected in [0, 100] {
            let totals = Mutex<Set<Int64>>([])
            let running = Mutex<Progress?>(nil)
            let context = house.context {
                guard let progress = running.withLock({ $0 }) else { return }
                totals.withLock { _ = $0.insert(progress.totalUnitCount) }
            }
            let request = house.request()
            request.estimatedResultCount = expected
            let result: NSPersistentStoreAsynchronousResult? = context.performAndWait {
                [request = Unchecked(request)] in
                let result = try? context.execute(request.value) as? NSPersistentStoreAsynchronousResult
                running.withLock { $0 = result?.progress }
                return result
            }
            context.performAndWait {}
            #expect(totals.withLock { $0 }.isSubset(of: [-1, Int64(expected)]) && totals.withLock { $0 }.contains(-1))
            let progress = try #require(result?.progress)
            #expect(progress.totalUnitCount == Int64(Self.count) && progress.isFinished)
        }
    }

    private struct Unchecked<Value>: @unchecked Sendable {
        let value: Value
        init(_ value: Value) { self.value = value }
    }

    @Test(
        "Cancelling the result or its progress while rows come interrupts the statement before it has read them",
        arguments: [NSSQLiteStoreType, NSInMemoryStoreType])
    func cancelled(type: String) async throws {
        let house = try Dormitory(type)
        for isByProgress in [false, true] {
            house.read.counts.withLock { $0 = [] }
            let running = Mutex<Unchecked<NSPersistentStoreAsynchronousResult>?>(nil)
            let wakes = Mutex(0)
            let context = house.context {
                guard
                    wakes.withLock({
                        $0 += 1; return $0
                    }) == 1, let result = running.withLock({ $0 })?.value
                else { return }
                guard isByProgress else { return result.cancel() }
                result.progress?.cancel()
                // The handler of a progress is called some time later.
                while !result.cancellation.isCancelled { usleep(1000) }
            }
            let outcome = await outcome(house.request().fetchRequest, in: context) { result in
                let result = Unchecked(result)
                running.withLock { $0 = result }
            }
            #expect(outcome.found == nil && outcome.error == "CancellationError")
            expectFew(house.read.counts.withLock { $0 }, type)
            #expect(wakes.withLock { $0 } < 5_000)
            // The store goes on.
            let found = try await context.perform {
                try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Sleeper"))
            }
            #expect(found == Self.count)
        }
    }

    @Test(
        "A fetch that is awaited answers objects; cancelling its task interrupts it",
        arguments: [NSSQLiteStoreType, NSInMemoryStoreType])
    func awaited(type: String) async throws {
        let house = try Dormitory(type)
        let context = house.context()
        let found = try await context.results(of: house.request())
        #expect(found.count == Self.count)
        let wrong = NSAsynchronousFetchRequest(fetchRequest: NSFetchRequest<NSManagedObject>(entityName: "Nobody"))
        await #expect(throws: CocoaError.self) { try await context.results(of: wrong).count }

        house.read.counts.withLock { $0 = [] }
        let task = Mutex<Task<Int, any Error>?>(nil)
        let wakes = Mutex(0)
        let other = house.context {
            guard
                wakes.withLock({
                    $0 += 1; return $0
                }) == 1
            else { return }
            while task.withLock({ $0 }) == nil { usleep(1000) }
            task.withLock { $0?.cancel() }
        }
        let request = Unchecked(house.request())
        let running = Task { try await other.results(of: request.value).count }
        task.withLock { $0 = running }
        await #expect(throws: CancellationError.self) { try await running.value }
        expectFew(house.read.counts.withLock { $0 }, type)
        #expect(wakes.withLock { $0 } < 5_000)
    }

    @MainActor @Test("On the main actor an awaited fetch answers objects of the main queue's context")
    func mainActor() async throws {
        let house = try Dormitory(NSSQLiteStoreType)
        let context = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
        context.persistentStoreCoordinator = house.rig.coordinator
        let found = try await context.results(of: house.request())
        #expect(found.first?.value(forKey: "name") as? String == "s0")
    }

    @Test(
        "The progress of dictionaries counts them, and a request of no particular type takes a completion block of any results",
        arguments: [NSSQLiteStoreType, NSInMemoryStoreType])
    func dictionaries(type: String) throws {
        let house = try Dormitory(type)
        let context = house.context()
        let request = NSFetchRequest<any NSFetchRequestResult>(entityName: "Sleeper")
        request.resultType = .dictionaryResultType
        request.propertiesToFetch = ["name"]
        let found = Mutex(0)
        let block: NSPersistentStoreAsynchronousFetchResultCompletionBlock = { result in
            found.withLock { $0 = result.finalResult?.count ?? 0 }
        }
        let asynchronous = NSAsynchronousFetchRequest(fetchRequest: request, completionBlock: block)
        let result = try #require(try context.execute(asynchronous) as? NSPersistentStoreAsynchronousResult)
        context.performAndWait {}
        #expect(found.withLock { $0 } == Self.count && result.progress?.completedUnitCount == Int64(Self.count))
    }
}
