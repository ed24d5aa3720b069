// What a context tells of: a notification, and the messages that are made of it.

import CoreDataFoundation
import Foundation
import Synchronization

/// One kind of what a context tells at its events, saves and merges, if anybody awaits it (Decisions/0004).
final class ContextNotice: Sendable {
    static let didChange = ContextNotice("NSObjectsChangedInManagingContextNotification") { posted, context in
        NSManagedObjectContext.ObjectsDidChangeMessage.tell(posted, of: context)
    }
    static let willSave = ContextNotice("NSManagingContextWillSaveChangesNotification") { posted, context in
        NSManagedObjectContext.WillSaveMessage.tell(posted, of: context)
    }
    static let didSave = ContextNotice("NSManagingContextDidSaveChangesNotification") { posted, context in
        NSManagedObjectContext.DidSaveMessage.tell(posted, of: context)
    }
    static let didSaveIDs = ContextNotice("NSManagedObjectContextDidSaveObjectIDsNotification") { posted, context in
        NSManagedObjectContext.DidSaveObjectIDsMessage.tell(posted, of: context)
        NSManagedObjectContext.DidSaveObjectIDsAsyncMessage.tell(posted, of: context)
    }
    static let didMergeIDs = ContextNotice("NSManagedObjectContextDidMergeChangesObjectIDsNotification") {
        posted, context in
        NSManagedObjectContext.DidMergeChangesMessage.tell(posted, of: context)
        NSManagedObjectContext.DidMergeChangesAsyncMessage.tell(posted, of: context)
    }

    let name: AwaitedName
    private let awaitsMessages = Atomic<Bool>(false)
    private let tell: @Sendable (Notification, NSManagedObjectContext) -> Void

    private init(_ name: String, _ tell: @escaping @Sendable (Notification, NSManagedObjectContext) -> Void) {
        self.name = AwaitedName(name)
        self.tell = tell
    }

    /// The name, for whoever wants the messages.
    var nameOfMessages: NSNotification.Name {
        awaitsMessages.store(true, ordering: .relaxed)
        return name.asked
    }

    /// Posts the notification, then the messages.
    fileprivate func post(_ name: NSNotification.Name, _ context: NSManagedObjectContext, _ info: [AnyHashable: Any]?) {
        NotificationCenter.default.post(name: name, object: context, userInfo: info)
        guard awaitsMessages.load(ordering: .relaxed) else { return }
        tell(Notification(name: name, object: context, userInfo: info), context)
    }
}

extension NSManagedObjectContext {
    /// Tells of something; `info` is not made when nobody awaits it.
    final func post(_ notice: ContextNotice, _ info: @autoclosure () -> [AnyHashable: Any]? = nil) {
        guard let name = notice.name.ifAwaited else { return }
        notice.post(name, self, info())
    }

    /// Tells the IDs of what was saved or merged, if anybody wants to know.
    ///
    /// - Parameter changedKey: what the IDs of changed objects are called.
    final func postObjectIDs(
        _ notice: ContextNotice, changedKey: String, _ inserted: ContiguousArray<NSManagedObject>,
        _ changed: ContiguousArray<NSManagedObject>, _ deleted: ContiguousArray<NSManagedObject>
    ) {
        post(
            notice,
            objectIDs(
                [(NSInsertedObjectIDsKey, inserted), (changedKey, changed), (NSDeletedObjectIDsKey, deleted)], notice))
    }

    private final func objectIDs(
        _ kinds: [(key: String, objects: ContiguousArray<NSManagedObject>)], _ notice: ContextNotice
    ) -> [AnyHashable: Any] {
        var info: [AnyHashable: Any] = [:]
        for kind in kinds where !kind.objects.isEmpty { info[kind.key] = Set(kind.objects.map(\.objectID)) }
        if notice === ContextNotice.didSaveIDs, let token = savedToken { info[NSPersistentHistoryTokenKey] = token }
        return info
    }
}
