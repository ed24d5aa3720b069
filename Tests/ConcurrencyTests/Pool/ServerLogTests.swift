import CoreDataTestSupport
import CoreDataValues
import Foundation
import Synchronization
import Testing

@testable import CoreData

@Suite("The write-ahead log", .timeLimit(.minutes(30)), .serialized)
struct ServerLogTests {
    private let limit = 4_200_000

    private func filled() throws -> Stack {
        let stack = try Stack(options: [SQLiteLogLimitOption: limit])
        try write(stack.coordinator, 1)
        // More than one batch, so that a read is still open when it hands its first rows over.
        try stack.coordinator.inContext { context in
            for index in 0..<600 { _ = context.make("Doctor", ["name": "\(index)"]) }
            try context.save()
        }
        return stack
    }

    /// Saves of about 400 KB each.
    private func write(_ coordinator: NSPersistentStoreCoordinator, _ saves: Int) throws {
        for _ in 0..<saves {
            try coordinator.inContext { context in
                for _ in 0..<4 {
                    _ = context.make("Patient", ["name": "P", "photo": Data(repeating: 7, count: 100_000)])
                }
                try context.save()
            }
        }
    }

    @Test(
        "A log that grew beside a reader that stays open is emptied when the reader ends, and stays short from then on")
    func longReader() throws {
        let stack = try filled()
        let url = stack.folder.file("store.sqlite")
        let read = LongRead(stack.coordinator, "Doctor")
        try write(stack.coordinator, 40)
        #expect(url.log.fileSize > 3 * limit, "the reader's moment must stay readable")
        try read.end()
        #expect(url.log.fileSize == 0, "the last reader to leave empties the log")
        var longest = 0
        for _ in 0..<30 {
            try write(stack.coordinator, 1)
            longest = max(longest, url.log.fileSize)
        }
        #expect(longest < 2 * limit)
        #expect(url.ask("SELECT COUNT(*) FROM ZPATIENT") == "284")
    }

    @Test("With readers that overlap, so that one is always there, the log stays within twice its limit")
    func overlappingReaders() throws {
        let stack = try filled()
        let (coordinator, url) = (stack.coordinator, stack.folder.file("store.sqlite"))
        let state = Mutex((isDone: false, reads: 0))
        let readers = (0..<4).map { number in
            Worker {
                let rows = coordinator.persistentStores[0].rows
                guard let doctor = rows.schema.entity(named: "Doctor")?.index else { return }
                usleep(UInt32(number) * 5_000)
                while !state.withLock({ $0.isDone }) {
                    // A read of 20 ms, begun by one of the four every 5 ms.
                    try rows.fetch(FetchPlan(entity: doctor), .latest) { _ in
                        usleep(20_000)
                        return .stop
                    }
                    state.withLock { $0.reads += 1 }
                }
            }
        }
        var longest = 0
        for _ in 0..<80 {
            try write(coordinator, 1)
            longest = max(longest, url.log.fileSize)
        }
        state.withLock { $0.isDone = true }
        for reader in readers { try reader.join() }
        #expect(state.withLock { $0.reads } > 20, "the readers did read")
        #expect(longest < 2 * limit, "32 MB were written, the log reached \(longest) bytes")
        #expect(coordinator.counters.logRestarts > 0)
    }

    @Test("A reader of another process holds no save up for longer than a moment, and the log shrinks after it")
    func foreignReader() throws {
        let stack = try filled()
        let url = stack.folder.file("store.sqlite")
        let rival = try SQLiteFile(url)
        try rival.run("BEGIN")
        try rival.run("SELECT COUNT(*) FROM ZPATIENT")
        let start = Date()
        try write(stack.coordinator, 40)
        #expect(Date().timeIntervalSince(start) < 30)
        #expect(url.log.fileSize > 3 * limit)
        try rival.run("COMMIT")
        try write(stack.coordinator, 12)
        #expect(url.log.fileSize < 2 * limit)
    }
}
