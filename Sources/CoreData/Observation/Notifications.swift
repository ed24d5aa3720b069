// The notifications of contexts and coordinators, and the keys of their user info.

import CoreDataFoundation
import Foundation

public let NSInsertedObjectsKey = "inserted"
public let NSUpdatedObjectsKey = "updated"
public let NSDeletedObjectsKey = "deleted"
public let NSRefreshedObjectsKey = "refreshed"
public let NSInvalidatedObjectsKey = "invalidated"
public let NSInvalidatedAllObjectsKey = "invalidatedAll"

extension NSNotification.Name {
    /// Pending changes were processed, or objects were refreshed. `object` is the context.
    public static var NSManagedObjectContextObjectsDidChange: NSNotification.Name { ContextNotice.didChange.asked }
    /// A save is about to write. `object` is the context; no user info.
    public static var NSManagedObjectContextWillSave: NSNotification.Name { ContextNotice.willSave.asked }
    /// A save has written. `object` is the context.
    public static var NSManagedObjectContextDidSave: NSNotification.Name { ContextNotice.didSave.asked }
}

/// What a context tells of at every event and save, if anybody awaits it.
enum ContextNotice {
    static let didChange = AwaitedName("NSObjectsChangedInManagingContextNotification")
    static let willSave = AwaitedName("NSManagingContextWillSaveChangesNotification")
    static let didSave = AwaitedName("NSManagingContextDidSaveChangesNotification")
}

extension NSManagedObjectContext {
    public static var willSaveObjectsNotification: NSNotification.Name { .NSManagedObjectContextWillSave }
    public static var didSaveObjectsNotification: NSNotification.Name { .NSManagedObjectContextDidSave }
    public static var didChangeObjectsNotification: NSNotification.Name { .NSManagedObjectContextObjectsDidChange }

    /// Posts a notification of this context; `info` is not made when nobody awaits it.
    final func post(_ awaited: AwaitedName, _ info: @autoclosure () -> [AnyHashable: Any]? = nil) {
        guard let name = awaited.ifAwaited else { return }
        NotificationCenter.default.post(name: name, object: self, userInfo: info())
    }
}
