// What waits for places and turns, for how long, and what is told of it.

import CoreDataTestSupport
import Foundation
import Synchronization
import Testing

@testable import CoreData

@Suite("Waits for places and turns", .timeLimit(.minutes(30)))
struct ActiveBlocksWaitTests {
    private func filled(_ options: [String: Any] = [:]) throws -> Stack {
        let stack = try Stack(undo: false, options: options)
        _ = stack.context.make("Ward", ["name": "w"])
        try stack.context.save()
        return stack
    }

    private final class Token: Sendable {}

    @Test("A thread keeps nothing of a block that it has run, neither while it runs others nor while it waits for one")
    func nothingKept() async throws {
        let blocks = ActiveBlocks(limit: 1, threadName: "Test")
        let alive = Mutex<[Bool]>([])
        weak var first: Token?
        weak var last: Token?
        func run(_ token: Token, _ body: @escaping @Sendable () -> Void) async {
            await withCheckedContinuation { (caller: CheckedContinuation<Void, Never>) in
                blocks.run(
                    AwaitedBlock(AwaitedCall(endsWhenCancelled: false), .any) { _ in
                        body()
                        withExtendedLifetime(token) { caller.resume() }
                    })
            }
        }
        do {
            let token = Token()
            first = token
            await run(token) {}
        }
        for _ in 0..<3 {
            let token = Token()
            last = token
            let seen = Weak(first)
            await run(token) { alive.withLock { $0.append(seen.object != nil) } }
        }
        // The first of these may begin before the thread is back from the first block.
        #expect(alive.withLock { Array($0.dropFirst()) } == [false, false])
        while blocks.counts.running > 0 || last != nil && blocks.idleCount > 0 { await Task.yield() }
        #expect(last == nil)
    }

    @Test("The context of a block of read is gone while the thread that ran it is kept for others")
    func contextGone() async throws {
        let stack = try filled()
        let found = try await stack.coordinator.read { context in
            _ = try context.all("Ward")
            return Weak(context)
        }
        while found.object != nil, ActiveBlocks.shared.idleCount > 0 || ActiveBlocks.shared.counts.running > 0 {
            await Task.yield()
        }
        #expect(found.object == nil)
    }

    @Test("A block that has waited for a place for as long as it may is given up and told, and takes nobody's place")
    func late() async throws {
        let blocks = ActiveBlocks(limit: 1, threadName: "Test")
        let (observers, events) = (Observers(), EventTests.Events())
        _ = observers.add(nil) { events.add($0) }
        let (begun, end, over) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let seen = Mutex<[String]>([])
        func run(_ name: String, patience: UInt64?, _ then: @escaping @Sendable () -> Void = {}) {
            blocks.run(
                AwaitedBlock(AwaitedCall(endsWhenCancelled: true, patience: patience), .any, telling: observers) {
                    admission in
                    seen.withLock { $0.append("\(name) \(admission)") }
                    then()
                })
        }
        run("first", patience: 0) {
            begun.signal()
            end.wait()
        }
        await wait(for: begun)
        run("patient", patience: nil) { over.signal() }
        run("late", patience: 1_000_000) { over.signal() }
        run("later", patience: 2_000_000) { over.signal() }
        await wait(for: over)
        await wait(for: over)
        #expect(seen.withLock { $0 } == ["first admitted", "late isLate", "later isLate"])
        end.signal()
        await wait(for: over)
        #expect(seen.withLock { $0.last } == "patient admitted")
        #expect(events.names == ["wait block refused", "wait block refused", "wait block admitted"])
    }

