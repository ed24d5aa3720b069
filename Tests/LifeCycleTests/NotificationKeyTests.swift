// Every notification of a context with exactly the keys it has.

import CoreDataTestSupport
import Foundation
import Testing

@testable import CoreData

@Suite("Keys of notifications") struct NotificationKeyTests {
    private let stack: Stack
    private let context: NSManagedObjectContext
    private let told: Told

    init() throws {
        stack = try Stack(undo: false)
        context = stack.context
        told = Told(of: context)
    }

    /// A new, a changed and a deleted object, and all that was told of them.
    private func change() throws -> (new: NSManagedObject, changed: NSManagedObject, deleted: NSManagedObjectID) {
        let changed = context.make("Doctor", ["name": "changed"]), doomed = context.make("Doctor", ["name": "doomed"])
        try context.save()
        told.clear()
        let deleted = doomed.objectID
        let new = context.make("Doctor", ["name": "new"])
        changed.setValue("again", forKey: "name")
        context.delete(doomed)
        return (new, changed, deleted)
    }

    @Test("10.1 A save tells of changes, of the save to come, of the save with objects and of the save with IDs")
    func save() throws {
        let (new, changed, deleted) = try change()
        try context.save()
        #expect(told.names == ["didChange", "willSave", "didSave", "didSaveIDs"])
        for place in [0, 2] {
            let kinds: Set = [NSInsertedObjectsKey, NSUpdatedObjectsKey, NSDeletedObjectsKey]
            #expect(told.keys(place) == (place == 0 ? kinds : kinds.union([NSManagedObjectContextQueryGenerationKey])))
            #expect(told.objects(place, NSInsertedObjectsKey) == [new])
            #expect(told.objects(place, NSUpdatedObjectsKey) == [changed])
            #expect(told.objects(place, NSDeletedObjectsKey).map(\.objectID) == [deleted])
        }
        #expect(told.keys(1).isEmpty)
        #expect(told.keys(3) == [NSInsertedObjectIDsKey, NSUpdatedObjectIDsKey, NSDeletedObjectIDsKey])
        #expect(told.ids(3, NSInsertedObjectIDsKey) == [new.objectID])
        #expect(told.ids(3, NSUpdatedObjectIDsKey) == [changed.objectID])
        #expect(told.ids(3, NSDeletedObjectIDsKey) == [deleted])
    }

    @Test("10.3 A merge tells which objects appeared, were read anew and went, by objects and by IDs")
    func merge() throws {
        let other = stack.another()
        let (new, changed, deleted) = try change()
        let mine = try other.existingObject(with: changed.objectID), gone = try other.existingObject(with: deleted)
        #expect(mine.value(forKey: "name") as? String == "changed" && gone.value(forKey: "name") as? String == "doomed")
        let heard = Told(of: other)
        try context.save()
        other.mergeChanges(fromContextDidSave: try #require(told.last("didSave")))
        #expect(heard.names == ["didChange", "didMergeIDs"])
        #expect(heard.keys(0) == [NSInsertedObjectsKey, NSRefreshedObjectsKey, NSDeletedObjectsKey])
        #expect(heard.objects(0, NSInsertedObjectsKey).map(\.objectID) == [new.objectID])
        #expect(heard.objects(0, NSRefreshedObjectsKey) == [mine])
        #expect(heard.objects(0, NSDeletedObjectsKey) == [gone])
        #expect(heard.ids(1, NSInsertedObjectIDsKey) == [new.objectID])
        #expect(heard.ids(1, NSDeletedObjectIDsKey) == [deleted])
        #expect(
            heard.ids(1, NSUpdatedObjectIDsKey).union(heard.ids(1, NSRefreshedObjectIDsKey)) == [changed.objectID])
    }

    @Test(
        "10.1 A refresh tells of refreshed objects, a rollback of refreshed and deleted ones, a reset that nothing is valid"
    )
    func others() throws {
        let (new, changed, _) = try change()
        context.processPendingChanges()
        told.clear()
        context.refresh(changed, mergeChanges: false)
        context.processPendingChanges()
        #expect(told.names == ["didChange"] && told.keys(0) == [NSRefreshedObjectsKey])
        #expect(told.objects(0, NSRefreshedObjectsKey) == [changed])
        told.clear()
        context.rollback()
        #expect(told.names == ["didChange"] && told.keys(0) == [NSRefreshedObjectsKey, NSDeletedObjectsKey])
        #expect(told.objects(0, NSDeletedObjectsKey) == [new])
        told.clear()
        context.reset()
        #expect(told.names == ["didChange"] && told.keys(0) == [NSInvalidatedAllObjectsKey])
        #expect(told.entries[0].userInfo?[NSInvalidatedAllObjectsKey] is [NSManagedObjectID])
    }
}

/// What one context posts, in order.
private final class Told: @unchecked Sendable {
    private(set) var entries: [Notification] = []
    private(set) var names: [String] = []
    private var tokens: [any NSObjectProtocol] = []

    init(of context: NSManagedObjectContext) {
        let listened: [(Notification.Name, String)] = [
            (NSManagedObjectContext.didChangeObjectsNotification, "didChange"),
            (NSManagedObjectContext.willSaveObjectsNotification, "willSave"),
            (NSManagedObjectContext.didSaveObjectsNotification, "didSave"),
            (NSManagedObjectContext.didSaveObjectIDsNotification, "didSaveIDs"),
            (NSManagedObjectContext.didMergeChangesObjectIDsNotification, "didMergeIDs"),
        ]
        tokens = listened.map { name, short in
            NotificationCenter.default.addObserver(forName: name, object: context, queue: nil) { [unowned self] in
                entries.append($0)
                names.append(short)
            }
        }
    }

    deinit { tokens.forEach { NotificationCenter.default.removeObserver($0) } }

    func clear() { (entries, names) = ([], []) }

    func last(_ name: String) -> Notification? { names.lastIndex(of: name).map { entries[$0] } }

    func keys(_ place: Int) -> Set<String> { Set((entries[place].userInfo ?? [:]).keys.compactMap { $0 as? String }) }

    func objects(_ place: Int, _ key: String) -> Set<NSManagedObject> {
        entries[place].userInfo?[key] as? Set<NSManagedObject> ?? []
    }

    func ids(_ place: Int, _ key: String) -> Set<NSManagedObjectID> {
        entries[place].userInfo?[key] as? Set<NSManagedObjectID> ?? []
    }
}
