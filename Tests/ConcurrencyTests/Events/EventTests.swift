// What observers of a coordinator are told.

import CoreDataTestSupport
import Foundation
import Synchronization
import Testing

@testable import CoreData

@Suite("Events of a coordinator")
struct EventTests {
    @TaskLocal static var request: String?

    /// Collects what is told.
    final class Events: Sendable {
        private let told = Mutex<[CoreDataEvent]>([])
        func add(_ event: CoreDataEvent) { told.withLock { $0.append(event) } }
        func take() -> [CoreDataEvent] {
            told.withLock { told in
                defer { told = [] }
                return told
            }
        }
        var names: [String] { take().map(\.name) }
    }

    private func filled(_ type: String = NSSQLiteStoreType) throws -> Stack {
        let stack = try Stack(type)
        try stack.coordinator.inContext { context in
            for number in 0..<2 {
                let ward = context.make("Ward", ["name": "w\(number)"])
                for place in 0..<3 {
                    context.make("Patient", ["name": "p\(number).\(place)"]).setValue(ward, forKey: "ward")
                }
            }
            try context.save()
        }
        return stack
    }

    @Test("A fetch is told with its statement, a save with what it wrote, and nothing once the observation has ended")
    func fetchAndSave() throws {
        let stack = try filled()
        let events = Events()
        let observation = stack.coordinator.observe { events.add($0) }
        try stack.coordinator.inContext { context in
            context.name = "rounds"
            let wards = try context.all("Ward")
            #expect(events.names == ["statement 2", "fetch Ward objects 2 rounds"])
            wards[0].setValue("new", forKey: "name")
            context.delete(wards[1])
            _ = context.make("Doctor", ["name": "Ada"])
            _ = events.take()
            try context.save()
            #expect(events.names.last == "save 1 4 1 rounds")
            #expect(try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Patient")) == 6)
            #expect(events.names == ["statement 1", "fetch Patient count 6 rounds"])
            observation.end()
            _ = try context.all("Ward")
            #expect(events.take().isEmpty)
        }
    }

