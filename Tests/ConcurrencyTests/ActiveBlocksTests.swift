// The places of blocks that tasks wait for.

import CoreDataTestSupport
import Foundation
import Synchronization
import Testing

@testable import CoreData

@Suite("Active blocks", .timeLimit(.minutes(30)))
struct ActiveBlocksTests {
    private let stack: Stack
    init() throws { stack = try Stack(undo: false) }

    private func context() -> NSManagedObjectContext {
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = stack.coordinator
        return context
    }

    @Test("There are 4 places and 2 for each processor unless a program says otherwise")
    func usual() {
        #expect(NSManagedObjectContext.maximumActiveContexts == 4 + 2 * ProcessInfo.processInfo.activeProcessorCount)
    }

    @Test("Callers of other kinds leave two places to readers, and each kind comes in the order of its calls")
    @MainActor
    func kinds() async throws {
        let blocks = ActiveBlocks(limit: 5)
        let came = Names()
        func start(_ kind: ActiveBlocks.Kind, _ name: String) -> Task<Void, Never> {
            Task { @MainActor in
                await blocks.enter(kind)
                came.add(name)
            }
        }
        func turns() async { for _ in 0..<5 { await Task.yield() } }
        var tasks: [Task<Void, Never>] = []
        for number in 0..<5 { tasks.append(start(.any, "any \(number)")) }
        await turns()
        #expect(came.all == ["any 0", "any 1", "any 2"])
        for number in 0..<3 { tasks.append(start(.reading, "read \(number)")) }
        await turns()
        #expect(came.all == ["any 0", "any 1", "any 2", "read 0", "read 1"])
        blocks.leave(.reading)
        await turns()
        blocks.leave(.any)
        blocks.leave(.reading)
        await turns()
        #expect(came.all.dropFirst(5) == ["read 2", "any 3"])
        blocks.limit = 6
        for task in tasks { await task.value }
        #expect(came.all.last == "any 4")
    }

    @Test("A caller that is cancelled while it waits leaves the line, and takes nobody's place")
    func cancelled() async throws {
        for kind in [ActiveBlocks.Kind.reading, .any] {
            let blocks = ActiveBlocks(limit: 1)
            try await blocks.enterUnlessCancelled(kind)
            let waiting = Task { try await blocks.enterUnlessCancelled(kind) }
            let next = Task { await blocks.enter(.any) }
            await Task.yield()
            waiting.cancel()
            await #expect(throws: CancellationError.self) { try await waiting.value }
            blocks.leave(kind)
            await next.value
            blocks.leave(.any)
            try await blocks.enterUnlessCancelled(.reading)
        }
    }

    @Test("256 callers of one context take no place from another, whoever has the one", arguments: ["awaited", "waited for", "queued"])
    func oneContext(_ holder: String) async throws {
        let (busy, other) = (context(), context())
        let (held, end) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let first = Task {
            let block = { @Sendable in
                held.signal()
                end.wait()
            }
            switch holder {
            case "awaited": await busy.perform(block)
            case "queued": Thread.detachNewThread { busy.perform(block) }
            default: Thread.detachNewThread { busy.performAndWait(block) }
            }
        }
        await wait(for: held)
        let done = Tally()
        let answered = Tally()
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<256 {
                group.addTask {
                    await busy.perform {
                        #expect(answered.number == 1)
                        done.add()
                    }
                }
            }
            group.addTask {
                for _ in 0..<100 { await Task.yield() }
                await other.perform { answered.add() }
                end.signal()
            }
        }
        await first.value
        #expect(done.number == 256)
    }

    @Test("A block in every place may wait for one context that tasks wait for as well")
    func nested() async throws {
        let shared = context()
        let count = Tally()
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<200 {
                let own = context()
                group.addTask {
                    if number.isMultiple(of: 2) {
                        await own.perform { shared.performAndWait { count.add() } }
                    } else {
                        await shared.perform { own.performAndWait { count.add() } }
                    }
                }
            }
        }
        #expect(count.number == 200)
    }

    @Test("No more blocks run at once than there are places")
    func bounded() async throws {
        let active = Tally()
        let coordinator = stack.coordinator
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<300 {
                let own = context()
                group.addTask {
                    let block = { @Sendable in
                        active.add()
                        usleep(1000)
                        active.subtract()
                    }
                    switch number % 3 {
                    case 0: await own.perform(block)
                    case 1: try await coordinator.read { _ in block() }
                    default: try await coordinator.write { _ in block() }
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(active.most <= NSManagedObjectContext.maximumActiveContexts)
        #expect(active.number == 0)
    }

    @Test("Saves that wait, however many, leave places to readers")
    func waitingSaves() async throws {
        let coordinator = stack.coordinator
        let (held, end) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        Thread.detachNewThread {
            coordinator.writes.move {
                held.signal()
                end.wait()
            }
        }
        await wait(for: held)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<50 {
                let own = context()
                group.addTask {
                    try await own.perform {
                        _ = own.make("Ward", ["code": number])
                        try own.save()
                    }
                }
            }
            group.addTask {
                for _ in 0..<100 { await Task.yield() }
                for _ in 0..<20 { try await coordinator.read { _ = try $0.all("Ward") } }
                end.signal()
            }
            try await group.waitForAll()
        }
        #expect(try await coordinator.read { try $0.all("Ward").count } == 50)
    }

    /// Waits on a thread of its own.
    private func wait(for semaphore: DispatchSemaphore) async {
        await withCheckedContinuation { caller in
            Thread.detachNewThread {
                semaphore.wait()
                caller.resume()
            }
        }
    }
}

private final class Tally: Sendable {
    private let state = Mutex([0, 0])
    func add() { state.withLock { $0 = [$0[0] + 1, max($0[1], $0[0] + 1)] } }
    func subtract() { state.withLock { $0[0] -= 1 } }
    var number: Int { state.withLock { $0[0] } }
    var most: Int { state.withLock { $0[1] } }
}

private final class Names: Sendable {
    private let names = Mutex<[String]>([])
    func add(_ name: String) { names.withLock { $0.append(name) } }
    var all: [String] { names.withLock { $0 } }
}
