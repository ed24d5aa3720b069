// perform, performAndWait and await perform.

import CoreDataTestSupport
import CoreDataValues
import Foundation
import Synchronization
import Testing

@testable import CoreData

@Suite("Blocks on a context's queue")
struct PerformTests {
    private struct Refusal: Error, Equatable {}

    /// `perform` as a caller that is not async has it.
    private func later(_ context: NSManagedObjectContext, _ block: @escaping @Sendable () -> Void) {
        context.perform(block)
    }

    @Test("3.2 pending changes are processed at the end of perform and of await perform, not of performAndWait")
    func pending() async throws {
        let stack = try Stack()
        let context = stack.context
        let told = Mutex<[Int]>([])
        let observer = NotificationCenter.default.addObserver(
            forName: .NSManagedObjectContextObjectsDidChange, object: context, queue: nil
        ) { note in
            told.withLock { $0.append((note.userInfo?[NSInsertedObjectsKey] as? Set<NSManagedObject>)?.count ?? 0) }
        }
        defer { NotificationCenter.default.removeObserver(observer) }
        context.performAndWait {
            _ = context.make("Doctor")
            context.performAndWait { _ = context.make("Doctor") }
        }
        #expect(told.withLock { $0 } == [], "performAndWait leaves the event open")
        later(context) { _ = context.make("Doctor") }
        context.performAndWait {}
        #expect(told.withLock { $0 } == [3], "perform ends it")
        await context.perform { _ = context.make("Doctor") }
        #expect(told.withLock { $0 } == [3, 1], "and so does await perform")
        context.performAndWait { _ = context.make("Doctor") }
        try context.performAndWait { try context.save() }
        #expect(told.withLock { $0 } == [3, 1, 1], "and a save")
    }

    @Test("11.2 performAndWait runs on the calling thread, at any nesting, and returns and throws what the block does")
    func performAndWait() throws {
        let stack = try Stack()
        let (a, b) = (stack.context, stack.another())
        let thread = pthread_self()
        let value = a.performAndWait {
            b.performAndWait {
                a.performAndWait { b.performAndWait { pthread_equal(pthread_self(), thread) != 0 ? 7 : 0 } }
            }
        }
        #expect(value == 7)
        #expect(throws: Refusal()) { try a.performAndWait { try b.performAndWait { throw Refusal() } } }
        #expect(a.performAndWait { a.isHeldByCaller && !b.isHeldByCaller })
        #expect(!a.isHeldByCaller)
    }

    @Test("11.2 perform returns at once; blocks run one after the other, in order, on the context's queue")
    func order() throws {
        let stack = try Stack()
        let (context, gate) = (stack.context, DispatchSemaphore(value: 0))
        let seen = Mutex<[Int]>([])
        context.perform { gate.wait() }
        for number in 0..<100 {
            context.perform { if context.isHeldByCaller { seen.withLock { $0.append(number) } } }
        }
        #expect(seen.withLock { $0 } == [])
        gate.signal()
        context.performAndWait {}
        #expect(seen.withLock { $0 } == Array(0..<100))
    }

    @Test("11.2 Work left to a context while a block holds it waits for the end of that block")
    func left() throws {
        let stack = try Stack()
        let context = stack.another()
        let seen = Mutex<[Int]>([])
        context.performAndWait {
            later(context) { seen.withLock { $0.append(2) } }
            usleep(20_000)
            seen.withLock { $0.append(1) }
        }
        context.performAndWait { seen.withLock { $0.append(3) } }
        #expect(seen.withLock { $0 } == [1, 2, 3])
    }

    @Test("11.1 Blocks of several threads on a context that nobody has used yet never overlap")
    func exclusion() throws {
        let stack = try Stack()
        for round in 0..<200 {
            let context = stack.another()
            // No atomics: each block must see what the one before it wrote.
            nonisolated(unsafe) var count = 0
            let inside = Atomic<Int>(0)
            let overlaps = Atomic<Int>(0)
            DispatchQueue.concurrentPerform(iterations: 8) { index in
                let block: @Sendable () -> Void = {
                    if inside.wrappingAdd(1, ordering: .relaxed).oldValue != 0 {
                        overlaps.wrappingAdd(1, ordering: .relaxed)
                    }
                    count += 1
                    inside.wrappingSubtract(1, ordering: .relaxed)
                }
                if (index + round) % 5 == 0 { later(context, block) } else { context.performAndWait(block) }
            }
            context.performAndWait {}
            #expect(overlaps.load(ordering: .relaxed) == 0)
            #expect(count == 8)
        }
    }

    @Test("11.2 await perform returns and throws what the block does")
    func awaited() async throws {
        let stack = try Stack()
        let context = stack.context
        #expect(await context.perform { context.isHeldByCaller })
        await #expect(throws: Refusal()) { try await context.perform(schedule: .enqueued) { throw Refusal() } }
    }

    @MainActor
    @Test("11.2 .immediate runs inline for a caller who holds the context, .enqueued always takes its turn")
    func schedules() async throws {
        let stack = try Stack()
        let main = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
        main.persistentStoreCoordinator = stack.coordinator
        let seen = Mutex<[String]>([])
        DispatchQueue.main.async { seen.withLock { $0.append("queued") } }
        await main.perform { seen.withLock { $0.append("immediate") } }
        #expect(seen.withLock { $0 } == ["immediate"])
        await main.perform(schedule: .enqueued) { seen.withLock { $0.append("enqueued") } }
        #expect(seen.withLock { $0 } == ["immediate", "queued", "enqueued"])
    }

