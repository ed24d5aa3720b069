// The message of a write by others.

import Foundation

extension NSPersistentStoreCoordinator {
    /// A store that asked for it was written, on whatever thread; see `NSPersistentStoreRemoteChange`.
    public struct RemoteChangeMessage: NotificationCenter.AsyncMessage, Sendable {
        public typealias Subject = NSPersistentStoreCoordinator
        public static var name: Notification.Name { .NSPersistentStoreRemoteChange }

        public let persistentStoreCoordinator: NSPersistentStoreCoordinator
        /// The transaction that was written; nil for a store without history.
        public let historyToken: NSPersistentHistoryToken?
        public let storeURL: URL
        public let storeUUID: String

        /// nil for what is no such notification, and for that of a store without URL.
        public static func makeMessage(_ notification: Notification) -> RemoteChangeMessage? {
            guard let coordinator = notification.object as? NSPersistentStoreCoordinator,
                let url = notification.userInfo?[NSPersistentStoreURLKey] as? URL,
                let uuid = notification.userInfo?[NSStoreUUIDKey] as? String
            else { return nil }
            return RemoteChangeMessage(
                persistentStoreCoordinator: coordinator,
                historyToken: notification.userInfo?[NSPersistentHistoryTokenKey] as? NSPersistentHistoryToken,
                storeURL: url, storeUUID: uuid)
        }

        public static func makeNotification(_ message: RemoteChangeMessage) -> Notification {
            var info: [AnyHashable: Any] = [
                NSStoreUUIDKey: message.storeUUID, NSPersistentStoreURLKey: message.storeURL,
            ]
            info[NSPersistentHistoryTokenKey] = message.historyToken
            return Notification(name: name, object: message.persistentStoreCoordinator, userInfo: info)
        }
    }

    /// Tells that a store was written: the notification, then the message.
    final func postRemoteChange(of store: NSPersistentStore, _ token: NSPersistentHistoryToken?) {
        var info: [AnyHashable: Any] = [NSStoreUUIDKey: store.identifier ?? ""]
        info[NSPersistentStoreURLKey] = store.url
        info[NSPersistentHistoryTokenKey] = token
        post(.NSPersistentStoreRemoteChange, info)
        let posted = Notification(name: .NSPersistentStoreRemoteChange, object: self, userInfo: info)
        if let message = RemoteChangeMessage.makeMessage(posted) {
            NotificationCenter.default.post(message, subject: self)
        }
    }
}

extension NotificationCenter.MessageIdentifier
where Self == NotificationCenter.BaseMessageIdentifier<NSPersistentStoreCoordinator.RemoteChangeMessage> {
    public static var remoteChange:
        NotificationCenter.BaseMessageIdentifier<NSPersistentStoreCoordinator.RemoteChangeMessage>
    { .init() }
}
