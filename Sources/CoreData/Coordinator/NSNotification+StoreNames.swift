// Notifications of coordinators and stores.

import Foundation

extension NSNotification.Name {
    /// Never posted here: Core Data posts it only for stores that a cloud service synchronises.
    public static let NSPersistentStoreCoordinatorStoresWillChange = NSNotification.Name(
        "NSPersistentStoreCoordinatorStoresWillChangeNotification")
    /// Stores were added, removed or given another UUID. `object` is the coordinator; keys:
    /// `NSAddedPersistentStoresKey`, `NSRemovedPersistentStoresKey`, `NSUUIDChangedPersistentStoresKey`.
    public static let NSPersistentStoreCoordinatorStoresDidChange = NSNotification.Name(
        "NSPersistentStoreCoordinatorStoresDidChangeNotification")
    /// A store is about to be removed. `object` is the store.
    public static let NSPersistentStoreCoordinatorWillRemoveStore = NSNotification.Name(
        "NSPersistentStoreCoordinatorWillRemoveStoreNotification")
    /// A store with `NSPersistentStoreRemoteChangeNotificationPostOptionKey` was written, by a coordinator of this
    /// process or by another process, which is noticed within a second. Posted once for each save, or once for several
    /// by processes without history.
    ///
    /// Posted on the thread that saved, or on a queue of the library. `object` is the notified coordinator; keys:
    /// `NSStoreUUIDKey`, `NSPersistentStoreURLKey`, and `NSPersistentHistoryTokenKey` if the store keeps a history.
    public static let NSPersistentStoreRemoteChange = NSNotification.Name("NSPersistentStoreRemoteChangeNotification")
}
