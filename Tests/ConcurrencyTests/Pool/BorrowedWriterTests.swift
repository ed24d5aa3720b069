import CoreDataTestSupport
import CoreDataValues
import Foundation
import Synchronization
import Testing

@testable import CoreData

/// Saves another object of its coordinator when it is read, as often as it is asked to.
final class SavingDoctor: NSManagedObject {
    nonisolated(unsafe) static var saves = 0

    override func awakeFromFetch() {
        guard Self.saves > 0, let coordinator = managedObjectContext?.persistentStoreCoordinator else { return }
        Self.saves -= 1
        @Sendable func save() {
            do {
                try coordinator.inContext { context in
                    _ = context.make("Doctor", ["name": "made while reading"])
                    try context.save()
                }
            } catch { Issue.record(error) }
        }
        save()
        let other = Worker { save() }
        do { try other.join() } catch { Issue.record(error) }
    }
}

@Suite("Reads of blocks that write", .timeLimit(.minutes(10)), .serialized)
struct BorrowedWriterTests {
    /// How many connections have the log open.
    private func connections(_ stack: Stack) throws -> Int {
        let log = stack.folder.file("store.sqlite-wal").resolvingSymlinksInPath().path
        return try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count {
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")) == log
        }
    }

    private func doctors(_ context: NSManagedObjectContext, limit: Int) throws -> [NSManagedObject] {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Doctor")
        request.fetchLimit = limit
        request.returnsObjectsAsFaults = false
        return try context.fetch(request)
    }

    @Test("A few rows need no connection beside the writer's, and are what others have saved; without a limit they do")
    func oneConnection() async throws {
        let stack = try Stack(options: [SQLiteIdleReadersOption: 3])
        for number in 0..<3 {
            try await stack.coordinator.write { context in
                let count = try doctors(context, limit: 64).count
                #expect(count == number)
                _ = context.make("Doctor", ["name": "Ada"])
            }
            #expect(try connections(stack) == 1)
        }
        _ = try await stack.coordinator.write { try doctors($0, limit: 0).count }
        #expect(try connections(stack) == 2)
    }

    @Test("Saves of others go on meanwhile")
    func others() async throws {
        let stack = try Stack()
        let coordinator = stack.coordinator
        try await coordinator.write { _ = $0.make("Doctor", ["name": "Ada"]) }
        let worker = Mutex<Worker?>(nil)
        try await coordinator.write { context in
            let count = try doctors(context, limit: 1).count
            #expect(count == 1)
            worker.withLock {
                $0 = Worker {
                    for _ in 0..<20 {
                        try coordinator.inContext { context in
                            _ = context.make("Doctor", ["name": "Bo"])
                            try context.save()
                        }
                    }
                }
            }
            for _ in 0..<200 { _ = try doctors(context, limit: 10) }
        }
        try worker.withLock { try $0?.join() }
        #expect(try coordinator.count("Doctor") == 21)
    }

    @Test("An object that saves on this or another thread when it is fetched waits for nobody", arguments: [0, 10])
    func savesWhileReading(_ limit: Int) async throws {
        let model = Clinic.model()
        try #require(model.entitiesByName["Doctor"]).managedObjectClassName = NSStringFromClass(SavingDoctor.self)
        let stack = try Stack(NSSQLiteStoreType, model: model, options: [SQLiteConnectionTimeoutOption: 2])
        try await stack.coordinator.write { _ = $0.make("Doctor", ["name": "Ada"]) }
        SavingDoctor.saves = 3
        let names = try await stack.coordinator.write { context in
            let names = try doctors(context, limit: limit).compactMap { $0.value(forKey: "name") as? String }
            _ = context.make("Doctor", ["name": "last"])
            return names
        }
        #expect(names == ["Ada"] && SavingDoctor.saves == 2)
        SavingDoctor.saves = 0
        #expect(try stack.coordinator.count("Doctor") == 4)
    }
}
