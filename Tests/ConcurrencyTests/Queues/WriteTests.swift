// `write`: a context for each block, saved at the end, again after a conflict.

import CoreDataTestSupport
import CoreDataValues
import Foundation
import Synchronization
import Testing

@testable import CoreData

@Suite("Blocks that write")
struct WriteTests {
    private struct Refusal: Error, Equatable {}

    @Test(
        "Increments of many tasks through two coordinators of one file are all there; nothing is held",
        .timeLimit(.minutes(30)))
    func increments() async throws {
        let first = try await WardHospital(3)
        let second = try await WardHospital(at: first)
        let writers = [first, second, first, second]
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (number, hospital) in writers.enumerated() {
                group.addTask {
                    for round in 0..<100 {
                        let ward = hospital.wards[(round + number) % 3]
                        try await hospital.container.write { try WardHospital.add(1, to: ward, in: $0) }
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try await first.beds().reduce(0, +) == 400)
        #expect(try await second.beds().reduce(0, +) == 400)
        try await (first.container as? CountedContainer)?.lastIsGone()
    }

    @Test("Writers of one coordinator wait in order, suspended, and never meet a conflict", .timeLimit(.minutes(30)))
    @MainActor
    func order() async throws {
        let hospital = try await WardHospital()
        let seen = Mutex<[Int]>([])
        let gate = DispatchSemaphore(value: 0)
        let ward = hospital.wards[0]
        let first = Task { try await hospital.container.write { _ in gate.wait() } }
        // Tasks of the main actor begin in the order in which they were made.
        let tasks = (0..<3000).map { number in
            Task { @MainActor in
                try await hospital.container.write { context in
                    try WardHospital.add(1, to: ward, in: context)
                    seen.withLock { $0.append(number) }
                }
            }
        }
        for _ in 0..<10 { await Task.yield() }
        #expect(threadCount < 200)
        gate.signal()
        try await first.value
        for task in tasks { try await task.value }
        #expect(seen.withLock { $0 } == Array(0..<3000), "each ran once, in its turn")
        #expect(try await hospital.beds() == [3000])
    }

    private var threadCount: Int {
        (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").count) ?? 0
    }

    @Test(
        "A block that always meets a conflict runs 11 times, each in a new context; then the conflict is thrown",
        .timeLimit(.minutes(30)))
    func limit() async throws {
        let hospital = try await WardHospital()
        let container = try #require(hospital.container as? CountedContainer)
        let attempts = Atomic<Int>(0)
        let ward = hospital.wards[0]
        let before = container.count
        let error = await #expect(throws: CocoaError.self) {
            try await container.write { context in
                attempts.wrappingAdd(1, ordering: .relaxed)
                try WardHospital.add(1, to: ward, in: context)
                try WardHospital.interfere(context, ward)
            }
        }
        #expect(error?.code == .managedObjectMerge)
        #expect(attempts.load(ordering: .relaxed) == 11)
        #expect(container.count == before + 11)
        try await container.lastIsGone()
        #expect(error?.affectedObjects?.count == 1, "an error holds objects, no context")
        #expect(try await hospital.beds() == [1100], "the others' changes are there, and no other")
    }

    @Test("A block that met conflicts of an outsider comes through, and its result is that of the last attempt")
    func retry() async throws {
        let hospital = try await WardHospital()
        let attempts = Atomic<Int>(0)
        let ward = hospital.wards[0]
        let result = try await hospital.container.write { context in
            let attempt = attempts.wrappingAdd(1, ordering: .relaxed).newValue
            try WardHospital.add(1, to: ward, in: context)
            if attempt < 4 { try WardHospital.interfere(context, ward) }
            return attempt
        }
        #expect(result == 4)
        #expect(try await hospital.beds() == [301])
    }

    @Test("While a writer pauses others write", .timeLimit(.minutes(30)))
    func pause() async throws {
        let hospital = try await WardHospital()
        let ward = hospital.wards[0]
        let isWritten = Atomic<Bool>(false)
        let attempts = Atomic<Int>(0)
        let asked = DispatchSemaphore(value: 0)
        let (begun, beginning) = AsyncStream<Void>.makeStream()
        let patient = Task {
            try await hospital.container.write { context in
                if attempts.wrappingAdd(1, ordering: .relaxed).newValue == 2 { asked.wait() }
                beginning.yield()
                try WardHospital.add(1, to: ward, in: context)
                if !isWritten.load(ordering: .relaxed) { try WardHospital.interfere(context, ward) }
            }
        }
        for await _ in begun { break }
        asked.signal()
        try await hospital.container.write { try WardHospital.add(1, to: ward, in: $0) }
        isWritten.store(true, ordering: .relaxed)
        try await patient.value
        #expect(try await hospital.beds()[0] % 100 == 2)
    }

    @Test("A value that another row has is tried again too (133021)")
    func constraint() async throws {
        var draft = Clinic.draft()
        for index in draft.entities.indices where draft.entities[index].name == "Doctor" {
            draft.entities[index].uniquenessConstraints = [["name"]]
        }
        let hospital = try await WardHospital(draft: draft)
        let attempts = Atomic<Int>(0)
        let insert: @Sendable (NSManagedObjectContext) throws -> Void = { context in
            attempts.wrappingAdd(1, ordering: .relaxed)
            _ = context.make("Doctor", ["name": "Eve"])
        }
        try await hospital.container.write(insert)
        let error = await #expect(throws: CocoaError.self) { try await hospital.container.write(insert) }
        #expect(error?.code == .managedObjectConstraintMerge)
        #expect(attempts.load(ordering: .relaxed) == 12)
        // Who finds the other one gone the next time comes through.
        attempts.store(0, ordering: .relaxed)
        try await hospital.container.write { context in
            if attempts.wrappingAdd(1, ordering: .relaxed).newValue == 3 {
                try context.all("Doctor").forEach(context.delete)
            }
            _ = context.make("Doctor", ["name": "Eve", "code": 2])
        }
        #expect(try await hospital.container.read { try $0.all("Doctor").count } == 1)
    }

    @Test("Errors of the block are thrown at once and nothing is saved, also one that looks like a conflict")
    func blockErrors() async throws {
        let hospital = try await WardHospital()
        let attempts = Atomic<Int>(0)
        for error in [Refusal(), CocoaError(.managedObjectMerge), CocoaError(.managedObjectConstraintMerge)]
            as [any Error]
        {
            await #expect(throws: (any Error).self) {
                try await hospital.container.write { context in
                    attempts.wrappingAdd(1, ordering: .relaxed)
                    _ = context.make("Doctor")
                    throw error
                }
            }
        }
        #expect(attempts.load(ordering: .relaxed) == 3)
        let invalid = await #expect(throws: CocoaError.self) {
            try await hospital.container.write { context in
                attempts.wrappingAdd(1, ordering: .relaxed)
                _ = context.make("Patient")
            }
        }
        #expect(invalid?.code == .validationMissingMandatoryProperty, "a save that fails otherwise is not repeated")
        #expect(attempts.load(ordering: .relaxed) == 4)
        #expect(try await hospital.container.read { try $0.all("Doctor").count } == 0)
    }

