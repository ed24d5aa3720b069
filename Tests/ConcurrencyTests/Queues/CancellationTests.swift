// What a cancelled task does to the work that it waits for.

import CoreDataTestSupport
import CoreDataValues
import Foundation
import Synchronization
import Testing

@testable import CoreData
@testable import CoreDataSQLite

@Suite("Cancelled tasks")
struct CancellationTests {
    private let stack: Stack

    init() throws { stack = try Stack(undo: false) }

    @Test(
        "Cancelling the task interrupts the statement; the fetch throws CancellationError and the store goes on",
        .timeLimit(.minutes(30)))
    func statement() async throws {
        let context = stack.context
        try await context.perform {
            let ward = context.make("Ward", ["name": "North"])
            for number in 0..<2000 { context.make("Patient", ["name": "\(number)"]).setValue(ward, forKey: "ward") }
            try context.save()
        }
        let request = NSFetchRequest<NSManagedObject>(entityName: "Ward")
        // 2,000 × 2,000 × 2,000 rows to look at, whichever comes first: no order of the three finds its rows by an index.
        request.predicate = NSPredicate(
            format: """
                SUBQUERY(patients, $a, SUBQUERY($a.ward.patients, $b, SUBQUERY($b.ward.patients, $c, \
                $a.name > $b.name AND $b.name > $c.name AND $c.name > $a.name).@count > 0).@count > 0).@count > 0
                """)
        nonisolated(unsafe) let asked = request
        let other = stack.another()
        let before = stack.coordinator.counters.statements
        let task = Task { try await other.perform { try other.fetch(asked).count } }
        while stack.coordinator.counters.statements == before { try await Task.sleep(for: .milliseconds(5)) }
        try await Task.sleep(for: .milliseconds(200))
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(try await other.perform { try other.all("Patient").count } == 2000)
    }

    @Test(
        "A few long texts are broken off as well: between two of them the fetch sees that it was cancelled",
        .timeLimit(.minutes(30)))
    func longTexts() async throws {
        let context = stack.context
        let text = String(repeating: "Lorem ipsum dolor sit amet, fo consectetur é elit. ", count: 8000)
        try await context.perform {
            for _ in 0..<20 { _ = context.make("Patient", ["name": text]) }
            try context.save()
        }
        let request = NSFetchRequest<NSManagedObject>(entityName: "Patient")
        // More to search than any machine gets through before the task is cancelled.
        request.predicate = NSCompoundPredicate(
            orPredicateWithSubpredicates: (0..<400).map { NSPredicate(format: "name CONTAINS[cd] %@", "foo\($0)") })
        nonisolated(unsafe) let asked = request
        let other = stack.another()
        let before = stack.coordinator.counters.statements
        let task = Task { try await other.perform { try other.fetch(asked).count } }
        while stack.coordinator.counters.statements == before { try await Task.sleep(for: .milliseconds(5)) }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test(
        "Cancelling ends the wait for the writer and for another process; nothing is written, and the next save works",
        .timeLimit(.minutes(30)))
    func waits() async throws {
        // Left alone, both would wait for an hour, longer than the test may take.
        let stack = try Stack(
            undo: false, options: [NSPersistentStoreTimeoutOption: 3600, SQLiteConnectionTimeoutOption: 3600])
        let (first, second) = (stack.context, stack.another())
        // Another process, as far as the store can tell.
        let rival = try SQLiteFile(stack.folder.file("store.sqlite"))
        try rival.run("BEGIN IMMEDIATE")
        let tasks = [first, second].map { context in
            Task {
                try await context.perform {
                    _ = context.make("Doctor", ["name": "Eve"])
                    try context.save()
                }
            }
        }
        // One waits for the file, the other for the writer.
        try await Task.sleep(for: .milliseconds(300))
        for place in [1, 0] {
            tasks[place].cancel()
            await #expect(throws: CancellationError.self) { try await tasks[place].value }
        }
        try rival.run("COMMIT")
        for context in [first, second] {
            #expect(await context.perform { context.insertedObjects.count } == 1)
            try await context.perform { try context.save() }
        }
        #expect(try stack.another().all("Doctor").count == 2)
    }

    @Test("Cancelling ends a reader's wait for a connection; the reader that has it goes on", .timeLimit(.minutes(30)))
    func waitingReader() async throws {
        let options: [AnyHashable: Any] = [SQLiteReaderLimitOption: 1, SQLiteConnectionTimeoutOption: 3600]
        let stack = try Stack(undo: false, options: options)
        _ = stack.context.make("Doctor", ["name": "Eve"])
        try stack.context.save()
        let coordinator = stack.coordinator
        let read = LongRead(coordinator, "Doctor")
        let (other, waits) = (stack.another(), coordinator.counters.poolWaits)
        let task = Task { try await other.perform { try other.all("Doctor").count } }
        while coordinator.counters.poolWaits == waits { try await Task.sleep(for: .milliseconds(5)) }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        try read.end()
        #expect(try await other.perform { try other.all("Doctor").count } == 1)
    }

    @Test("A task that was cancelled before touches no store; a block that does not throw runs to its end")
    func beforehand() async throws {
        let context = stack.context
        let task = Task {
            while !Task.isCancelled { await Task.yield() }
            let value = await context.perform { 7 }
            await #expect(throws: CancellationError.self) {
                try await context.perform { try context.all("Doctor") }.count
            }
            return value
        }
        task.cancel()
        #expect(await task.value == 7)
        #expect(try context.all("Doctor").count == 0)
    }

