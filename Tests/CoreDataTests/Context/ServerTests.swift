import CoreDataTestSupport
import CoreDataValues
import Foundation
import Testing

@testable import CoreData

@Suite("Contexts on a server")
struct ServerTests {
    @Test("Three hundred awaited blocks that each wait for another context all end", .timeLimit(.minutes(30)))
    func manyWaits() async throws {
        let stack = try Stack()
        let coordinator = stack.coordinator
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 0..<300 {
                group.addTask {
                    let first = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
                    let second = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
                    first.persistentStoreCoordinator = coordinator
                    second.persistentStoreCoordinator = coordinator
                    try await first.perform {
                        usleep(5_000)
                        second.perform { _ = second.make("Doctor", ["name": "\(index)"]) }
                        try second.performAndWait { try second.save() }
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try stack.context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Doctor")) == 300)
    }

    @Test(
        "A read that fails inside a getter is thrown by the next save, with its cause, object and key",
        .timeLimit(.minutes(30)))
    func failedGetter() throws {
        let stack = try Stack()
        let ward = stack.context.make("Ward", ["name": "North"])
        try stack.context.save()
        let other = stack.another()
        other.stalenessInterval = 0
        let fault = other.object(with: ward.objectID)
        let store = try #require(stack.coordinator.persistentStores.first)
        try store.rows.close()
        #expect(fault.value(forKey: "name") == nil)
        _ = other.make("Doctor", ["name": "Eve"])
        let error = #expect(throws: CocoaError.self) { try other.save() }
        #expect(error?.code.rawValue == 134060)
        #expect(error?.userInfo[NSUnderlyingErrorKey] is CocoaError)
        #expect(error?.userInfo[NSAffectedObjectsErrorKey] as? [NSManagedObjectID] == [ward.objectID])
    }

    @Test(
        "A model that cannot be stored yet is refused by every store, by name",
        arguments: [NSSQLiteStoreType, NSInMemoryStoreType])
    func unstorable(_ type: String) throws {
        let entity = EntityDraft("Shape", [Clinic.attribute("path", .undefined)])
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: NSManagedObjectModel(entity))
        let folder = Folder()
        let error = #expect(throws: CocoaError.self) {
            try coordinator.addPersistentStore(
                ofType: type, configurationName: nil, at: folder.file("x.sqlite"), options: nil)
        }
        #expect(error?.code.rawValue == 134060)
        #expect(error.sentence.hasPrefix("unsupported: the attribute Shape.path is of undefined type"))
        #expect(!FileManager.default.fileExists(atPath: folder.file("x.sqlite").path))
    }

    @Test("A predicate made of a block is refused with a sentence")
    func blockPredicate() throws {
        let stack = try Stack()
        let request = NSFetchRequest<NSManagedObject>(entityName: "Ward")
        request.predicate = NSPredicate { _, _ in true }
        let error = #expect(throws: CocoaError.self) { try stack.context.fetch(request) }
        #expect(error?.code.rawValue == 134060)
        #expect(error.sentence.contains("block"))
    }
}