    @Test(
        "A save inside the block counts: its conflict is tried again, and once it is through the block does not run again"
    )
    func ownSave() async throws {
        let hospital = try await WardHospital(2)
        let attempts = Atomic<Int>(0)
        let wards = hospital.wards
        try await hospital.container.write { context in
            let attempt = attempts.wrappingAdd(1, ordering: .relaxed).newValue
            try WardHospital.add(1, to: wards[0], in: context)
            if attempt == 1 { try WardHospital.interfere(context, wards[0]) }
            try context.save()
        }
        #expect(attempts.load(ordering: .relaxed) == 2)
        let error = await #expect(throws: CocoaError.self) {
            try await hospital.container.write { context in
                attempts.wrappingAdd(1, ordering: .relaxed)
                _ = context.make("Doctor")
                try context.save()
                try WardHospital.add(1, to: wards[1], in: context)
                try WardHospital.interfere(context, wards[1])
            }
        }
        #expect(error?.code == .managedObjectMerge)
        #expect(attempts.load(ordering: .relaxed) == 3)
        #expect(try await hospital.container.read { try $0.all("Doctor").count } == 1, "what was saved is there once")
    }

    @Test("What one of two stores has taken is not written again because the other refuses")
    func severalStores() async throws {
        let folder = Folder()
        let attempts = Atomic<Int>(0)
        let coordinator = try NSPersistentStoreCoordinator.pair(in: folder)
        try await coordinator.write { _ = $0.make("Second", ["name": "taken"]) }
        await #expect(throws: CocoaError.self) {
            try await coordinator.write { context in
                attempts.wrappingAdd(1, ordering: .relaxed)
                _ = context.make("First", ["name": "new"])
                _ = context.make("Second", ["name": "taken"])
            }
        }
        #expect(attempts.load(ordering: .relaxed) == 1)
        #expect(try await coordinator.read { try $0.all("First").count } == 1)
    }

    @Test("Contexts are those of newBackgroundContext: with its merge policy a conflict is settled at once")
    func policy() async throws {
        let hospital = try await WardHospital()
        let container = try #require(hospital.container as? CountedContainer)
        container.policy.withLock { $0 = .mergeByPropertyObjectTrump }
        let attempts = Atomic<Int>(0)
        let ward = hospital.wards[0]
        try await container.write { context in
            attempts.wrappingAdd(1, ordering: .relaxed)
            try WardHospital.add(1, to: ward, in: context)
            try WardHospital.interfere(context, ward)
        }
        #expect(attempts.load(ordering: .relaxed) == 1)
        #expect(try await hospital.beds() == [1])
    }
}
