// Typed messages for observers, told beside the notifications that they are made of.
//
// Foundation on Linux has observers of messages, but makes no message of a notification. So a context posts both, the messages
// once somebody has asked for them: by an identifier, a name or a type. The observing methods below take the place of
// Foundation's for these types, because those would not let a context know.

import Foundation

/// A message of a context for observers on the main actor.
///
/// Nobody gets one that is posted elsewhere, as by a context with a private queue.
public protocol ContextMainActorMessage: NotificationCenter.MainActorMessage where Subject == NSManagedObjectContext {
    /// The name of the notification. Reading it asks for the messages.
    static var name: Notification.Name { get }
    /// nil for a notification of anything but a context.
    @MainActor static func makeMessage(_ notification: Notification) -> Self?
    @MainActor static func makeNotification(_ message: Self) -> Notification
}

/// A message of a context for observers anywhere, which get it some time after it was posted.
public protocol ContextAsyncMessage: NotificationCenter.AsyncMessage where Subject == NSManagedObjectContext {
    /// The name of the notification. Reading it asks for the messages.
    static var name: Notification.Name { get }
    /// nil for a notification of anything but a context.
    static func makeMessage(_ notification: Notification) -> Self?
    static func makeNotification(_ message: Self) -> Notification
}

extension ContextMainActorMessage {
    /// Posts the message of a notification if this is the main actor.
    static func tell(_ notification: Notification, of context: NSManagedObjectContext) {
        nonisolated(unsafe) let notification = notification
        NotificationCenter.default.tell(context) { makeMessage(notification) }
    }
}

extension ContextAsyncMessage {
    static func tell(_ notification: Notification, of context: NSManagedObjectContext) {
        if let message = makeMessage(notification) { NotificationCenter.default.post(message, subject: context) }
    }
}

extension NotificationCenter {
    /// Posts a message if this is the main actor.
    func tell<Message: MainActorMessage>(
        _ subject: Message.Subject, _ make: @MainActor () -> Message?
    ) where Message.Subject: AnyObject & Sendable {
        guard MainQueue.isMainActor else { return }
        MainActor.assumeIsolated {
            if let message = make() { post(message, subject: subject) }
        }
    }

    // MARK: Observing

    /// Observes the messages of a type, of one context or, with nil, of all.
    public func addObserver<Message: ContextMainActorMessage>(
        of subject: NSManagedObjectContext? = nil, for messageType: Message.Type,
        using observer: @escaping @MainActor (Message) -> Void
    ) -> ObservationToken {
        _ = messageType.name
        return observe(subject, messageType, observer)
    }

    /// Observes the messages of a type, of one context or, with nil, of all.
    public func addObserver<Message: ContextAsyncMessage>(
        of subject: NSManagedObjectContext? = nil, for messageType: Message.Type,
        using observer: @escaping @Sendable (Message) async -> Void
    ) -> ObservationToken {
        _ = messageType.name
        return observe(subject, messageType, observer)
    }

    /// The messages of a type, of one context or, with nil, of all. The oldest are dropped when more than `limit` wait.
    public func messages<Message: ContextAsyncMessage>(
        of subject: NSManagedObjectContext? = nil, for messageType: Message.Type, bufferSize limit: Int = 10
    ) -> some AsyncSequence<Message, Never> & Sendable {
        _ = messageType.name
        return sequence(subject, messageType, limit)
    }

    // Foundation's own methods, reached where ours do not fit.

    private func observe<Message: MainActorMessage>(
        _ subject: Message.Subject?, _ type: Message.Type, _ observer: @escaping @MainActor (Message) -> Void
    ) -> ObservationToken where Message.Subject: AnyObject {
        addObserver(of: subject, for: type, using: observer)
    }

    private func observe<Message: AsyncMessage>(
        _ subject: Message.Subject?, _ type: Message.Type, _ observer: @escaping @Sendable (Message) async -> Void
    ) -> ObservationToken where Message.Subject: AnyObject {
        addObserver(of: subject, for: type, using: observer)
    }

    private func sequence<Message: AsyncMessage>(
        _ subject: Message.Subject?, _ type: Message.Type, _ limit: Int
    ) -> some AsyncSequence<Message, Never> & Sendable where Message.Subject: AnyObject {
        messages(of: subject, for: type, bufferSize: limit)
    }
}

extension NSManagedObjectContext {
    /// Where the histories of the stores are now.
    final var historyToken: NSPersistentHistoryToken? {
        persistentStoreCoordinator?.currentPersistentHistoryToken(fromStores: nil)
    }
}

extension Notification {
    /// The sets of user info entries; empty for an entry that is missing.
    func objects(_ key: String) -> Set<NSManagedObject> { userInfo?[key] as? Set<NSManagedObject> ?? [] }
    func objectIDs(_ key: String) -> Set<NSManagedObjectID> { userInfo?[key] as? Set<NSManagedObjectID> ?? [] }
    var queryGeneration: NSQueryGenerationToken? {
        userInfo?[NSManagedObjectContextQueryGenerationKey] as? NSQueryGenerationToken
    }
}
