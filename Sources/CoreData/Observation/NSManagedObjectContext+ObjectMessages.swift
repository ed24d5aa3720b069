// Messages of changes and saves, with objects: for the main actor.

import Foundation

extension NSManagedObjectContext {
    /// A save is about to write.
    public struct WillSaveMessage: ContextMainActorMessage {
        public typealias Subject = NSManagedObjectContext
        public static var name: Notification.Name { ContextNotice.willSave.nameOfMessages }

        public let context: NSManagedObjectContext

        @MainActor public static func makeMessage(_ notification: Notification) -> WillSaveMessage? {
            guard let context = notification.object as? NSManagedObjectContext else { return nil }
            return WillSaveMessage(context: context)
        }

        @MainActor public static func makeNotification(_ message: WillSaveMessage) -> Notification {
            Notification(name: name, object: message.context)
        }
    }

    /// A save has written.
    public struct DidSaveMessage: ContextMainActorMessage {
        public typealias Subject = NSManagedObjectContext
        public static var name: Notification.Name { ContextNotice.didSave.nameOfMessages }

        public let context: NSManagedObjectContext
        public var inserted: Set<NSManagedObject> { notification.objects(NSInsertedObjectsKey) }
        public var updated: Set<NSManagedObject> { notification.objects(NSUpdatedObjectsKey) }
        public var deleted: Set<NSManagedObject> { notification.objects(NSDeletedObjectsKey) }
        /// Where the histories of the stores were when the message was made; nil when none keeps one.
        public let historyToken: NSPersistentHistoryToken?
        /// The state that the save has led to, or a later one; nil where no SQLite store with a write-ahead log was saved to.
        public let queryGeneration: NSQueryGenerationToken?
        private let notification: Notification

        @MainActor public static func makeMessage(_ notification: Notification) -> DidSaveMessage? {
            guard let context = notification.object as? NSManagedObjectContext else { return nil }
            return DidSaveMessage(
                context: context, historyToken: notification.historyToken ?? context.historyToken,
                queryGeneration: notification.queryGeneration,
                notification: notification)
        }

        @MainActor public static func makeNotification(_ message: DidSaveMessage) -> Notification {
            Notification(name: name, object: message.context, userInfo: message.notification.userInfo)
        }
    }

    /// Pending changes were processed, or objects were refreshed.
    public struct ObjectsDidChangeMessage: ContextMainActorMessage {
        public typealias Subject = NSManagedObjectContext
        public static var name: Notification.Name { ContextNotice.didChange.nameOfMessages }

        public let context: NSManagedObjectContext
        public var inserted: Set<NSManagedObject> { notification.objects(NSInsertedObjectsKey) }
        public var updated: Set<NSManagedObject> { notification.objects(NSUpdatedObjectsKey) }
        public var deleted: Set<NSManagedObject> { notification.objects(NSDeletedObjectsKey) }
        public var refreshed: Set<NSManagedObject> { notification.objects(NSRefreshedObjectsKey) }
        public var invalidated: Set<NSManagedObject> { notification.objects(NSInvalidatedObjectsKey) }
        /// true when the context has forgotten all objects (`reset()`); nil otherwise.
        public let invalidatedAll: Bool?
        private let notification: Notification

        @MainActor public static func makeMessage(_ notification: Notification) -> ObjectsDidChangeMessage? {
            guard let context = notification.object as? NSManagedObjectContext else { return nil }
            return ObjectsDidChangeMessage(
                context: context,
                invalidatedAll: notification.userInfo?[NSInvalidatedAllObjectsKey].map { _ in true },
                notification: notification)
        }

        @MainActor public static func makeNotification(_ message: ObjectsDidChangeMessage) -> Notification {
            Notification(name: name, object: message.context, userInfo: message.notification.userInfo)
        }
    }
}

extension NotificationCenter.MessageIdentifier
where Self == NotificationCenter.BaseMessageIdentifier<NSManagedObjectContext.WillSaveMessage> {
    public static var willSave: NotificationCenter.BaseMessageIdentifier<NSManagedObjectContext.WillSaveMessage> {
        _ = NSManagedObjectContext.WillSaveMessage.name
        return .init()
    }
}

extension NotificationCenter.MessageIdentifier
where Self == NotificationCenter.BaseMessageIdentifier<NSManagedObjectContext.DidSaveMessage> {
    public static var didSave: NotificationCenter.BaseMessageIdentifier<NSManagedObjectContext.DidSaveMessage> {
        _ = NSManagedObjectContext.DidSaveMessage.name
        return .init()
    }
}

extension NotificationCenter.MessageIdentifier
where Self == NotificationCenter.BaseMessageIdentifier<NSManagedObjectContext.ObjectsDidChangeMessage> {
    public static var objectsDidChange:
        NotificationCenter.BaseMessageIdentifier<NSManagedObjectContext.ObjectsDidChangeMessage>
    {
        _ = NSManagedObjectContext.ObjectsDidChangeMessage.name
        return .init()
    }
}
