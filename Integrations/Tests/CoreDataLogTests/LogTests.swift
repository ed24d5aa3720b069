// What is written to a logger.

import CoreData
import CoreDataLog
import Foundation
import InMemoryLogging
import IntegrationSupport
import Logging
import Testing

@Suite("A coordinator's log")
struct LogTests {
    private func logger(_ handler: InMemoryLogHandler, _ level: Logger.Level) -> Logger {
        Logger(label: "harbour") { _ in
            var handler = handler
            handler.logLevel = level
            return handler
        }
    }

    @Test("Each kind of work has its level, and what is below the logger's is left out")
    func levels() async throws {
        let harbour = try await Harbour(ships: 3)
        var levels = CoreDataLogLevels()
        levels.slowAfter = .seconds(3600)
        for level in [Logger.Level.trace, .debug, .info] {
            let handler = InMemoryLogHandler()
            let observation = harbour.coordinator.log(to: logger(handler, level), levels: levels)
            #expect(try await harbour.portNames() == ["p0", "p1", "p2"])
            observation.end()
            // Whether blocks have to wait is up to other tests.
            let messages = handler.entries.map { "\($0.message)" }.filter { !$0.hasPrefix("waited") }
            switch level {
            case .trace: #expect(messages == ["statement", "fetch", "statement", "faults"])
            case .debug: #expect(messages == ["fetch"])
            default: #expect(messages.isEmpty)
            }
        }
    }

    @Test("A slow statement is a warning with its plan and the line that ran it; what was bound is not written")
    func slow() async throws {
        let harbour = try await Harbour(ships: 2)
        var levels = CoreDataLogLevels()
        levels.slowAfter = .zero
        let handler = InMemoryLogHandler()
        let observation = harbour.coordinator.log(to: logger(handler, .warning), levels: levels)
        let line = #line + 4
        _ = try await harbour.container.read { context in
            let request = NSFetchRequest<NSManagedObject>(entityName: "Ship")
            request.predicate = NSPredicate(format: "name == 's1'")
            return try context.fetch(request).count
        }
        observation.end()
        // The line is looked up elsewhere, and the entry made then.
        func slow() -> InMemoryLogHandler.Entry? { handler.entries.first { $0.message == "slow statement" } }
        for _ in 0..<1200 where slow() == nil { try await Task.sleep(for: .milliseconds(50)) }
        let entry = try #require(slow())
        #expect(entry.level == .warning)
        #expect(entry.metadata["rows"] == "1" && entry.metadata["bindings"] == "1")
        #expect("\(entry.metadata["plan"] ?? "")".contains("SCAN"))
        #expect("\(entry.metadata["site"] ?? "")".hasSuffix("LogTests.swift:\(line)"), "\(entry.metadata)")
        #expect(!"\(entry.metadata)".contains("s1"))
    }

    @Test("A save that fails is an error with what it says")
    func failure() async throws {
        let harbour = try await Harbour(ships: 1)
        let handler = InMemoryLogHandler()
        let observation = harbour.coordinator.log(to: logger(handler, .error))
        await #expect(throws: CocoaError.self) {
            try await harbour.container.write { context in
                let ship = NSEntityDescription.insertNewObject(forEntityName: "Ship", into: context)
                ship.setValue(String(repeating: "secret", count: 100), forKey: "name")
            }
        }
        observation.end()
        #expect(
            handler.entries.map { "\($0.level) \($0.message) \($0.metadata["inserted"] ?? "")" } == [
                "error save failed 1"
            ])
        let said = "\(handler.entries.first?.metadata["error"] ?? "")"
        #expect(said.contains("name") && !said.contains("secret"), "\(said)")
    }

    @Test(
        "Who waits for a connection is told with what for; who gets none is an error, and so is his fetch",
        arguments: [true, false])
    func waits(_ isPatient: Bool) async throws {
        let harbour = try await Harbour(
            ships: 1, options: [SQLiteReaderLimitOption: 1, SQLiteConnectionTimeoutOption: isPatient ? 240 : 0])
        let handler = InMemoryLogHandler()
        var levels = CoreDataLogLevels()
        levels.slowAfter = .seconds(3600)
        let ready = logger(handler, isPatient ? .debug : .error)
        let waiting = try await harbour.whileReading { [levels] in
            let observation = harbour.coordinator.log(to: ready, levels: levels)
            let waiting = Task { try await harbour.portNames() }
            if isPatient {
                await harbour.awaitWaiting()
            } else {
                await #expect(throws: CocoaError.self) { try await waiting.value }
            }
            return (task: waiting, observation: observation)
        }
        if isPatient { #expect(try await waiting.task.value == ["p0"]) }
        waiting.observation.end()
        // Blocks wait for a place or a turn as well where many run.
        let waits = handler.entries.filter { entry in
            entry.metadata["for"].map { !["block", "turn"].contains("\($0)") } ?? false
        }
        // Once both go on, each may have to wait for the other again.
        #expect(isPatient ? !waits.isEmpty : waits.count == 1)
        let told = isPatient ? "debug waited for a connection for read" : "error got no connection for read"
        #expect(waits.allSatisfy { "\($0.level) \($0.message) for \($0.metadata["for"] ?? "")" == told }, "\(waits)")
        let store = "\(waits.first?.metadata["store"] ?? "")"
        #expect(store.hasSuffix("harbour.sqlite"))
        if !isPatient {
            let fetch = try #require(handler.entries.first { $0.message == "fetch failed" })
            #expect(
                fetch.level == .error && "\(fetch.metadata["error"] ?? "")".hasPrefix("134090 "), "\(fetch.metadata)")
        }
    }

    @Test("Of slow waits there is a line a second, with how many there were and the longest")
    func slowWaits() async throws {
        let harbour = try await Harbour(ships: 1)
        let handler = InMemoryLogHandler()
        var levels = CoreDataLogLevels()
        levels.slowAfter = .milliseconds(1)
        let observation = harbour.coordinator.log(to: logger(handler, .warning), levels: levels)
        func crowd() async throws {
            try await withThrowingTaskGroup { group in
                for _ in 0..<50 {
                    group.addTask { try await harbour.container.write { _ in _ = usleep(4000) } }
                }
                try await group.waitForAll()
            }
        }
        try await crowd()
        try await Task.sleep(for: .seconds(1))
        try await crowd()
        observation.end()
        let lines = handler.entries.filter { $0.message == "waited for its turn" && $0.metadata["for"] == "turn" }
        let counts = lines.map { Int("\($0.metadata["waits"] ?? "1")") ?? 0 }
        #expect(counts.first == 1 && counts.reduce(0, +) >= 45 && (2...20).contains(lines.count), "\(counts)")
        let longest = lines.compactMap { Double("\($0.metadata["milliseconds"] ?? "")") }.max() ?? 0
        #expect(longest >= 50, "\(longest)")
    }
}
