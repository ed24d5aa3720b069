// What coordinators and stores tell.

import Foundation

extension NSNotification.Name {
    /// Never posted here: Core Data posts it only for stores that a cloud service exchanges.
    public static let NSPersistentStoreCoordinatorStoresWillChange = NSNotification.Name(
        "NSPersistentStoreCoordinatorStoresWillChangeNotification")
    /// Stores came, went or took another UUID. `object` is the coordinator; keys: `NSAddedPersistentStoresKey`,
    /// `NSRemovedPersistentStoresKey`, `NSUUIDChangedPersistentStoresKey`.
    public static let NSPersistentStoreCoordinatorStoresDidChange = NSNotification.Name(
        "NSPersistentStoreCoordinatorStoresDidChangeNotification")
    /// A store is about to be removed. `object` is the store.
    public static let NSPersistentStoreCoordinatorWillRemoveStore = NSNotification.Name(
        "NSPersistentStoreCoordinatorWillRemoveStoreNotification")
    /// A store with `NSPersistentStoreRemoteChangeNotificationPostOptionKey` was written, by a coordinator of this process or by another
    /// process, which is told within a second. Once for each save; several by others that keep no history may be told as one.
    ///
    /// Posted on the thread that saved, or on a queue of the library's own. `object` is the coordinator that is told; keys: `NSStoreUUIDKey`, `NSPersistentStoreURLKey`, and
    /// `NSPersistentHistoryTokenKey` if the store keeps a history.
    public static let NSPersistentStoreRemoteChange = NSNotification.Name("NSPersistentStoreRemoteChangeNotification")
}
