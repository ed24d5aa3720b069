// Notifications that carry object IDs instead of objects, and the typed names of user info keys.

import Foundation

public let NSInsertedObjectIDsKey: String = "inserted_objectIDs"
public let NSUpdatedObjectIDsKey: String = "updated_objectIDs"
public let NSDeletedObjectIDsKey: String = "deleted_objectIDs"
public let NSRefreshedObjectIDsKey: String = "refreshed_objectIDs"
public let NSInvalidatedObjectIDsKey: String = "invalidated_objectIDs"

extension NSNotification.Name {
    /// A save has written; the user info has sets of `NSManagedObjectID`, which may go to any thread.
    /// `object` is the context.
    ///
    /// Posted from the first time on that a program uses this name: the sets cost an object for each row.
    public static var NSManagedObjectContextDidSaveObjectIDs: NSNotification.Name {
        ContextNotice.didSaveIDs.name.asked
    }

    /// A context has taken over changes of another one; the user info has sets of `NSManagedObjectID`.
    /// `object` is the context.
    ///
    /// Posted from the first time on that a program uses this name.
    public static var NSManagedObjectContextDidMergeChangesObjectIDs: NSNotification.Name {
        ContextNotice.didMergeIDs.name.asked
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
        case queryGeneration = "newQueryGeneration"
    }
}
