// A thousand tasks at once.

import CoreDataTestSupport
import Foundation
import Synchronization
import Testing

@testable import CoreData

@Suite("A thousand tasks")
struct ManyTasksTests {
    /// Those that run blocks, or wait for one.
    private static var threads: Int {
        let tasks = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")) ?? []
        return tasks.count {
            (try? String(contentsOfFile: "/proc/self/task/\($0)/comm", encoding: .utf8)) == "CoreData\n"
        }
    }

    @Test(
        "A thousand concurrent await perform, read and write all end on as many threads as blocks may run, and a task without Core Data still runs",
        .timeLimit(.minutes(30)))
    func thousand() async throws {
        // In a process of its own: beside other tests, which block the threads of tasks, the heart says nothing of Core Data.
        await #expect(processExitsWith: .success) { try await Self.thousandTasks() }
    }

    private static func thousandTasks() async throws {
        let stack = try Stack(undo: false)
        let coordinator = stack.coordinator
        for number in 0..<50 { _ = stack.context.make("Doctor", ["code": number]) }
        try stack.context.save()
        let peak = Mutex(0)
        let isOver = Mutex(false)
        let done = Mutex(0)
        // How many of the thousand were done at each beat.
        let beats = Mutex<Set<Int>>([])
        let heart = Task {
            while !isOver.withLock({ $0 }) {
                peak.withLock { $0 = max($0, threads) }
                try await Task.sleep(for: .milliseconds(10))
                let count = done.withLock { $0 }
                beats.withLock { _ = $0.insert(count) }
            }
        }
        try await withThrowingTaskGroup(of: Int.self) { group in
            for number in 0..<1000 {
                group.addTask {
                    let work: @Sendable (NSManagedObjectContext) throws -> Int = { context in
                        let count = try context.all("Doctor").count
                        // Some work that blocks its thread, as a slow disk would.
                        usleep(10_000)
                        if number % 10 == 0 { _ = context.make("Ward", ["code": number]) }
                        return count
                    }
                    switch number % 20 {
                    case 0: return try await coordinator.write(work)
                    case 5, 15: return try await coordinator.read(work)
                    default:
                        let context = coordinator.context()
                        return try await context.perform {
                            let count = try work(context)
                            if context.hasChanges { try context.save() }
                            return count
                        }
                    }
                }
            }
            for try await count in group {
                #expect(count == 50)
                done.withLock { $0 += 1 }
            }
        }
        isOver.withLock { $0 = true }
        try await heart.value
        #expect(try stack.another().all("Ward").count == 100)
        #expect(peak.withLock { $0 } > 1)
        #expect(peak.withLock { $0 } <= NSManagedObjectContext.maximumActiveContexts)
        // Where all threads wait for Core Data the heart beats before the first is done and after the last.
        #expect(beats.withLock { $0.count } >= 3, "the heart stood still")
    }

    @Test("Three hundred awaited blocks that each wait for another context all end", .timeLimit(.minutes(30)))
    func manyWaits() async throws {
        let stack = try Stack()
        let coordinator = stack.coordinator
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 0..<300 {
                group.addTask {
                    let (first, second) = (coordinator.context(), coordinator.context())
                    try await first.perform {
                        usleep(5_000)
                        second.perform { _ = second.make("Doctor", ["name": "\(index)"]) }
                        try second.performAndWait { try second.save() }
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try stack.context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Doctor")) == 300)
    }
}
