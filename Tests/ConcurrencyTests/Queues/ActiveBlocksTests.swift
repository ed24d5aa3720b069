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

    @Test("There are 4 places and 2 for each processor unless a program says otherwise")
    func usual() {
        #expect(NSManagedObjectContext.maximumActiveContexts == 4 + 2 * ProcessInfo.processInfo.activeProcessorCount)
    }

    @Test("Callers of other kinds leave two places to readers, and each kind comes in the order of its calls")
    func kinds() async throws {
        let blocks = HeldBlocks(limit: 5)
        for number in 0..<5 { blocks.start(.any, "any \(number)") }
        await blocks.expect(["any 0", "any 1", "any 2"])
        for number in 0..<3 { blocks.start(.reading, "read \(number)") }
        await blocks.expect(["any 0", "any 1", "any 2", "read 0", "read 1"])
        blocks.end("read 0")
        await blocks.expect(["any 0", "any 1", "any 2", "read 1", "read 2"])
        blocks.end("any 1")
        await blocks.expect(["any 0", "any 2", "any 3", "read 1", "read 2"])
        blocks.end("read 1")
        await blocks.expect(["any 0", "any 2", "any 3", "read 2"])
        blocks.blocks.limit = 6
        await blocks.expect(["any 0", "any 2", "any 3", "any 4", "read 2"])
        #expect(blocks.blocks.counts == (5, 6, 0))
        for name in ["any 0", "any 2", "any 3", "any 4", "read 2"] { blocks.end(name) }
        await blocks.expect([])
    }

    @Test("While a writer runs no more readers begin than processors and two, and the others when the last has ended")
    func besideWriters() async throws {
        let processors = ProcessInfo.processInfo.activeProcessorCount
        let beside = processors + 2
        let blocks = HeldBlocks(limit: 5 + 2 * processors)
        let readers = (0..<blocks.blocks.limit).map { "read \($0)" }
        blocks.start(.any, "write 1", line: ["write 2"])
        await blocks.expect(["write 1"])
        for name in readers { blocks.start(.reading, name) }
        await blocks.expect(Set(["write 1"] + readers.prefix(beside)))
        blocks.end("write 1")
        await blocks.expect(Set(["write 2"] + readers.prefix(beside)))
        blocks.end("write 2")
        await blocks.expect(Set(readers))
        for name in readers { blocks.end(name) }
        await blocks.expect([])
    }

    @Test(
        "A block that is cancelled while it waits is given up, and takes nobody's place",
        arguments: [ActiveBlocks.Kind.reading, .any])
    func cancelled(_ kind: ActiveBlocks.Kind) async throws {
        let blocks = HeldBlocks(limit: 1)
        blocks.start(kind, "first")
        await blocks.expect(["first"])
        let waiting = blocks.start(kind, "waiting")
        blocks.start(.any, "next")
        waiting.cancellation.cancel()
        blocks.blocks.cancel(waiting, kind)
        #expect(blocks.givenUp == ["waiting"])
        blocks.end("first")
        await blocks.expect(["next"])
        let late = AwaitedCall(endsWhenCancelled: true)
        late.cancellation.cancel()
        blocks.start(kind, "late", late)
        #expect(blocks.givenUp == ["waiting", "late"])
        blocks.end("next")
        await blocks.expect([])
    }

    @Test("A block's follower takes over its place and its thread; that of one given up waits as others do")
    func followers() async throws {
        let blocks = ActiveBlocks(limit: 1, threadName: "Test")
        let seen = Mutex<[(name: String, thread: pthread_t)]>([])
        let (begun, end, over) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        @Sendable func block(_ name: String, _ follower: AwaitedBlock? = nil, then: @escaping @Sendable () -> Void = {})
            -> AwaitedBlock
        {
            AwaitedBlock(AwaitedCall(endsWhenCancelled: true), .any, follower: { follower }) { admission in
                seen.withLock { $0.append((admission == .admitted ? name : "no " + name, pthread_self())) }
                then()
            }
        }
        let first = block("first", block("follower")) {
            begun.signal()
            end.wait()
        }
        blocks.run(first)
        await wait(for: begun)
        let given = block("given up", block("its follower") { over.signal() })
        blocks.run(given)
        blocks.cancel(given.call, .any)
        end.signal()
        await wait(for: over)
        let found = seen.withLock { $0 }
        #expect(found.map(\.name) == ["first", "no given up", "follower", "its follower"])
        #expect(Set([0, 2, 3].map { found[$0].thread }).count == 1)
    }

    @Test("Threads end when nothing has come for a while, and others begin")
    func threads() async throws {
        let blocks = HeldBlocks(limit: 8)
        for round in 0..<2 {
            for number in 0..<8 { blocks.start(.reading, "\(round) \(number)") }
            await blocks.expect(Set((0..<8).map { "\(round) \($0)" }))
            for number in 0..<8 { blocks.end("\(round) \(number)") }
            await blocks.expect([])
            #expect(blocks.blocks.idleCount > 0)
            while blocks.blocks.idleCount > 0 { try await Task.sleep(for: .milliseconds(50)) }
        }
    }

    @Test(
        "256 callers of one context take no place from another, whoever has the one",
        arguments: ["awaited", "waited for", "queued"])
    func oneContext(_ holder: String) async throws {
        let (busy, other) = (stack.another(), stack.another())
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
        let answers = Times()
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<256 {
                group.addTask {
                    await busy.perform {
                        #expect(answers.all.count == 20)
                        done.add()
                    }
                }
            }
            group.addTask {
                // All but the one whose block stands behind the holder's, where the holder is no task.
                while busy.turn.awaiters.waitingCount < 255 { await Task.yield() }
                for _ in 0..<20 {
                    let time = await ContinuousClock().measure { await other.perform {} }
                    answers.add(time)
                }
                end.signal()
            }
        }
        await first.value
        #expect(done.number == 256)
        // The quickest, since other tests run beside this one.
        #expect(try #require(answers.all.min()) < .milliseconds(50))
    }

    @Test("A block in every place may wait for one context that tasks wait for as well")
    func nested() async throws {
        let shared = stack.another()
        let count = Tally()
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<200 {
                let own = stack.another()
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

    @Test(
        "A program sets how many blocks run at once, fewer or more, and those that wait follow",
        .timeLimit(.minutes(30)))
    func settable() async throws {
        // In a process of its own: the limit is that of the whole process.
        await #expect(processExitsWith: .success) {
            for limit in [1, 3, 20] { try await Self.readBlocks(atOnce: limit) }
        }
    }

    private static func readBlocks(atOnce limit: Int) async throws {
        let stack = try Stack(undo: false)
        let coordinator = stack.coordinator
        NSManagedObjectContext.maximumActiveContexts = limit
        #expect(NSManagedObjectContext.maximumActiveContexts == limit)
        let active = Tally()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<60 {
                group.addTask {
                    try await coordinator.read { _ in
                        active.add()
                        usleep(10_000)
                        active.subtract()
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(active.most <= limit)
        #expect(limit == 1 || active.most > 1)
        #expect(limit < 20 || active.most > 4 + 2 * ProcessInfo.processInfo.activeProcessorCount)
    }

    @Test("No more blocks run at once than there are places")
    func bounded() async throws {
        let active = Tally()
        let coordinator = stack.coordinator
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<300 {
                let own = stack.another()
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
                let own = stack.another()
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
}

private final class Tally: Sendable {
    private let state = Mutex([0, 0])
    func add() { state.withLock { $0 = [$0[0] + 1, max($0[1], $0[0] + 1)] } }
    func subtract() { state.withLock { $0[0] -= 1 } }
    var number: Int { state.withLock { $0[0] } }
    var most: Int { state.withLock { $0[1] } }
}

private final class Times: Sendable {
    private let times = Mutex<[Duration]>([])
    func add(_ time: Duration) { times.withLock { $0.append(time) } }
    var all: [Duration] { times.withLock { $0 } }
}

private final class Names: Sendable {
    private let names = Mutex<[String]>([])
    func add(_ name: String) { names.withLock { $0.append(name) } }
    var all: [String] { names.withLock { $0 } }
}

/// Blocks that run until they are told to end.
private final class HeldBlocks: Sendable {
    let blocks: ActiveBlocks
    private let ends = Mutex<[String: DispatchSemaphore]>([:])
    private let running = Mutex<Set<String>>([])
    private let refused = Mutex<[String]>([])

    init(limit: Int) { blocks = ActiveBlocks(limit: limit, threadName: "Test") }

    var givenUp: [String] { refused.withLock { $0 } }

    @discardableResult
    func start(
        _ kind: ActiveBlocks.Kind, _ name: String, _ call: AwaitedCall = AwaitedCall(endsWhenCancelled: true),
        line: [String]? = nil
    ) -> AwaitedCall {
        blocks.run(block(kind, name, call, line))
        return call
    }

    /// - Parameter line: those that follow it, each after the one before; nil for a block that stands in no line.
    private func block(_ kind: ActiveBlocks.Kind, _ name: String, _ call: AwaitedCall, _ line: [String]?)
        -> AwaitedBlock
    {
        let end = DispatchSemaphore(value: 0)
        ends.withLock { $0[name] = end }
        let follower = line.map { names in
            { @Sendable [self] in
                names.first.map { block(kind, $0, AwaitedCall(endsWhenCancelled: true), Array(names.dropFirst())) }
            }
        }
        return AwaitedBlock(call, kind, follower: follower) { [self] admission in
            guard admission == .admitted else { return refused.withLock { $0.append(name) } }
            _ = running.withLock { $0.insert(name) }
            end.wait()
            _ = running.withLock { $0.remove(name) }
        }
    }

    func end(_ name: String) { ends.withLock { $0[name] }?.signal() }

    /// Waits until just these run.
    func expect(_ names: Set<String>) async {
        while running.withLock({ $0 }) != names { await Task.yield() }
        // What must not begin has had time to.
        for _ in 0..<50 { await Task.yield() }
        #expect(running.withLock { $0 } == names)
    }
}
