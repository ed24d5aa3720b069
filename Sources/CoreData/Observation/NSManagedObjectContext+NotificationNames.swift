// The notifications of contexts and coordinators, and the keys of their user info.

import CoreDataFoundation
import Foundation

public let NSInsertedObjectsKey = "inserted"
public let NSUpdatedObjectsKey = "updated"
public let NSDeletedObjectsKey = "deleted"
public let NSRefreshedObjectsKey = "refreshed"
public let NSInvalidatedObjectsKey = "invalidated"
public let NSInvalidatedAllObjectsKey = "invalidatedAll"
/// The query generation that a save into a SQLite store has led to, an `NSQueryGenerationToken`; in the did-save notification.
public let NSManagedObjectContextQueryGenerationKey: String = "newQueryGeneration"

extension NSNotification.Name {
    /// Pending changes were processed, or objects were refreshed. `object` is the context.
    public static var NSManagedObjectContextObjectsDidChange: NSNotification.Name { ContextNotice.didChange.name.asked }
    /// A save is about to write. `object` is the context; no user info.
    public static var NSManagedObjectContextWillSave: NSNotification.Name { ContextNotice.willSave.name.asked }
    /// A save has written. `object` is the context.
    public static var NSManagedObjectContextDidSave: NSNotification.Name { ContextNotice.didSave.name.asked }
}

extension NSManagedObjectContext {
    public static var willSaveObjectsNotification: NSNotification.Name { .NSManagedObjectContextWillSave }
    public static var didSaveObjectsNotification: NSNotification.Name { .NSManagedObjectContextDidSave }
    public static var didChangeObjectsNotification: NSNotification.Name { .NSManagedObjectContextObjectsDidChange }
}
