// The objects and the context that a save hands to a program's own store: what it does to them is its own affair.

import CoreDataTestSupport
import Foundation
import Testing

@testable import CoreData

/// Takes every save, and does to the context what a test says.
private final class HandedStore: NSIncrementalStore, @unchecked Sendable {
    static let type = "TestHanded"
    nonisolated(unsafe) static var deed: (NSSaveChangesRequest, NSManagedObjectContext) throws -> Void = { _, _ in }
    private var next = 0
    private var taken: [NSManagedObjectID: [String: Any]] = [:]

    override func loadMetadata() throws { metadata = [NSStoreUUIDKey: "HANDED-1", NSStoreTypeKey: Self.type] }

    override func obtainPermanentIDs(for array: [NSManagedObject]) throws -> [NSManagedObjectID] {
        array.map { object in
            next += 1
            return newObjectID(for: object.entity, referenceObject: NSNumber(value: next))
        }
    }

    override func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?) throws -> Any {
        guard let save = request as? NSSaveChangesRequest, let context else { return [] }
        for object in (save.insertedObjects ?? []).union(save.updatedObjects ?? []) {
            taken[object.objectID] = object.dictionaryWithValues(forKeys: ["name"])
        }
        if !(save.insertedObjects ?? []).isEmpty || !(save.updatedObjects ?? []).isEmpty {
            try Self.deed(save, context)
        }
        return []
    }

    override func newValuesForObject(
        with objectID: NSManagedObjectID, with context: NSManagedObjectContext
    ) throws -> NSIncrementalStoreNode {
        NSIncrementalStoreNode(objectID: objectID, withValues: taken[objectID] ?? [:], version: 1)
    }
}

@Suite("Objects handed to a store", .serialized)
struct HandedObjectTests {
    /// What the context says after each deed, in words.
    private func told(_ deed: @escaping (NSSaveChangesRequest, NSManagedObjectContext) throws -> Void) throws
        -> [String]
    {
        NSPersistentStoreCoordinator.registerStoreClass(HandedStore.self, forStoreType: HandedStore.type)
        let rig = Rig()
        _ = try rig.add(HandedStore.type)
        let context = rig.context()
        nonisolated(unsafe) var lines: [String] = []
        HandedStore.deed = { save, scratch in
            let count = (save.insertedObjects ?? []).count
            lines.append("\(scratch.hasChanges) \(scratch.insertedObjects.count == count)")
            try deed(save, scratch)
            lines.append("\(scratch.hasChanges) \(scratch.insertedObjects.count)")
            let new = scratch.make("Patient")
            lines.append("\(scratch.hasChanges) \(scratch.insertedObjects.contains(new))")
        }
        for name in ["a", "b"] { context.make("Patient", ["name": name]) }
        try context.save()
        #expect(!context.hasChanges && context.registeredObjects.count <= 2)
        return lines
    }

    @Test("A context that a store resets while it is asked to save has no changes, and knows of those that come after")
    func reset() throws {
        #expect(try told { $1.reset() } == ["true true", "false 0", "true true"])
    }

    @Test("So has one whose objects the store refreshes or deletes, or that it rolls back")
    func others() throws {
        #expect(try told { $1.rollback() }.suffix(2) == ["false 0", "true true"])
        #expect(
            try told { save, scratch in for object in save.insertedObjects ?? [] { scratch.delete(object) } }.last
                == "true true")
    }

    @Test("What the store fetches while it is asked to save is its own answer, without the objects that it was handed")
    func fetch() throws {
        var found: [String] = []
        let lines = try told { _, scratch in
            let request = NSFetchRequest<NSManagedObject>(entityName: "Patient")
            found = try scratch.fetch(request).map { "\($0.objectID.isTemporaryID)" }
        }
        #expect(found.isEmpty && lines.last == "true true")
    }
}
