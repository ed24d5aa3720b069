// Versions that a program shows to others, and expects again when they come back.

import CoreDataTestSupport
import CoreDataValues
import Foundation
import Synchronization
import Testing

@testable import CoreData

@Suite("Expected versions")
struct ExpectedVersionTests {
    @Test(
        "A version rises with each save that writes the row, for members too, and is nil for an object without one",
        arguments: Rivalry.allCases)
    func rises(_ rivalry: Rivalry) throws {
        let rivals = try Rivals(rivalry)
        let ward = rivals.mine.make("Ward", ["name": "North"])
        #expect(ward.rowVersion == nil)
        try rivals.mine.save()
        let first = try #require(ward.rowVersion)
        ward.setValue("South", forKey: "name")
        #expect(ward.rowVersion == first)
        try rivals.mine.save()
        let second = try #require(ward.rowVersion)
        #expect(second > first)
        let patient = rivals.mine.make("Patient", ["name": "Ada", "code": 1, "ward": ward])
        try rivals.mine.save()
        let third = try #require(ward.rowVersion)
        #expect(third > second)
        rivals.mine.delete(patient)
        try rivals.mine.save()
        #expect(try #require(ward.rowVersion) > third)
        #expect(patient.rowVersion == nil)
        rivals.mine.refreshAllObjects()
        #expect(try ward.rowVersion == #require(rivals.stored(ward)).rowVersion)
    }

    /// What the save does with the object.
    enum Use: CaseIterable, Sendable { case change, touch, delete, nothing }

    @Test(
        "A row in another version is refused whatever the save does with it, and no policy is asked",
        arguments: Rivalry.allCases, Use.allCases)
    func refuses(_ rivalry: Rivalry, _ use: Use) throws {
        let rivals = try Rivals(rivalry)
        let ward = rivals.mine.make("Ward", ["name": "North"])
        try rivals.mine.save()
        let shown = try #require(ward.rowVersion)
        let their = try rivals.their(ward)
        their.setValue("East", forKey: "name")
        try rivals.theirs.save()

        rivals.mine.refreshAllObjects()
        rivals.mine.mergePolicy = NSMergePolicy.overwrite
        rivals.mine.expect(shown, of: ward)
        switch use {
        case .change: ward.setValue("West", forKey: "name")
        case .touch: _ = rivals.mine.make("Patient", ["name": "Ada", "code": 1, "ward": ward])
        case .delete: rivals.mine.delete(ward)
        case .nothing: break
        }
        let error = try #require(caught { try rivals.mine.save() })
        #expect(error.code == .managedObjectMerge)
        let now = try #require(rivals.stored(ward)).rowVersion
        #expect(error.unmetExpectations == [UnmetExpectation(objectID: ward.objectID, expected: shown, found: now)])
        #expect(rivals.stored(ward)?.value(forKey: "name") as? String == "East")
        // It stands until it is met or dropped.
        #expect(caught { try rivals.mine.save() } != nil)
        rivals.mine.rollback()
        #expect(caught { try rivals.mine.save() } == nil)
    }

    @Test(
        "A row in the expected version is written, once and without a second expectation", arguments: Rivalry.allCases,
        Use.allCases)
    func meets(_ rivalry: Rivalry, _ use: Use) throws {
        let rivals = try Rivals(rivalry)
        var shown = 0
        do {
            let ward = rivals.mine.make("Ward", ["name": "North"])
            try rivals.mine.save()
            shown = try #require(ward.rowVersion)
        }
        rivals.mine.reset()
        do {
            let ward = try rivals.mine.named("North", "Ward")
            rivals.mine.expect(shown, of: ward)
            switch use {
            case .change: ward.setValue("West", forKey: "name")
            case .touch: _ = rivals.mine.make("Patient", ["name": "Ada", "code": 1, "ward": ward])
            case .delete: rivals.mine.delete(ward)
            case .nothing: break
            }
        }
        try rivals.mine.save()
        let left = try rivals.reader().all("Ward")
        switch use {
        case .change: #expect(left.map { $0.text("name") } == ["West"])
        case .touch: #expect(left.compactMap(\.rowVersion).allSatisfy { $0 > shown } && left.count == 1)
        case .delete: #expect(left.isEmpty)
        case .nothing: #expect(left.compactMap(\.rowVersion) == [shown])
        }
        for ward in try rivals.mine.all("Ward") { ward.setValue("Later", forKey: "name") }
        try rivals.mine.save()
    }