    @Test("A statement is told with its text, how many values were bound, its file, and its plan while it is told")
    func statement() throws {
        let stack = try filled()
        let found = Mutex<[CoreDataEvent.Statement]>([])
        let plans = Mutex<[[String]]>([])
        let observation = stack.coordinator.observe { event in
            guard case .statement(let statement) = event else { return }
            found.withLock { $0.append(statement) }
            plans.withLock { $0.append(statement.queryPlan()) }
        }
        try stack.coordinator.inContext { context in
            let request = NSFetchRequest<NSManagedObject>("Patient", "name == 'p1.1' AND ward.name == 'w1'")
            let patients = try context.fetch(request)
            #expect(patients.count == 1)
        }
        observation.end()
        let statement = try #require(found.withLock { $0.first })
        #expect(found.withLock { $0.count } == 1, "the plan's own statement is not told")
        #expect(
            statement.sql.hasPrefix("SELECT ") && statement.bindingCount == 2 && statement.rows == 1
                && statement.duration > .zero)
        #expect(statement.storePath.hasSuffix("/store.sqlite"))
        #expect(plans.withLock { $0.first?.isEmpty } == false)
        #expect(statement.queryPlan().isEmpty)
    }

    @Test("Faults are told by the batch, with where their rows came from")
    func faults() throws {
        let stack = try filled()
        let events = Events()
        let observation = stack.coordinator.observe { events.add($0) }
        defer { observation.end() }
        stack.coordinator.rowCacheLimit = 0
        stack.coordinator.rowCacheLimit = 1 << 20
        try stack.coordinator.inContext { context in
            let patients = try context.all("Patient")
            _ = events.take()
            _ = patients.map { $0.value(forKeyPath: "ward.name") as? String }
            #expect(events.names.filter { $0.hasPrefix("faults") } == ["faults Ward 2 store"])
            let ward = try #require(patients[0].value(forKey: "ward") as? NSManagedObject)
            #expect((ward.value(forKey: "patients") as? Set<NSManagedObject>)?.count == 3)
            #expect(events.names.filter { $0.hasPrefix("faults") } == ["faults Ward.patients 3 store"])
        }
        let id = try stack.coordinator.inContext { try $0.all("Ward")[0].objectID }
        _ = events.take()
        try stack.coordinator.inContext { _ = try $0.existingObject(with: id) }
        #expect(events.names == ["faults Ward 1 cache"])
    }

    @Test("Who waits for a connection is told, with how it ended")
    func waits() throws {
        let stack = try Stack(options: [SQLiteReaderLimitOption: 1, SQLiteConnectionTimeoutOption: 0.05])
        try stack.coordinator.inContext { context in
            _ = context.make("Doctor", ["name": "Ada"])
            try context.save()
        }
        let events = Events()
        let observation = stack.coordinator.observe { events.add($0) }
        defer { observation.end() }
        let read = LongRead(stack.coordinator, "Doctor")
        #expect(throws: CocoaError.self) { try stack.coordinator.inContext { _ = try $0.all("Doctor") } }
        try read.end()
        let told = events.names.filter { !$0.hasPrefix("statement") }
        #expect(told == ["wait read refused", "fetch Doctor objects 0 failed"])
    }

    @Test(
        "A save that fails is told with its error, a save to a parent as such; stores without statements tell the rest",
        arguments: [
            NSSQLiteStoreType, NSInMemoryStoreType,
        ])
    func failures(_ type: String) throws {
        let stack = try filled(type)
        let events = Events()
        let observation = stack.coordinator.observe { events.add($0) }
        defer { observation.end() }
        try stack.coordinator.inContext { context in
            let patient = context.make("Patient")
            #expect(throws: CocoaError.self) { try context.save() }
            #expect(events.names.filter { !$0.hasPrefix("statement") } == ["save 1 0 0 failed"])
            patient.setValue("Bo", forKey: "name")
            let child = context.child()
            try child.performAndWait {
                _ = child.make("Doctor", ["name": "Ada"])
                try child.save()
            }
            #expect(events.names.filter { !$0.hasPrefix("statement") } == ["save 1 0 0 to parent"])
        }
    }

    @Test("What an observer has left with a task is there in the blocks that the task awaits, on every thread")
    func carriers() async throws {
        let hospital = try await WardHospital(2)
        let seen = Mutex<[String]>([])
        let observation = hospital.container.persistentStoreCoordinator.observe(
            carrying: CoreDataCarrier(Self.$request)
        ) { event in
            if case .fetch = event { seen.withLock { $0.append(Self.request ?? "none") } }
        }
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<8 {
                group.addTask {
                    await Self.$request.withValue("r\(number)") {
                        _ = try? await hospital.container.read { try $0.all("Ward").count }
                    }
                }
            }
        }
        #expect(seen.withLock { $0.sorted() } == (0..<8).map { "r\($0)" })
        observation.end()
        _ = try await hospital.container.read { context in
            #expect(Self.request == nil)
            return try context.all("Ward").count
        }
        #expect(seen.withLock { $0.count } == 8)
    }

    @Test("Observers may come and go while others read and save; an observation that is let go has ended")
    func manyThreads() throws {
        let stack = try filled()
        let coordinator = stack.coordinator
        let workers = (0..<4).map { number in
            Worker {
                for step in 0..<50 {
                    try coordinator.inContext { context in
                        if number < 2 {
                            _ = try context.all("Patient").map { $0.value(forKeyPath: "ward.name") as? String }
                        } else {
                            _ = context.make("Doctor", ["name": "\(number).\(step)"])
                            try context.save()
                        }
                    }
                    let events = Events()
                    let observation = coordinator.observe { events.add($0) }
                    if step % 2 == 0 { observation.end() }
                    _ = try coordinator.inContext { try $0.all("Doctor").count }
                    if step % 2 == 1 { #expect(events.names.contains { $0.hasPrefix("fetch Doctor") }) }
                }
            }
        }
        for worker in workers { try worker.join() }
        #expect(!coordinator.observers.isListening)
    }
}

extension CoreDataEvent {
    /// Without what differs from run to run.
    fileprivate var name: String {
        func ended(_ error: (any Error)?, _ name: String?) -> String {
            error == nil ? name.map { " \($0)" } ?? "" : " failed"
        }
        switch self {
        case .statement(let event): return "statement \(event.rows)"
        case .fetch(let event):
            return "fetch \(event.entityName) \(event.kind) \(event.results)" + ended(event.error, event.contextName)
        case .save(let event):
            return "save \(event.inserted) \(event.updated) \(event.deleted)" + (event.isToParent ? " to parent" : "")
                + ended(event.error, event.contextName)
        case .faults(let event):
            let name = faultName(event.entityName, event.relationshipName)
            return "faults \(name) \(event.count) \(event.isFromCache ? "cache" : "store")"
        case .wait(let event): return "wait \(event.purpose) \(event.isAdmitted ? "admitted" : "refused")"
        }
    }
}
