// What a coordinator says of itself while others work.

import CoreDataTestSupport
import Foundation
import Synchronization
import Testing

@testable import CoreData
@testable import CoreDataSQLite

@Suite("Diagnostics of a coordinator")
struct DiagnosticsTests {
    private func filled(_ options: [AnyHashable: Any] = [:]) throws -> Stack {
        let stack = try Stack(options: options)
        try stack.coordinator.inContext { context in
            for number in 0..<3 { _ = context.make("Doctor", ["name": "d\(number)"]) }
            try context.save()
        }
        return stack
    }

    @Test("Connections in use are told with their statement and since when, and who waits for one")
    func connections() throws {
        let stack = try filled([SQLiteReaderLimitOption: 1])
        let coordinator = stack.coordinator
        #expect(coordinator.diagnostics().stores[0].connections.isEmpty)
        let read = LongRead(coordinator, "Doctor")
        let waiting = Worker { _ = try coordinator.count("Doctor") }
        var found = coordinator.diagnostics().stores[0]
        while found.waiting.isEmpty { found = coordinator.diagnostics().stores[0] }
        #expect(found.connections.map(\.purpose) == [.read] && found.waiting.map(\.purpose) == [.read])
        #expect(found.connections[0].sql?.contains("ZDOCTOR") == true)
        #expect(found.connections[0].duration >= found.waiting[0].duration && found.waiting[0].duration >= .zero)
        #expect(found.oldestReader == found.connections[0].duration)
        let later = coordinator.diagnostics()
        #expect(later.description.contains("waits to read for") && later.description.contains("ZDOCTOR"), "\(later)")
        try read.end()
        try waiting.join()
        found = coordinator.diagnostics().stores[0]
        #expect(found.connections.isEmpty && found.waiting.isEmpty && found.oldestReader == nil)
    }

    @Test("It is answered while a writer writes, which is told of, with the writer behind it")
    func longWriter() throws {
        let stack = try filled()
        let coordinator = stack.coordinator
        let rows = try #require(coordinator.persistentStores[0].rows as? SQLiteStore)
        let (entered, leaving) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let writer = Worker {
            try rows.pool.write { _ in
                entered.signal()
                leaving.wait()
            }
        }
        entered.wait()
        let second = Worker {
            try coordinator.inContext { context in
                _ = context.make("Doctor", ["name": "later"])
                try context.save()
            }
        }
        var found = coordinator.diagnostics()
        while found.stores[0].waiting.isEmpty || !found.contexts.contains(where: \.isBusy) {
            found = coordinator.diagnostics()
        }
        #expect(
            found.stores[0].connections.map(\.purpose) == [.write] && found.stores[0].waiting.map(\.purpose) == [.write]
        )
        leaving.signal()
        try writer.join()
        try second.join()
        #expect(coordinator.diagnostics().stores[0].connections.isEmpty)
    }

    @Test("Contexts that are alive are told with name and changes, those that are gone and those of others are not")
    func contexts() throws {
        let stack = try filled()
        let other = try filled()
        let coordinator = stack.coordinator
        let draft = stack.context
        draft.name = "draft"
        draft.performAndWait { for _ in 0..<4 { _ = draft.make("Doctor") } }
        let idle = stack.another()
        let made = coordinator.diagnostics()
        #expect(made.contextCount == 2 && made.contexts.map(\.name).contains("draft"))
        #expect(made.contexts.first { $0.name == "draft" }?.changes == 4)
        #expect(made.contexts.allSatisfy { !$0.isBusy && !$0.isMainQueue })
        #expect(made.description.contains("draft, 4 changed objects"), "\(made)")
        #expect(other.coordinator.diagnostics().contextCount == 1)
        withExtendedLifetime(idle) {}
        draft.performAndWait { draft.rollback() }
        #expect(coordinator.diagnostics().contexts.first { $0.name == "draft" }?.changes == 0)
    }

    @Test("Pinned views, the log's bytes, the cache and those who wait to write are told")
    func rest() async throws {
        let hospital = try await WardHospital(2)
        let container = hospital.container
        let coordinator = container.persistentStoreCoordinator
        let context = container.newBackgroundContext()
        try await context.perform {
            try context.setQueryGenerationFrom(.current)
            _ = try context.all("Ward").count
        }
        let found = container.diagnostics()
        #expect(found.stores[0].connections.map(\.purpose) == [.pinnedView] && found.stores[0].oldestReader != nil)
        #expect(found.stores[0].logSize > 0 && found.cacheSize > 0 && found.cacheLimit == coordinator.rowCacheLimit)
        let hasEntered = Mutex(false)
        let leaving = DispatchSemaphore(value: 0)
        async let first: Void = container.write { _ in
            hasEntered.withLock { $0 = true }
            leaving.wait()
        }
        while !hasEntered.withLock({ $0 }) { try await Task.sleep(for: .milliseconds(1)) }
        async let second: Void = container.write { _ in }
        while container.diagnostics().writersInLine == 0 { try await Task.sleep(for: .milliseconds(1)) }
        try await Task.sleep(for: .milliseconds(2))
        let waiting = container.diagnostics()
        #expect(try #require(waiting.longestWriterWait) >= .milliseconds(2))
        #expect(waiting.description.contains("1 writers wait for their turn (for "), "\(waiting)")
        leaving.signal()
        _ = try await (first, second)
        #expect(container.diagnostics().writersInLine == 0 && container.diagnostics().longestWriterWait == nil)
        withExtendedLifetime(context) {}
    }

    @Test(
        "Callers of read that wait for a connection are told, with the longest wait, and nobody when they are through")
    func readers() async throws {
        let stack = try filled([SQLiteReaderLimitOption: 1])
        let coordinator = stack.coordinator
        let (held, end) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let first = Task {
            try await coordinator.read { _ in
                held.signal()
                end.wait()
            }
        }
        await wait(for: held)
        let others = (0..<5).map { _ in Task { try await coordinator.read { try $0.all("Doctor").count } } }
        while coordinator.diagnostics().readersInLine < 5 { try await Task.sleep(for: .milliseconds(1)) }
        try await Task.sleep(for: .milliseconds(2))
        let found = coordinator.diagnostics()
        #expect(try #require(found.longestReaderWait) >= .milliseconds(2))
        #expect(found.description.contains("5 readers for a connection (for "), "\(found)")
        end.signal()
        try await first.value
        for other in others { #expect(try await other.value == 3) }
        let later = coordinator.diagnostics()
        #expect(later.readersInLine == 0 && later.longestReaderWait == nil)
    }

    @Test("It may be asked for from many threads while contexts come and go")
    func manyThreads() throws {
        let stack = try filled()
        let coordinator = stack.coordinator
        let workers = (0..<4).map { number in
            Worker {
                for step in 0..<50 {
                    try coordinator.inContext { context in
                        context.name = "\(number).\(step)"
                        _ = context.make("Doctor", ["name": "x"])
                        if step % 10 == 0 { try context.save() } else { _ = try context.all("Doctor").count }
                    }
                }
            }
        }
        let askers = (0..<2).map { _ in
            Worker { for _ in 0..<200 { _ = coordinator.diagnostics().description } }
        }
        for worker in workers + askers { try worker.join() }
        #expect(coordinator.diagnostics().contextCount == 1)
    }
}
