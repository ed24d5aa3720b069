// Reads that fail inside a getter reach the program at the end of its block.

import CoreDataTestSupport
import Foundation
import Testing

@testable import CoreData

@Suite struct PendingReadErrorTests {
    private struct Refusal: Error, Equatable {}

    /// What a block throws, in code and key.
    private func thrown(_ body: () async throws -> Void) async -> String? {
        do { try await body() } catch let error as CocoaError {
            return "\(error.code.rawValue) \(error.validationKey ?? "")"
        } catch { return "\(type(of: error))" }
        return nil
    }

    /// Reads a row that cannot be read, and holds nothing.
    private static func touch(_ context: NSManagedObjectContext, _ id: NSManagedObjectID, throwing: Bool = false) throws
        -> Int
    {
        context.stalenessInterval = 0
        #expect(context.object(with: id).value(forKey: "age") == nil)
        if throwing { throw Refusal() }
        return 7
    }

    @Test(
        "performAndWait and await perform throw it when a block that throws ends, in place of its result and of its error"
    )
    func blocks() async throws {
        let hospital = try Hospital(3)
        let (id, context) = (hospital.ids[1], hospital.context)
        let mend = try hospital.spoil(1)
        for throwing in [false, true] {
            #expect(
                await thrown { _ = try context.performAndWait { try Self.touch(context, id, throwing: throwing) } }
                    == "134060 age")
            #expect(
                await thrown { _ = try await context.perform { try Self.touch(context, id, throwing: throwing) } }
                    == "134060 age")
            let enqueued = await thrown {
                _ = try await context.perform(schedule: .enqueued) { try Self.touch(context, id, throwing: throwing) }
            }
            #expect(enqueued == "134060 age")
        }
        #expect(context.performAndWait { context.pendingReadError } == nil, "it is thrown once")
        try context.performAndWait { try context.save() }
        try mend()
        #expect(try await context.perform { try Self.read(context, id) } == 1)
    }

    private static func read(_ context: NSManagedObjectContext, _ id: NSManagedObjectID) throws -> Int? {
        try context.existingObject(with: id).value(forKey: "age") as? Int
    }

    @Test("A block that throws nothing leaves it in pendingReadError, for the next call that can throw")
    func pending() async throws {
        let hospital = try Hospital(3)
        let (id, context) = (hospital.ids[1], hospital.context)
        _ = try hospital.spoil(1)
        let touch: @Sendable () -> Int = {
            _ = context.object(with: id).value(forKey: "age")
            return 7
        }
        #expect(context.performAndWait(touch) == 7)
        #expect((context.performAndWait { context.pendingReadError } as? CocoaError)?.validationKey == "age")
        #expect(await context.perform(touch) == 7)
        #expect(await context.perform { context.pendingReadError } != nil, "looking at it takes nothing away")
        #expect(await thrown { try context.performAndWait { try Self.nothing() } } == "134060 age")
        #expect(context.performAndWait { context.pendingReadError } == nil)
        for forget in [{ context.rollback() }, { context.reset() }] as [@Sendable () -> Void] {
            _ = context.performAndWait(touch)
            context.performAndWait(forget)
            #expect(context.performAndWait { context.pendingReadError } == nil)
        }
        try context.performAndWait { try Self.nothing() }
    }

    private static func nothing() throws {}

    @Test("A block that takes the error itself, by a call of the context, ends as it likes")
    func taken() throws {
        let hospital = try Hospital(3)
        let (id, context) = (hospital.ids[1], hospital.context)
        _ = try hospital.spoil(1)
        let result = try context.performAndWait {
            let value = try Self.touch(context, id)
            #expect(throws: CocoaError.self) { try context.save() }
            try Self.nothing()
            return value
        }
        #expect(result == 7)
    }

    @Test("write, read and performBackgroundTask throw it; write saves nothing then")
    func container() async throws {
        let hospital = try Hospital(3)
        let (id, coordinator) = (hospital.ids[1], hospital.stack.coordinator)
        _ = try hospital.spoil(1)
        for throwing in [false, true] {
            #expect(
                await thrown { _ = try await coordinator.read { try Self.touch($0, id, throwing: throwing) } }
                    == "134060 age")
            let written = await thrown {
                _ = try await coordinator.write { context in
                    _ = context.make("Doctor")
                    return try Self.touch(context, id, throwing: throwing)
                }
            }
            #expect(written == "134060 age")
        }
        #expect(try await coordinator.read { try $0.all("Doctor").count } == 0)
        let container = NSPersistentContainer(name: "Clinic", managedObjectModel: coordinator.managedObjectModel)
        let store = NSPersistentStoreDescription(url: hospital.stack.folder.file("store.sqlite"))
        container.persistentStoreDescriptions = [store]
        try await container.loadPersistentStores()
        let uri = id.uriRepresentation()
        let own = try #require(container.persistentStoreCoordinator.managedObjectID(forURIRepresentation: uri))
        #expect(
            await thrown { _ = try await container.performBackgroundTask { try Self.touch($0, own) } } == "134060 age")
        #expect(await container.performBackgroundTask { _ in 7 } == 7)
    }
}
