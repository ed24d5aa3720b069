// Messages of merges, with IDs: for the main actor and for everybody.

import Foundation

extension NSManagedObjectContext {
    /// The context has taken over what another one saved. What changed is among `refreshedIDs`.
    public struct DidMergeChangesMessage: ContextMainActorMessage {
        public typealias Subject = NSManagedObjectContext
        public static var name: Notification.Name { ContextNotice.didMergeIDs.nameOfMessages }

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

        @MainActor public static func makeMessage(_ notification: Notification) -> DidMergeChangesMessage? {
            guard let context = notification.object as? NSManagedObjectContext else { return nil }
            return DidMergeChangesMessage(
                context: context, insertedIDs: notification.objectIDs(NSInsertedObjectIDsKey),
                updatedIDs: notification.objectIDs(NSUpdatedObjectIDsKey),
                deletedIDs: notification.objectIDs(NSDeletedObjectIDsKey),
                refreshedIDs: notification.objectIDs(NSRefreshedObjectIDsKey),
                invalidatedIDs: notification.objectIDs(NSInvalidatedObjectIDsKey), historyToken: context.historyToken,
                queryGeneration: context.ownToken)
        }

        @MainActor public static func makeNotification(_ message: DidMergeChangesMessage) -> Notification {
            Notification(
                name: name, object: message.context,
                objectIDs: [
                    NSInsertedObjectIDsKey: message.insertedIDs, NSUpdatedObjectIDsKey: message.updatedIDs,
                    NSDeletedObjectIDsKey: message.deletedIDs, NSRefreshedObjectIDsKey: message.refreshedIDs,
                    NSInvalidatedObjectIDsKey: message.invalidatedIDs,
                ])
        }
    }

    /// The context has taken over what another one saved, on whatever queue.
    public struct DidMergeChangesAsyncMessage: ContextAsyncMessage {
        public typealias Subject = NSManagedObjectContext
        public static var name: Notification.Name { ContextNotice.didMergeIDs.nameOfMessages }

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

        public static func makeMessage(_ notification: Notification) -> DidMergeChangesAsyncMessage? {
            guard let context = notification.object as? NSManagedObjectContext else { return nil }
            return DidMergeChangesAsyncMessage(
                context: context, insertedIDs: notification.objectIDs(NSInsertedObjectIDsKey),
                updatedIDs: notification.objectIDs(NSUpdatedObjectIDsKey),
                deletedIDs: notification.objectIDs(NSDeletedObjectIDsKey),
                refreshedIDs: notification.objectIDs(NSRefreshedObjectIDsKey),
                invalidatedIDs: notification.objectIDs(NSInvalidatedObjectIDsKey), historyToken: context.historyToken,
                queryGeneration: context.ownToken)
        }

        public static func makeNotification(_ message: DidMergeChangesAsyncMessage) -> Notification {
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
where Self == NotificationCenter.BaseMessageIdentifier<NSManagedObjectContext.DidMergeChangesMessage> {
    public static var didMergeChanges:
        NotificationCenter.BaseMessageIdentifier<NSManagedObjectContext.DidMergeChangesMessage>
    {
        _ = NSManagedObjectContext.DidMergeChangesMessage.name
        return .init()
    }
}

extension NotificationCenter.MessageIdentifier
where Self == NotificationCenter.BaseMessageIdentifier<NSManagedObjectContext.DidMergeChangesAsyncMessage> {
    public static var didMergeChangesAsync:
        NotificationCenter.BaseMessageIdentifier<NSManagedObjectContext.DidMergeChangesAsyncMessage>
    {
        _ = NSManagedObjectContext.DidMergeChangesAsyncMessage.name
        return .init()
    }
}
