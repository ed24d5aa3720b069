// Messages of coordinators: for the main actor and for everybody.

import Foundation

extension NSPersistentStoreCoordinator {
    /// Stores came, went or took another UUID; told on the main actor.
    public struct StoresDidChangeMessage: NotificationCenter.MainActorMessage {
        public typealias Subject = NSPersistentStoreCoordinator
        public static var name: Notification.Name { .NSPersistentStoreCoordinatorStoresDidChange }

        public let persistentStoreCoordinator: NSPersistentStoreCoordinator
        public var addedStores: [NSPersistentStore] { change.added }
        public var removedStores: [NSPersistentStore] { change.removed }
        /// The former store and the one that has taken its place.
        public var uuidChangedStores: (oldValue: NSPersistentStore, newValue: NSPersistentStore)? { change.replaced }
        private let change: StoreChange

        @MainActor public static func makeMessage(_ notification: Notification) -> StoresDidChangeMessage? {
            guard let coordinator = notification.object as? NSPersistentStoreCoordinator else { return nil }
            return StoresDidChangeMessage(
                persistentStoreCoordinator: coordinator, change: StoreChange(notification.userInfo ?? [:]))
        }

        @MainActor public static func makeNotification(_ message: StoresDidChangeMessage) -> Notification {
            Notification(name: name, object: message.persistentStoreCoordinator, userInfo: message.change.userInfo)
        }
    }

    /// Stores came, went or took another UUID, on whatever thread.
    public struct StoresDidChangeAsyncMessage: NotificationCenter.AsyncMessage {
        public typealias Subject = NSPersistentStoreCoordinator
        public static var name: Notification.Name { .NSPersistentStoreCoordinatorStoresDidChange }

        public let persistentStoreCoordinator: NSPersistentStoreCoordinator
        public var addedStores: [NSPersistentStore] { change.added }
        public var removedStores: [NSPersistentStore] { change.removed }
        /// The former store and the one that has taken its place.
        public var uuidChangedStores: (oldValue: NSPersistentStore, newValue: NSPersistentStore)? { change.replaced }
        private let change: StoreChange

        public static func makeMessage(_ notification: Notification) -> StoresDidChangeAsyncMessage? {
            guard let coordinator = notification.object as? NSPersistentStoreCoordinator else { return nil }
            return StoresDidChangeAsyncMessage(
                persistentStoreCoordinator: coordinator, change: StoreChange(notification.userInfo ?? [:]))
        }

        public static func makeNotification(_ message: StoresDidChangeAsyncMessage) -> Notification {
            Notification(name: name, object: message.persistentStoreCoordinator, userInfo: message.change.userInfo)
        }
    }

    /// Tells that stores came, went or took another UUID: the notification, then the messages.
    final func postStoresDidChange(_ info: [AnyHashable: Any]) {
        post(.NSPersistentStoreCoordinatorStoresDidChange, info)
        nonisolated(unsafe) let posted = Notification(
            name: .NSPersistentStoreCoordinatorStoresDidChange, object: self, userInfo: info)
        NotificationCenter.default.tell(self) { StoresDidChangeMessage.makeMessage(posted) }
        if let message = StoresDidChangeAsyncMessage.makeMessage(posted) {
            NotificationCenter.default.post(message, subject: self)
        }
    }
}

/// The stores that a notification names.
private struct StoreChange: Sendable {
    let added: [NSPersistentStore]
    let removed: [NSPersistentStore]
    let replaced: (oldValue: NSPersistentStore, newValue: NSPersistentStore)?
    /// Each former ID followed by its new one.
    private let ids: [NSManagedObjectID]

    init(_ info: [AnyHashable: Any]) {
        added = info[NSAddedPersistentStoresKey] as? [NSPersistentStore] ?? []
        removed = info[NSRemovedPersistentStoresKey] as? [NSPersistentStore] ?? []
        let changed = info[NSUUIDChangedPersistentStoresKey] as? [Any] ?? []
        ids = changed.last as? [NSManagedObjectID] ?? []
        if changed.count >= 2, let old = changed[0] as? NSPersistentStore, let new = changed[1] as? NSPersistentStore {
            replaced = (old, new)
        } else {
            replaced = nil
        }
    }

    var userInfo: [AnyHashable: Any] {
        var info: [AnyHashable: Any] = [:]
        if !added.isEmpty { info[NSAddedPersistentStoresKey] = added }
        if !removed.isEmpty { info[NSRemovedPersistentStoresKey] = removed }
        if let replaced {
            info[NSUUIDChangedPersistentStoresKey] = [replaced.oldValue, replaced.newValue, ids] as [Any]
        }
        return info
    }
}

extension NotificationCenter.MessageIdentifier
where Self == NotificationCenter.BaseMessageIdentifier<NSPersistentStoreCoordinator.StoresDidChangeMessage> {
    public static var storesDidChange:
        NotificationCenter.BaseMessageIdentifier<NSPersistentStoreCoordinator.StoresDidChangeMessage>
    {
        .init()
    }
}

extension NotificationCenter.MessageIdentifier
where Self == NotificationCenter.BaseMessageIdentifier<NSPersistentStoreCoordinator.StoresDidChangeAsyncMessage> {
    public static var storesDidChangeAsync:
        NotificationCenter.BaseMessageIdentifier<NSPersistentStoreCoordinator.StoresDidChangeAsyncMessage>
    {
        .init()
    }
}
