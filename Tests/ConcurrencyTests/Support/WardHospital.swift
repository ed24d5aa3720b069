// Wards whose beds are counted, for tests of writers that share them.

import CoreDataTestSupport
import CoreDataValues
import Foundation
import Synchronization

@testable import CoreData

/// A container over a SQLite store with wards, of which it gives out the IDs alone.
final class WardHospital: Sendable {
    nonisolated(unsafe) let folder: Folder
    let container: NSPersistentContainer
    let wards: [NSManagedObjectID]

    init(_ count: Int = 1, at other: WardHospital? = nil, draft: SchemaDraft = Clinic.draft()) async throws {
        folder = other?.folder ?? Folder()
        container = CountedContainer(name: "Clinic", managedObjectModel: NSManagedObjectModel(draft: draft))
        container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: folder.file("store.sqlite"))]
        try await container.loadPersistentStores()
        guard other == nil else {
            wards = try await container.read { try $0.all("Ward").map(\.objectID) }
            return
        }
        wards = try await container.write { context in
            let made = (0..<count).map { context.make("Ward", ["name": "\($0)", "beds": 0]) }
            try context.obtainPermanentIDs(for: made)
            return made.map(\.objectID)
        }
    }

    func beds() async throws -> [Int] {
        try await container.read { context in
            context.stalenessInterval = 0
            return try context.all("Ward").map { $0.value(forKey: "beds") as? Int ?? -1 }
        }
    }
}

/// Knows of the contexts that it has given out, and sets them up.
final class CountedContainer: NSPersistentContainer, @unchecked Sendable {
    private struct Weak { weak var context: NSManagedObjectContext? }
    private let given = Mutex<[Weak]>([])
    let policy = Mutex<NSMergePolicy>(.error)

    override func newBackgroundContext() -> NSManagedObjectContext {
        let context = super.newBackgroundContext()
        context.mergePolicy = policy.withLock { $0 }
        given.withLock { $0.append(Weak(context: context)) }
        return context
    }
    var count: Int { given.withLock { $0.count } }
    /// Waits until none is left. The queue of a context lets go of it a moment after its block's result is out.
    func lastIsGone() async throws {
        while given.withLock({ $0.contains { $0.context != nil } }) { try await Task.sleep(for: .milliseconds(1)) }
    }
}

extension WardHospital {
    /// Adds a bed to a ward from a context of somebody else.
    static func interfere(_ context: NSManagedObjectContext, _ ward: NSManagedObjectID) throws {
        let rival = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        rival.persistentStoreCoordinator = context.persistentStoreCoordinator
        try rival.performAndWait {
            try add(100, to: ward, in: rival)
            try rival.save()
        }
    }

    static func add(_ number: Int, to ward: NSManagedObjectID, in context: NSManagedObjectContext) throws {
        let ward = try context.existingObject(with: ward)
        ward.setValue((ward.value(forKey: "beds") as? Int ?? 0) + number, forKey: "beds")
    }
}