    @Test("A writer whose turn does not come in time is refused with 134090 and told; the next one writes")
    func writers() async throws {
        let stack = try filled([SQLiteConnectionTimeoutOption: 0.02])
        let coordinator = stack.coordinator
        let events = EventTests.Events()
        let observation = coordinator.observe { events.add($0) }
        defer { observation.end() }
        let (held, end) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let first = Task {
            try await untilAdmitted {
                try await coordinator.write { _ in
                    held.signal()
                    end.wait()
                }
            }
        }
        await wait(for: held)
        let error = await #expect(throws: CocoaError.self) { try await coordinator.write { _ in } }
        #expect(
            error?.code.rawValue == 134090
                && error?.localizedDescription.contains("SQLiteConnectionTimeoutOption") == true)
        #expect(events.names.last == "wait turn refused")
        let cancelled = Task { try await coordinator.write { _ in } }
        cancelled.cancel()
        await #expect(throws: (any Error).self) { try await cancelled.value }
        end.signal()
        try await first.value
        try await untilAdmitted { try await coordinator.write { _ = $0.make("Ward", ["name": "x"]) } }
        #expect(try await untilAdmitted { try await coordinator.read { try $0.all("Ward").count } } == 2)
    }

    @Test(
        "Reads beyond the connections of a store wait without a place, suspended, and are refused, cancelled or read in turn"
    )
    func readers() async throws {
        let stack = try filled([SQLiteReaderLimitOption: 1, SQLiteConnectionTimeoutOption: 0.02])
        let coordinator = stack.coordinator
        let events = EventTests.Events()
        let observation = coordinator.observe { events.add($0) }
        defer { observation.end() }
        let (held, end) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let first = Task {
            try await untilAdmitted {
                try await coordinator.read { _ in
                    held.signal()
                    end.wait()
                }
            }
        }
        await wait(for: held)
        let cancelled = Task { try await coordinator.read { _ in } }
        cancelled.cancel()
        await #expect(throws: (any Error).self) { try await cancelled.value }
        await withTaskGroup(of: Int?.self) { group in
            for _ in 0..<64 {
                group.addTask {
                    do { return try await coordinator.read { _ in 0 } } catch {
                        return (error as? CocoaError)?.code.rawValue
                    }
                }
            }
            for await code in group { #expect(code == 134090) }
        }
        #expect(events.names.filter { $0 == "wait turn refused" }.count >= 64)
        end.signal()
        try await first.value
        #expect(try await untilAdmitted { try await coordinator.read { try $0.all("Ward").count } } == 1)
        #expect(coordinator.counters.poolWaits == 0, "nobody has waited in a place")
    }

    @Test("Contexts that plain blocks keep busy take no place from another one, however many callers await theirs")
    func flooded() async throws {
        let stack = try filled()
        let (idle, busy) = (
            stack.another(), (0..<NSManagedObjectContext.maximumActiveContexts + 2).map { _ in stack.another() }
        )
        let (begun, release, end) = (
            DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), DispatchSemaphore(value: 0)
        )
        let done = await withTaskGroup(of: Int.self) { group in
            for context in busy {
                leave(to: context) {
                    begun.signal()
                    release.wait()
                }
                group.addTask { await context.perform { 1 } }
            }
            for context in busy {
                await wait(for: begun)
                while !context.turn.awaiters.isTaken { await Task.yield() }
            }
            // The callers are behind the first blocks by now.
            try? await Task.sleep(for: .milliseconds(20))
            for context in busy {
                leave(to: context) {
                    begun.signal()
                    end.wait()
                }
            }
            for _ in busy { release.signal() }
            for _ in busy { await wait(for: begun) }
            await idle.perform {}
            for _ in busy { end.signal() }
            return await group.reduce(0, +)
        }
        #expect(done == busy.count)
    }

    @Test("Blocks of all kinds have a context one after the other, whoever comes by which way")
    func alone() async throws {
        let stack = try filled()
        let contexts = (0..<3).map { _ in stack.another() }
        let inside = contexts.map { _ in Counted() }
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<900 {
                let (own, count) = (contexts[number % 3], inside[number % 3])
                group.addTask {
                    switch number / 3 % 3 {
                    case 0: await own.perform { count.add() }
                    case 1:
                        await withCheckedContinuation { (caller: CheckedContinuation<Void, Never>) in
                            own.perform {
                                count.add()
                                caller.resume()
                            }
                        }
                    default:
                        await withCheckedContinuation { (caller: CheckedContinuation<Void, Never>) in
                            Thread.detachNewThread {
                                own.performAndWait { count.add() }
                                caller.resume()
                            }
                        }
                    }
                }
            }
        }
        #expect(inside.map(\.number) == [300, 300, 300])
    }

    /// Nobody awaits the block.
    private func leave(to context: NSManagedObjectContext, _ block: @escaping @Sendable () -> Void) {
        context.perform(block)
    }

    /// The result of a call that may be refused for having waited, on a machine that is busy with other tests.
    private func untilAdmitted<Result: Sendable>(_ call: @Sendable () async throws -> Result) async throws -> Result {
        while true {
            do { return try await call() } catch let error as CocoaError where error.code.rawValue == 134090 {
                await Task.yield()
            }
        }
    }
}

private final class Weak<Object: AnyObject>: @unchecked Sendable {
    weak var object: Object?
    init(_ object: Object?) { self.object = object }
}

/// Counts without a lock: only who is alone counts right.
private final class Counted: @unchecked Sendable {
    private(set) var number = 0
    private var isInside = false

    func add() {
        #expect(!isInside)
        isInside = true
        let former = number
        sched_yield()
        number = former + 1
        isInside = false
    }
}
