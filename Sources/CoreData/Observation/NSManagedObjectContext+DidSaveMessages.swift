// Messages of saves, with IDs: for the main actor and for everybody.

import Foundation

extension NSManagedObjectContext {
    /// A save has written. The IDs may go to any thread.
    public struct DidSaveObjectIDsMessage: ContextMainActorMessage {
        public typealias Subject = NSManagedObjectContext
        public static var name: Notification.Name { ContextNotice.didSaveIDs.nameOfMessages }

        public let context: NSManagedObjectContext
        public let insertedIDs: Set<NSManagedObjectID>
        public let updatedIDs: Set<NSManagedObjectID>
        public let deletedIDs: Set<NSManagedObjectID>
        public let refreshedIDs: Set<NSManagedObjectID>
        public let invalidatedIDs: Set<NSManagedObjectID>
        /// Where the histories of the stores were when the message was made; nil when none keeps one.
        public let historyToken: NSPersistentHistoryToken?
        /// The state that the context is pinned to now; nil for one that is not.
        public let queryGeneration: NSQueryGenerationToken?

        @MainActor public static func makeMessage(_ notification: Notification) -> DidSaveObjectIDsMessage? {
            guard let context = notification.object as? NSManagedObjectContext else { return nil }
            return DidSaveObjectIDsMessage(
                context: context, insertedIDs: notification.objectIDs(NSInsertedObjectIDsKey),
                updatedIDs: notification.objectIDs(NSUpdatedObjectIDsKey),
                deletedIDs: notification.objectIDs(NSDeletedObjectIDsKey),
                refreshedIDs: notification.objectIDs(NSRefreshedObjectIDsKey),
                invalidatedIDs: notification.objectIDs(NSInvalidatedObjectIDsKey),
                historyToken: notification.historyToken ?? context.historyToken,
                queryGeneration: context.ownToken)
        }

        @MainActor public static func makeNotification(_ message: DidSaveObjectIDsMessage) -> Notification {
            Notification(
                name: name, object: message.context,
                objectIDs: [
                    NSInsertedObjectIDsKey: message.insertedIDs, NSUpdatedObjectIDsKey: message.updatedIDs,
                    NSDeletedObjectIDsKey: message.deletedIDs, NSRefreshedObjectIDsKey: message.refreshedIDs,
                    NSInvalidatedObjectIDsKey: message.invalidatedIDs,
                ])
        }
    }

    /// A save has written, on whatever queue.
    public struct DidSaveObjectIDsAsyncMessage: ContextAsyncMessage {
        public typealias Subject = NSManagedObjectContext
        public static var name: Notification.Name { ContextNotice.didSaveIDs.nameOfMessages }

        public let context: NSManagedObjectContext
        public let insertedIDs: Set<NSManagedObjectID>
        public let updatedIDs: Set<NSManagedObjectID>
        public let deletedIDs: Set<NSManagedObjectID>
        public let refreshedIDs: Set<NSManagedObjectID>
        public let invalidatedIDs: Set<NSManagedObjectID>
        /// Where the histories of the stores were when the message was made; nil when none keeps one.
        public let historyToken: NSPersistentHistoryToken?
        /// The state that the context is pinned to now; nil for one that is not.
        public let queryGeneration: NSQueryGenerationToken?

        public static func makeMessage(_ notification: Notification) -> DidSaveObjectIDsAsyncMessage? {
            guard let context = notification.object as? NSManagedObjectContext else { return nil }
            return DidSaveObjectIDsAsyncMessage(
                context: context, insertedIDs: notification.objectIDs(NSInsertedObjectIDsKey),
                updatedIDs: notification.objectIDs(NSUpdatedObjectIDsKey),
                deletedIDs: notification.objectIDs(NSDeletedObjectIDsKey),
                refreshedIDs: notification.objectIDs(NSRefreshedObjectIDsKey),
                invalidatedIDs: notification.objectIDs(NSInvalidatedObjectIDsKey),
                historyToken: notification.historyToken ?? context.historyToken,
                queryGeneration: context.ownToken)
        }

        public static func makeNotification(_ message: DidSaveObjectIDsAsyncMessage) -> Notification {
            Notification(
                name: name, object: message.context,
                objectIDs: [
                    NSInsertedObjectIDsKey: message.insertedIDs, NSUpdatedObjectIDsKey: message.updatedIDs,
                    NSDeletedObjectIDsKey: message.deletedIDs, NSRefreshedObjectIDsKey: message.refreshedIDs,
                    NSInvalidatedObjectIDsKey: message.invalidatedIDs,
                ])
        }
    }
}

extension NotificationCenter.MessageIdentifier
where Self == NotificationCenter.BaseMessageIdentifier<NSManagedObjectContext.DidSaveObjectIDsMessage> {
    public static var didSaveObjectIDs:
        NotificationCenter.BaseMessageIdentifier<NSManagedObjectContext.DidSaveObjectIDsMessage>
    {
        _ = NSManagedObjectContext.DidSaveObjectIDsMessage.name
        return .init()
    }
}

extension NotificationCenter.MessageIdentifier
where Self == NotificationCenter.BaseMessageIdentifier<NSManagedObjectContext.DidSaveObjectIDsAsyncMessage> {
    public static var didSaveObjectIDsAsync:
        NotificationCenter.BaseMessageIdentifier<NSManagedObjectContext.DidSaveObjectIDsAsyncMessage>
    {
        _ = NSManagedObjectContext.DidSaveObjectIDsAsyncMessage.name
        return .init()
    }
}

extension Notification {
    /// A notification with the sets that have members.
    init(name: Notification.Name, object: Any?, objectIDs: [String: Set<NSManagedObjectID>]) {
        var info: [AnyHashable: Any] = [:]
        for (key, ids) in objectIDs where !ids.isEmpty { info[key] = ids }
        self.init(name: name, object: object, userInfo: info)
    }
}