    @Test("A getter whose read was cancelled answers nil, and the next call that can throw throws CancellationError")
    func getter() async throws {
        let ward = stack.context.make("Ward", ["name": "North"])
        try stack.context.save()
        let (id, other, cancellation) = (ward.objectID, stack.another(), Cancellation())
        other.stalenessInterval = 0
        cancellation.covering {
            other.performAndWait {
                let fault = other.object(with: id)
                cancellation.cancel()
                #expect(fault.value(forKey: "name") == nil)
                #expect(throws: CancellationError.self) { try other.save() }
            }
        }
        #expect(Cancellation.current == nil)
        #expect(other.object(with: id).value(forKey: "name") as? String == "North")
    }

    @Test("A save that is cancelled at any moment is in the file as a whole or not at all", .timeLimit(.minutes(30)))
    func moments() async throws {
        var (saved, ended) = (0, 0)
        for round in 0..<60 {
            let context = stack.another()
            // In every tenth round for certain between the changes and the save.
            let isCertain = round % 10 == 0
            let (isMade, isCancelled) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
            let task = Task {
                try await context.perform {
                    for _ in 0..<200 { _ = context.make("Doctor", ["code": round]) }
                    isMade.signal()
                    if isCertain { isCancelled.wait() }
                    try context.save()
                }
            }
            while isCertain, !isMade.isSignalled { try await Task.sleep(for: .milliseconds(1)) }
            if !isCertain { try await Task.sleep(for: .microseconds(round * 250)) }
            task.cancel()
            isCancelled.signal()
            do {
                try await task.value
                saved += 1
                #expect(await context.perform { !context.hasChanges })
            } catch is CancellationError {
                ended += 1
                #expect(await context.perform { context.insertedObjects.count } == 200)
            }
            #expect(try stack.another().all("Doctor").count == saved * 200)
        }
        #expect(ended >= 6)
    }

    @Test("Callers get the writer in the order they came", .timeLimit(.minutes(30)))
    func line() throws {
        let store = try #require(stack.coordinator.persistentStores.first?.rows as? SQLiteStore)
        let group = DispatchGroup()
        let seen = Mutex<[Int]>([])
        try store.pool.write { _ in
            for number in 0..<8 {
                DispatchQueue(label: "caller").async(group: group) {
                    try? store.pool.write { _ in seen.withLock { $0.append(number) } }
                }
                while store.pool.state.withLock({ $0.writersInLine.count }) <= number { usleep(100) }
            }
        }
        group.wait()
        #expect(seen.withLock { $0 } == Array(0..<8))
    }
}

extension DispatchSemaphore {
    fileprivate var isSignalled: Bool { wait(timeout: .now()) == .success }
}