    @Test(
        "A stale object whose row is in the expected version is an ordinary conflict, which write runs again",
        arguments: [Rivalry.otherCoordinator])
    func staleObject(_ rivalry: Rivalry) async throws {
        let rivals = try Rivals(rivalry)
        let ward = rivals.mine.make("Ward", ["name": "North"])
        try rivals.mine.save()
        let their = try rivals.their(ward)
        their.setValue("East", forKey: "name")
        try rivals.theirs.save()
        let shown = try #require(their.rowVersion)
        let coordinator = try #require(rivals.mine.persistentStoreCoordinator)
        let id = ward.objectID
        // The coordinator's own row cache has the older row.
        try await coordinator.write { context in
            let ward = try context.existingObject(with: id)
            context.expect(shown, of: ward)
            ward.setValue("West", forKey: "name")
        }
        #expect(try rivals.reader().named("West", "Ward").rowVersion == shown + 1)
    }

    @Test(
        "Of two writers with one version exactly one comes through, a thousand times",
        arguments: [NSSQLiteStoreType, NSInMemoryStoreType])
    func race(_ type: String) async throws {
        let folder = Folder()
        let coordinator = try NSPersistentStoreCoordinator(
            NSManagedObjectModel(draft: Clinic.draft()), type, at: folder.file("store.sqlite"))
        let id = try await coordinator.write { context in
            let ward = context.make("Ward", ["name": "North"])
            try context.obtainPermanentIDs(for: [ward])
            return ward.objectID
        }
        for round in 0..<1000 {
            let version = try await coordinator.read { context in try context.existingObject(with: id).rowVersion ?? 0 }
            let runs = Counter()
            let answers = await withTaskGroup(of: Int?.self) { group in
                for writer in 0..<2 {
                    group.addTask {
                        do {
                            try await coordinator.write { context in
                                runs.add()
                                let ward = try context.existingObject(with: id)
                                context.expect(version, of: ward)
                                // One changes the row, the other only gives it a member.
                                if writer == 0 {
                                    ward.setValue("\(round)", forKey: "name")
                                } else {
                                    _ = context.make("Patient", ["name": "p", "code": round, "ward": ward])
                                }
                            }
                            return nil
                        } catch { return (error as? CocoaError)?.unmetExpectations.first?.expected ?? -1 }
                    }
                }
                return await group.reduce(into: [Int?]()) { $0.append($1) }
            }
            #expect(answers.filter { $0 == nil }.count == 1 && answers.contains(version) && runs.value == 2)
        }
    }

    @Test("A child hands its expectation to its parent, with changes and without", arguments: [true, false])
    func child(_ changes: Bool) throws {
        let rivals = try Rivals(.sqlite)
        let ward = rivals.mine.make("Ward", ["name": "North"])
        try rivals.mine.save()
        let shown = try #require(ward.rowVersion)
        let child = rivals.mine.child()
        let twin = child.object(with: ward.objectID)
        #expect(twin.rowVersion == shown)
        child.expect(shown + 1, of: twin)
        if changes { twin.setValue("East", forKey: "name") }
        try child.save()
        #expect(caught { try rivals.mine.save() }?.unmetExpectations.map(\.expected) == [shown + 1])
    }

    @Test("New objects meet no expectation, rows that are gone none either, and nobody compares in a read block")
    func withoutRows() async throws {
        let rivals = try Rivals(.sqlite)
        let new = rivals.mine.make("Ward", ["name": "North"])
        rivals.mine.expect(1, of: new)
        #expect(caught { try rivals.mine.save() }?.unmetExpectations.map(\.found) == [nil])
        rivals.mine.reset()
        let patient = try rivals.patient()
        let version = try #require(patient.rowVersion)
        rivals.theirs.delete(try rivals.their(patient))
        try rivals.theirs.save()
        rivals.mine.expect(version, of: patient)
        #expect(caught { try rivals.mine.save() }?.unmetExpectations.map(\.found) == [nil])

        let coordinator = try #require(rivals.mine.persistentStoreCoordinator)
        let id = rivals.reader().make("Ward").objectID
        await #expect(throws: CocoaError.self) {
            try await coordinator.read { context in context.expect(1, of: context.object(with: id)) }
        }
    }
}

/// Counts from several threads.
private final class Counter: Sendable {
    private let count = Mutex(0)
    func add() { count.withLock { $0 += 1 } }
    var value: Int { count.withLock { $0 } }
}
