import CoreDataTestSupport
import CoreDataValues
import Foundation
import Testing

@testable import CoreData

@Suite("Connections of a store", .timeLimit(.minutes(30)))
struct ServerPoolTests {
    private func filled(_ options: [AnyHashable: Any]) throws -> Stack {
        let stack = try Stack(options: options)
        try stack.coordinator.inContext { context in
            _ = context.make("Doctor", ["name": "Ada"])
            try context.save()
        }
        return stack
    }

    @Test("With one reader allowed a second read waits its time and ends with 134090, while a save goes on")
    func readerLimit() throws {
        let stack = try filled([SQLiteReaderLimitOption: 1, SQLiteConnectionTimeoutOption: 0.3])
        let coordinator = stack.coordinator
        let read = LongRead(coordinator, "Doctor")
        let waits = coordinator.counters.poolWaits
        let start = Date()
        #expect(code { _ = try coordinator.count("Doctor") } == 134090)
        #expect(Date().timeIntervalSince(start) >= 0.3)
        #expect(coordinator.counters.poolWaits == waits + 1)
        try coordinator.inContext { context in
            _ = context.make("Doctor", ["name": "Bo"])
            try context.save()
        }
        let waiting = Worker { _ = try coordinator.count("Doctor") }
        usleep(50_000)
        try read.end()
        try waiting.join()
        #expect(try coordinator.count("Doctor") == 2)
    }

    @Test("As many readers stay open as are asked for; those beyond close when their reads end", arguments: [0, 1, 3])
    func idleReaders(_ count: Int) throws {
        let stack = try filled([SQLiteIdleReadersOption: count])
        let log = stack.folder.file("store.sqlite-wal").resolvingSymlinksInPath().path
        // A connection in use has the log open; the file itself may stay open for as long as another one has a lock on it.
        func connections() throws -> Int {
            try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count {
                (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")) == log
            }
        }
        for _ in 1...2 {
            let reads = (0..<5).map { _ in LongRead(stack.coordinator, "Doctor") }
            #expect(try connections() == 1 + 5, "the writer and the readers")
            for read in reads { try read.end() }
            #expect(try connections() == 1 + count)
        }
    }

    @Test("Who reads inside a read does not wait for himself, whatever the limit")
    func nested() throws {
        let stack = try filled([SQLiteReaderLimitOption: 1, SQLiteConnectionTimeoutOption: 2])
        let rows = stack.coordinator.persistentStores[0].rows
        let plan = FetchPlan(entity: try #require(rows.schema.entity(named: "Doctor")).index)
        var inner = 0
        try rows.fetch(plan, .latest) { _ in
            inner = try rows.count(plan, .latest)
            return .stop
        }
        #expect(inner == 1)
        #expect(stack.coordinator.counters.poolWaits == 0)
    }

    @Test("Forty threads share two readers and none is left out")
    func fair() throws {
        let stack = try filled([SQLiteReaderLimitOption: 2])
        let coordinator = stack.coordinator
        let workers = (0..<40).map { _ in
            Worker {
                for _ in 0..<25 {
                    let count = try coordinator.count("Doctor")
                    #expect(count == 1)
                }
            }
        }
        for worker in workers { try worker.join() }
        #expect(coordinator.counters.statements >= 1000)
    }

    @Test("A save that waits for another process's lock ends with 134090 after the time given")
    func foreignLock() throws {
        let stack = try filled([NSPersistentStoreTimeoutOption: 0.2])
        let rival = try SQLiteFile(stack.folder.file("store.sqlite"))
        try rival.run("BEGIN IMMEDIATE")
        try stack.coordinator.inContext { context in
            _ = context.make("Doctor", ["name": "Bo"])
            #expect(code { try context.save() } == 134090)
            try rival.run("ROLLBACK")
            #expect(code { try context.save() } == nil, "and succeeds when the lock is gone")
        }
    }

    @Test(
        "A value that does not fit an option is refused",
        arguments: [
            SQLiteReaderLimitOption, SQLiteIdleReadersOption, SQLiteConnectionTimeoutOption, SQLiteLogLimitOption,
            SQLitePinnedViewLimitOption,
        ])
    func options(_ name: String) throws {
        #expect(code { _ = try Stack(options: [name: -1]) } == 134060)
        #expect(code { _ = try Stack(options: [name: "many"]) } == 134060)
        if [SQLiteReaderLimitOption, SQLitePinnedViewLimitOption].contains(name) {
            #expect(code { _ = try Stack(options: [name: 0]) } == 134060)
        }
        _ = try Stack(options: [name: NSNumber(value: 7)])
    }

    @Test("Counters count statements, rows and faults")
    func counters() throws {
        let stack = try Stack()
        let coordinator = stack.coordinator
        try coordinator.inContext { context in
            for index in 0..<30 { _ = context.make("Doctor", ["name": "\(index)"]) }
            let before = coordinator.counters
            try context.save()
            #expect(coordinator.counters.rows == before.rows + 30)
            #expect(coordinator.counters.statements > before.statements)
        }
        try coordinator.inContext { context in
            let before = coordinator.counters
            let doctors = try context.all("Doctor")
            var after = coordinator.counters
            #expect(after.rows == before.rows + 30 && after.statements == before.statements + 1)
            #expect(after.faults == before.faults, "a fetched object has its row")
            _ = (doctors[0].value(forKey: "patients") as? NSSet)?.count
            after = coordinator.counters
            #expect(after.faults == before.faults + 1 && after.statements == before.statements + 2)
        }
    }
}
