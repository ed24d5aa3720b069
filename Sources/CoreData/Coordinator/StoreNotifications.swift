// What coordinators and stores tell.

import CoreDataFoundation
import Foundation
import Synchronization

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
    /// A store with `NSPersistentStoreRemoteChangeNotificationPostOptionKey` was written by a coordinator of this process.
    /// `object` is the coordinator that is told; keys: `NSStoreUUIDKey`, `NSPersistentStoreURLKey`, and
    /// `NSPersistentHistoryTokenKey` if the store keeps a history.
    public static let NSPersistentStoreRemoteChange = NSNotification.Name("NSPersistentStoreRemoteChangeNotification")
}

/// The stores of the process that want to be told of each other's writes.
enum RemoteChanges {
    private struct Listener: @unchecked Sendable { @Unretained var store: NSPersistentStore? }
    private static let listeners = Mutex<[Listener]>([])

    static func add(_ store: NSPersistentStore) {
        let listener = Listener(store: store)
        listeners.withLock { $0 = $0.filter { $0.store != nil } + [listener] }
    }

    static func remove(_ store: NSPersistentStore) {
        let gone = ObjectIdentifier(store)
        listeners.withLock { $0.removeAll { $0.store.map { ObjectIdentifier($0) == gone } ?? true } }
    }

    fileprivate static var stores: [NSPersistentStore] {
        listeners.withLock { $0 }.compactMap(\.store)
    }
}

extension NSPersistentStore {
    /// Tells every coordinator that has this store's file and asked to be told, this one included.
    final func tellRemoteChange() {
        let token = recordsHistory ? NSPersistentHistoryToken(of: [self]) : nil
        for store in RemoteChanges.stores where store === self || store.isSameFile(as: self) {
            guard let coordinator = store.coordinator else { continue }
            var info: [AnyHashable: Any] = [NSStoreUUIDKey: store.identifier ?? ""]
            info[NSPersistentStoreURLKey] = store.url
            info[NSPersistentHistoryTokenKey] = token
            coordinator.post(.NSPersistentStoreRemoteChange, info)
        }
    }

    private func isSameFile(as other: NSPersistentStore) -> Bool {
        guard let own = url, let url = other.url else { return false }
        return own.standardizedFileURL == url.standardizedFileURL && identifier == other.identifier
    }
}
