// What contexts tell, when, where and of whom.

import CoreDataTestSupport
import Foundation
import Synchronization
import Testing

@testable import CoreData

@Suite struct NotificationTests {
    private let stack: Stack
    private var context: NSManagedObjectContext { stack.context }

    init() throws { stack = try Stack(undo: false) }

    @Test("10.1 Notifications are posted at once, on the thread that changes")
    func thread() throws {
        let seen = Mutex<[String]>([])
        var observers: [any NSObjectProtocol] = []
        let here = Mutex<Thread?>(nil)
        for name: Notification.Name in [
            NSManagedObjectContext.didChangeObjectsNotification, NSManagedObjectContext.willSaveObjectsNotification,
            NSManagedObjectContext.didSaveObjectsNotification, NSManagedObjectContext.didSaveObjectIDsNotification,
        ] {
            observers.append(
                NotificationCenter.default.addObserver(forName: name, object: context, queue: nil) { note in
                    let isHere = here.withLock { $0 === Thread.current }
                    seen.withLock { $0.append(isHere ? note.name.rawValue : "elsewhere") }
                })
        }
        let context = context
        let finished = DispatchSemaphore(value: 0)
        context.perform {
            here.withLock { $0 = Thread.current }
            _ = context.make("Patient", ["name": "Ada"])
            context.processPendingChanges()
            seen.withLock { $0.append("processed") }
            try? context.save()
            seen.withLock { $0.append("saved") }
            finished.signal()
        }
        finished.wait()
        #expect(
            seen.withLock { $0 } == [
                "NSObjectsChangedInManagingContextNotification", "processed",
                "NSManagingContextWillSaveChangesNotification", "NSManagingContextDidSaveChangesNotification",
                "NSManagedObjectContextDidSaveObjectIDsNotification", "saved",
            ])
        observers.forEach { NotificationCenter.default.removeObserver($0) }
    }

    @Test("10.1 Keys have typed names")
    func keys() {
        #expect(NSManagedObjectContext.NotificationKey.insertedObjects.rawValue == NSInsertedObjectsKey)
        #expect(NSManagedObjectContext.NotificationKey.updatedObjects.rawValue == NSUpdatedObjectsKey)
        #expect(NSManagedObjectContext.NotificationKey.deletedObjects.rawValue == NSDeletedObjectsKey)
        #expect(NSManagedObjectContext.NotificationKey.refreshedObjects.rawValue == NSRefreshedObjectsKey)
        #expect(NSManagedObjectContext.NotificationKey.invalidatedObjects.rawValue == NSInvalidatedObjectsKey)
        #expect(NSManagedObjectContext.NotificationKey.invalidatedAllObjects.rawValue == NSInvalidatedAllObjectsKey)
        #expect(NSManagedObjectContext.NotificationKey.insertedObjectIDs.rawValue == NSInsertedObjectIDsKey)
        #expect(NSManagedObjectContext.NotificationKey.updatedObjectIDs.rawValue == NSUpdatedObjectIDsKey)
        #expect(NSManagedObjectContext.NotificationKey.deletedObjectIDs.rawValue == NSDeletedObjectIDsKey)
        #expect(NSManagedObjectContext.NotificationKey.refreshedObjectIDs.rawValue == NSRefreshedObjectIDsKey)
        #expect(NSManagedObjectContext.NotificationKey.invalidatedObjectIDs.rawValue == NSInvalidatedObjectIDsKey)
    }

    @Test("10.2 A fetch that registers objects tells nobody")
    func fetch() throws {
        _ = context.make("Patient", ["name": "Ada"])
        try context.save()
        let child = context.child(), other = stack.another()
        for reader in [other, child] {
            let changes = Postings(.NSManagedObjectContextObjectsDidChange, of: reader)
            let found = try reader.all("Patient")
            #expect(found.first?.name == "Ada")
            reader.processPendingChanges()
            #expect(changes.infos.isEmpty)
            #expect(reader.registeredObjects.count == 1)
        }
    }

    @Test(
        "10.3 A merge tells of new objects always, of deleted ones that are held, and of updated ones that have values")
    func told() throws {
        let loaded = context.make("Patient", ["name": "loaded"]), fault = context.make("Patient", ["name": "fault"])
        let absent = context.make("Patient", ["name": "absent"]), doomed = context.make("Patient", ["name": "doomed"])
        let unheld = context.make("Patient", ["name": "unheld"])
        try context.save()
        let other = stack.another()
        let changes = Postings(.NSManagedObjectContextObjectsDidChange, of: other)
        let merges = Postings(NSManagedObjectContext.didMergeChangesObjectIDsNotification, of: other)
        let saves = NoteBox(.NSManagedObjectContextDidSave, of: context)
        let mine = other.same(loaded), mineFault = other.same(fault), mineDoomed = other.same(doomed)
        #expect(mine.name == "loaded")
        for object in [loaded, fault, absent] { object.setValue("new", forKey: "name") }
        context.delete(doomed)
        context.delete(unheld)
        let fresh = context.make("Patient", ["name": "fresh"])
        try context.save()
        other.mergeChanges(fromContextDidSave: try #require(saves.last))
        #expect(changes.infos.count == 1)
        #expect(changes.objects(0, NSInsertedObjectsKey).map(\.objectID) == [fresh.objectID])
        #expect(!changes.objects(0, NSInsertedObjectsKey).contains { !$0.isFault })
        #expect(changes.objects(0, NSRefreshedObjectsKey) == [mine])
        #expect(changes.objects(0, NSUpdatedObjectsKey).isEmpty)
        #expect(changes.objects(0, NSDeletedObjectsKey) == [mineDoomed])
        #expect(mineFault.name == "new")
        #expect(merges.ids(0, NSInsertedObjectIDsKey) == [fresh.objectID])
        #expect(merges.ids(0, NSDeletedObjectIDsKey) == [mineDoomed.objectID])
        #expect(!other.hasChanges)
    }

    @Test("Sets of a did-save notification are those of the event before it")
    func shared() throws {
        let changes = Postings(.NSManagedObjectContextObjectsDidChange, of: context)
        let saves = Postings(.NSManagedObjectContextDidSave, of: context)
        let patient = context.make("Patient", ["name": "Ada"])
        try context.save()
        #expect(changes.objects(0, NSInsertedObjectsKey) == [patient])
        #expect(saves.objects(0, NSInsertedObjectsKey) == [patient])
        #expect(
            saves.infos[0].count == 2
                && saves.infos[0][NSManagedObjectContextQueryGenerationKey] is NSQueryGenerationToken)
    }
}

/// Keeps the last notification.
final class NoteBox: @unchecked Sendable {
    private(set) var last: Notification?
    private var observer: (any NSObjectProtocol)?

    init(_ name: Notification.Name, of context: NSManagedObjectContext) {
        let box = Box(self)
        observer = NotificationCenter.default.addObserver(forName: name, object: context, queue: nil) {
            box.note?.last = $0
        }
    }

    deinit { if let observer { NotificationCenter.default.removeObserver(observer) } }

    private final class Box: @unchecked Sendable {
        weak var note: NoteBox?
        init(_ note: NoteBox) { self.note = note }
    }
}
