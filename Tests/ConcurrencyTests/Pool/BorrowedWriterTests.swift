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
        do {
            try coordinator.inContext { context in
                _ = context.make("Doctor", ["name": "made while reading"])
                try context.save()
            }
        } catch { Issue.record(error) }
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

    @Test("They need no connection beside the writer's, and see what others have saved")
    func oneConnection() async throws {
        let stack = try Stack(options: [SQLiteIdleReadersOption: 3])
        for number in 0..<3 {
            try await stack.coordinator.write { context in
                let count = try context.all("Doctor").count
                #expect(count == number)
                _ = context.make("Doctor", ["name": "Ada"])
            }
            #expect(try connections(stack) == 1)
        }
        _ = try await stack.coordinator.read { try $0.all("Doctor").count }
        #expect(try connections(stack) == 2)
    }

    @Test(
        "A save on another thread waits for such a read, and such a read for no save of another's",
        .timeLimit(.minutes(1)))
    func others() async throws {
        let stack = try Stack()
        let coordinator = stack.coordinator
        try await coordinator.write { _ = $0.make("Doctor", ["name": "Ada"]) }
        let worker = Mutex<Worker?>(nil)
        try await coordinator.write { context in
            let count = try context.all("Doctor").count
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
            for _ in 0..<200 { _ = try context.all("Doctor") }
        }
        try worker.withLock { try $0?.join() }
        #expect(try coordinator.count("Doctor") == 21)
    }

    @Test("An object that saves by another context while such a read makes it does not wait for itself")
    func savesWhileReading() async throws {
        let model = Clinic.model()
        try #require(model.entitiesByName["Doctor"]).managedObjectClassName = NSStringFromClass(SavingDoctor.self)
        let stack = try Stack(NSSQLiteStoreType, model: model, options: [SQLiteConnectionTimeoutOption: 2])
        try await stack.coordinator.write { _ = $0.make("Doctor", ["name": "Ada"]) }
        SavingDoctor.saves = 3
        let names = try await stack.coordinator.write { context in
            let names = try context.all("Doctor").compactMap { $0.value(forKey: "name") as? String }
            _ = context.make("Doctor", ["name": "last"])
            return names
        }
        #expect(names == ["Ada"] && SavingDoctor.saves == 2)
        SavingDoctor.saves = 0
        #expect(try stack.coordinator.count("Doctor") == 3)
    }
}
