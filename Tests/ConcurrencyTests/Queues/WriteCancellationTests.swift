// What a cancelled task does to a write or read that has not begun, or that pauses.

import CoreDataTestSupport
import Foundation
import Synchronization
import Testing

@testable import CoreData

@Suite("Cancelled writers and readers")
struct WriteCancellationTests {
    private let stack: Stack
    private var coordinator: NSPersistentStoreCoordinator { stack.coordinator }

    init() throws { stack = try Stack(undo: false) }

    @Test(
        "A writer that is cancelled in the line leaves it, and its block never runs; the others keep their order",
        .timeLimit(.minutes(30)))
    @MainActor
    func line() async throws {
        let coordinator = self.coordinator
        let gate = DispatchSemaphore(value: 0)
        let seen = Mutex<[Int]>([])
        let first = Task { @MainActor in try await coordinator.write { _ in gate.wait() } }
        let tasks = (0..<100).map { number in
            Task { @MainActor in try await coordinator.write { _ in seen.withLock { $0.append(number) } } }
        }
        for _ in 0..<10 { await Task.yield() }
        for number in stride(from: 0, to: 100, by: 3) {
            tasks[number].cancel()
            await #expect(throws: CancellationError.self) { try await tasks[number].value }
        }
        #expect(seen.withLock { $0 } == [], "they ended while the first one still held its turn")
        gate.signal()
        try await first.value
        for number in 0..<100 where number % 3 != 0 { try await tasks[number].value }
        #expect(seen.withLock { $0 } == (0..<100).filter { $0 % 3 != 0 })
    }

    @Test("A writer that was cancelled before it asked does not run", .timeLimit(.minutes(30)))
    func beforehand() async throws {
        let coordinator = self.coordinator
        let runs = Atomic<Int>(0)
        let task = Task {
            while !Task.isCancelled { await Task.yield() }
            await #expect(throws: CancellationError.self) {
                try await coordinator.write { _ in _ = runs.wrappingAdd(1, ordering: .relaxed) }
            }
            await #expect(throws: CancellationError.self) {
                try await coordinator.read { _ in _ = runs.wrappingAdd(1, ordering: .relaxed) }
            }
        }
        task.cancel()
        await task.value
        #expect(runs.load(ordering: .relaxed) == 0)
        try await coordinator.write { _ in _ = runs.wrappingAdd(1, ordering: .relaxed) }
        #expect(runs.load(ordering: .relaxed) == 1, "the turn went on")
    }

    @Test("Cancelling ends the pause before another attempt", .timeLimit(.minutes(30)))
    func pause() async throws {
        let coordinator = self.coordinator
        let attempts = Atomic<Int>(0)
        let ward = try await coordinator.write { context in
            let ward = context.make("Ward", ["beds": 0])
            try context.obtainPermanentIDs(for: [ward])
            return ward.objectID
        }
        let (begun, beginning) = AsyncStream<Int>.makeStream()
        let isCancelled = DispatchSemaphore(value: 0)
        let task = Task {
            try await coordinator.write { context in
                // Long before its last attempt, however busy the machine is.
                if attempts.load(ordering: .relaxed) == 8 { isCancelled.wait() }
                let ward = try context.existingObject(with: ward)
                ward.setValue(-1 - attempts.load(ordering: .relaxed), forKey: "beds")
                let (id, rival) = (ward.objectID, coordinator.context())
                try rival.performAndWait {
                    rival.object(with: id).setValue(attempts.load(ordering: .relaxed) + 1000, forKey: "beds")
                    try rival.save()
                }
                beginning.yield(attempts.wrappingAdd(1, ordering: .relaxed).newValue)
            }
        }
        for await attempt in begun where attempt == 3 { break }
        task.cancel()
        isCancelled.signal()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(attempts.load(ordering: .relaxed) < 11)
        try await coordinator.write { try $0.existingObject(with: ward).setValue(7, forKey: "beds") }
    }

    @Test("A caller that waits in a line leaves it when it is cancelled", .timeLimit(.minutes(30)))
    func reader() async throws {
        let line = WaitingLine(places: 1)
        try await line.enterUnlessCancelled()
        let waiting = Task { try await line.enterUnlessCancelled() }
        let next = Task { await line.enter() }
        await Task.yield()
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
        line.leave()
        await next.value
        line.leave()
        await line.enter()
        line.leave()
    }

    @Test("A writer who comes again with his ticket goes before all who came later; a cancelled one gets no turn")
    func tickets() throws {
        let line = TurnLine(turns: 1)
        let seen = Mutex<[String]>([])
        func writer(_ name: String, _ call: AwaitedCall = AwaitedCall(endsWhenCancelled: true)) -> AwaitedBlock {
            AwaitedBlock(call, .any) { _ in seen.withLock { $0.append(name) } }
        }
        let early = line.takeTicket()
        #expect(line.enter(writer("first"), line.takeTicket()) == .hasTurn)
        let (late, given) = (line.takeTicket(), line.takeTicket())
        #expect(line.enter(writer("late"), late) == .waits)
        #expect(line.enter(writer("given up"), given) == .waits)
        #expect(line.enter(writer("early"), early) == .waits)
        let cancelled = AwaitedCall(endsWhenCancelled: true)
        cancelled.cancellation.cancel()
        #expect(line.enter(writer("cancelled", cancelled), line.takeTicket()) == .isCancelled)
        #expect(line.report.count == 3)
        #expect(line.remove(given) != nil)
        #expect(line.remove(given) == nil)
        while let next = line.leave() { next.end(.admitted) }
        #expect(seen.withLock { $0 } == ["early", "late"])
        #expect(line.enter(writer("last"), line.takeTicket()) == .hasTurn, "the turn is free again")
    }
}
