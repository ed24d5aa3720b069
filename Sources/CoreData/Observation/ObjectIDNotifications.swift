// Notifications that carry object IDs instead of objects, and the typed names of user info keys.

import CoreDataValues
import Foundation
import Synchronization

public let NSInsertedObjectIDsKey: String = "inserted_objectIDs"
public let NSUpdatedObjectIDsKey: String = "updated_objectIDs"
public let NSDeletedObjectIDsKey: String = "deleted_objectIDs"
public let NSRefreshedObjectIDsKey: String = "refreshed_objectIDs"
public let NSInvalidatedObjectIDsKey: String = "invalidated_objectIDs"

/// Which of the notifications with IDs anybody wants. Sets of IDs cost an object for each row, so they are
/// made only once a program has named the notification, which it must do to observe it.
private enum Wanted {
    static let didSave = Atomic<Bool>(false)
    static let didMerge = Atomic<Bool>(false)
}

extension NSNotification.Name {
    /// A save has written; the user info has sets of `NSManagedObjectID`, which may go to any thread.
    /// `object` is the context.
    ///
    /// Posted from the first time on that a program uses this name.
    public static var NSManagedObjectContextDidSaveObjectIDs: NSNotification.Name {
        Wanted.didSave.store(true, ordering: .relaxed)
        return NSNotification.Name("NSManagedObjectContextDidSaveObjectIDsNotification")
    }

    /// A context has taken over changes of another one; the user info has sets of `NSManagedObjectID`.
    /// `object` is the context.
    ///
    /// Posted from the first time on that a program uses this name.
    public static var NSManagedObjectContextDidMergeChangesObjectIDs: NSNotification.Name {
        Wanted.didMerge.store(true, ordering: .relaxed)
        return NSNotification.Name("NSManagedObjectContextDidMergeChangesObjectIDsNotification")
    }
}

extension NSManagedObjectContext {
    public static var didSaveObjectIDsNotification: Notification.Name { .NSManagedObjectContextDidSaveObjectIDs }
    public static var didMergeChangesObjectIDsNotification: Notification.Name {
        .NSManagedObjectContextDidMergeChangesObjectIDs
    }

    /// The keys of a context's notifications.
    public enum NotificationKey: String, Sendable {
        case insertedObjects = "inserted"
        case updatedObjects = "updated"
        case deletedObjects = "deleted"
        case refreshedObjects = "refreshed"
        case invalidatedObjects = "invalidated"
        case invalidatedAllObjects = "invalidatedAll"
        case insertedObjectIDs = "inserted_objectIDs"
        case updatedObjectIDs = "updated_objectIDs"
        case deletedObjectIDs = "deleted_objectIDs"
        case refreshedObjectIDs = "refreshed_objectIDs"
        case invalidatedObjectIDs = "invalidated_objectIDs"
    }

    enum ObjectIDNotification { case didSave, didMerge }

    /// Tells the IDs of what was saved or merged, if anybody wants to know.
    final func postObjectIDs(
        _ notification: ObjectIDNotification, _ inserted: ContiguousArray<NSManagedObject>,
        _ updated: ContiguousArray<NSManagedObject>, _ deleted: ContiguousArray<NSManagedObject>
    ) {
        let name: NSNotification.Name
        switch notification {
        case .didSave:
            guard Wanted.didSave.load(ordering: .relaxed) else { return }
            name = .NSManagedObjectContextDidSaveObjectIDs
        case .didMerge:
            guard Wanted.didMerge.load(ordering: .relaxed) else { return }
            name = .NSManagedObjectContextDidMergeChangesObjectIDs
        }
        var info: [AnyHashable: Any] = [:]
        let changed = notification == .didSave ? NSUpdatedObjectIDsKey : NSRefreshedObjectIDsKey
        let kinds = [(NSInsertedObjectIDsKey, inserted), (changed, updated), (NSDeletedObjectIDsKey, deleted)]
        for (key, objects) in kinds {
            if !objects.isEmpty { info[key] = Set(objects.map(\.objectID)) }
        }
        NotificationCenter.default.post(name: name, object: self, userInfo: info)
    }
}