    @Test("10.1 Work of a main-queue context is told of on the main queue, whoever asked for it")
    func toldOnMain() async throws {
        let stack = try Stack()
        let main = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
        main.persistentStoreCoordinator = stack.coordinator
        let key = DispatchSpecificKey<Bool>()
        DispatchQueue.main.setSpecific(key: key, value: true)
        let seen = Mutex<[String: Int]>([:])
        let names = [
            NSManagedObjectContext.didChangeObjectsNotification, NSManagedObjectContext.willSaveObjectsNotification,
            NSManagedObjectContext.didSaveObjectsNotification,
        ]
        let observers = names.map { name in
            NotificationCenter.default.addObserver(forName: name, object: main, queue: nil) { _ in
                let place = DispatchQueue.getSpecific(key: key) == true ? "main" : "elsewhere"
                seen.withLock { $0[place, default: 0] += 1 }
            }
        }
        try await Task.detached {
            try await main.perform {
                _ = main.make("Doctor")
                try main.save()
            }
        }.value
        await withCheckedContinuation { done in
            DispatchQueue.global().async {
                main.perform {
                    _ = main.make("Doctor")
                    try? main.save()
                    done.resume()
                }
            }
        }
        #expect(seen.withLock { $0 } == ["main": 6])
        for observer in observers { NotificationCenter.default.removeObserver(observer) }
    }

    @Test("11.2 a main-queue context works in a plain script: inline, by performAndWait from a child, by perform")
    func script() throws {
        let run = try ChildProgram("CoreDataScript").run(["script", "-com.apple.CoreData.ConcurrencyDebug", "1"])
        #expect(
            run.lines == ["inline 1", "saved 2", "perform false"]
                || run.lines == ["inline 1", "saved 2", "perform true"])
        #expect(run.exitCode == 0, "\(run.errors)")
    }

    @Test(
        "11.1 Blocks nest through a main-queue context whose thread has a run loop: children save, nobody hangs",
        .timeLimit(.minutes(30)),
        arguments: ["0", "1"])
    func runLoop(_ isChecked: String) throws {
        let run = try ChildProgram("CoreDataScript").run([
            "loop", "-com.apple.CoreData.ConcurrencyDebug", isChecked,
        ])
        #expect(run.lines == ["will save 1", "nested 1", "coordinator true", "read through 1"], "\(run.errors)")
        #expect(run.exitCode == 0)
    }

    @Test("11.2 a main-queue context works in an async main, before and after a suspension")
    func asyncMain() throws {
        let run = try ChildProgram("CoreDataAsyncMain").run(["-com.apple.CoreData.ConcurrencyDebug", "1"])
        #expect(
            run.lines.prefix(5) == ["before 1", "after 2", "immediate 0", "enqueued 1", "detached 5"], "\(run.errors)")
        #expect(run.exitCode == 0)
    }

    @Test(
        "3.2 A main-queue context's event ends with the turn of the main queue, once and as one undo; the turn holds no context"
    )
    func mainTurn() throws {
        let run = try ChildProgram("CoreDataAsyncMain").run(["-com.apple.CoreData.ConcurrencyDebug", "1"])
        let expected = ["in the turn []", "in the turn [2]", "after the turns [2, 1]", "undone 2", "held false"]
        #expect(run.lines.dropFirst(5) == ArraySlice(expected), "\(run.errors)")
    }

    @Test("3.2 In a plain script an event stays open until it is processed or the script serves the main queue")
    func scriptTurn() throws {
        let run = try ChildProgram("CoreDataScript").run(["turn", "-com.apple.CoreData.ConcurrencyDebug", "1"])
        #expect(run.lines == ["open 0", "processed 1", "served 2"], "\(run.errors)")
        #expect(run.exitCode == 0)
    }

    @Test(
        "11.3 while a reader is in the middle of its rows, others read and save; saves of many threads follow each other"
    )
    func pool() throws {
        let stack = try Stack(undo: false)
        let context = stack.context
        for number in 0..<100 { _ = context.make("Doctor", ["code": number]) }
        try context.save()
        let store = try #require(stack.coordinator.persistentStores.first)
        let entity = try #require(context.runtime.schema.entity(named: "Doctor"))
        var batches = 0
        try store.rows.fetch(FetchPlan(entity: entity.index), .latest) { batch in
            batches += 1
            guard batches == 1 else { return .more }
            let outcomes = Mutex<[String]>([])
            let group = DispatchGroup()
            for number in 0..<8 {
                let own = stack.another()
                DispatchQueue.global().async(group: group) {
                    let outcome = Result {
                        try own.performAndWait {
                            let count = try own.all("Doctor").count
                            for _ in 0..<5 {
                                _ = own.make("Ward", ["code": number])
                                try own.save()
                            }
                            return count
                        }
                    }
                    outcomes.withLock { $0.append("\(outcome)") }
                }
            }
            // Well below the store's own timeout: a reader or writer that waits for this reader is seen.
            #expect(group.wait(timeout: .now() + 4.5) == .success)
            #expect(outcomes.withLock { $0 } == Array(repeating: "success(100)", count: 8))
            return .more
        }
        #expect(batches > 1)
        #expect(try stack.another().all("Ward").count == 40)
    }
}
