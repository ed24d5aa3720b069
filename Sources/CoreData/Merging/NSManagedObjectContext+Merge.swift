// Merging what another context has saved.

import CoreDataValues
import Foundation
import Synchronization

extension NSManagedObjectContext {
    /// Whether the context merges by itself what is saved to its coordinator or its parent. False by default.
    ///
    /// The merge runs on the context's queue, some time after the other context's `save()` has returned.
    public final var automaticallyMergesChangesFromParent: Bool {
        get { mergesAutomatically }
        set {
            guard newValue != mergesAutomatically else { return }
            mergesAutomatically = newValue
            if newValue {
                persistentStoreCoordinator?.contextFamily.addMerger(self)
            } else {
                persistentStoreCoordinator?.contextFamily.removeMerger(self)
            }
        }
    }

    /// Merges what another context has saved, from its did-save notification, with objects or with IDs.
    ///
    /// New objects appear as faults, registered objects with values are refreshed, and deleted ones leave. Pending
    /// changes of this context stay on top. Only objects with changes are read.
    public final func mergeChanges(fromContextDidSave notification: Notification) {
        checkQueue()
        guard (notification.object as? NSManagedObjectContext) !== self else { return }
        let source = (notification.object as? NSManagedObjectContext)?.persistentStoreCoordinator
        let payload = ChangePayload(notification.userInfo ?? [:], from: source, for: requiredCoordinator)
        if source !== requiredCoordinator { requiredCoordinator.forgetRows(of: payload) }
        merge(payload)
    }

    /// Merges changes that were made elsewhere, by a batch request or in another process, into several contexts.
    ///
    /// - Parameters:
    ///   - changeNotificationData: object IDs or their URIs, in arrays or sets, under `NSInsertedObjectIDsKey`,
    ///     `NSUpdatedObjectIDsKey` and `NSDeletedObjectIDsKey`, or under the keys of the did-save notification.
    ///   - contexts: where to merge. The ancestors of each merge first, since children read what their parents have.
    public class func mergeChanges(
        fromRemoteContextSave changeNotificationData: [AnyHashable: Any], into contexts: [NSManagedObjectContext]
    ) {
        var done: Set<ObjectIdentifier> = []
        for context in contexts.flatMap(\.withAncestors) where done.insert(ObjectIdentifier(context)).inserted {
            var payload = ChangePayload(changeNotificationData, for: context.requiredCoordinator)
            payload.namesOwners = false
            let told = payload
            context.requiredCoordinator.forgetRows(of: told)
            context.performAndWait { context.merge(told) }
        }
    }

    /// The context and all above it, the topmost first.
    private var withAncestors: [NSManagedObjectContext] { (parent?.withAncestors ?? []) + [self] }

    /// Merges changes; pending changes of this context stay.
    final func merge(_ payload: ChangePayload) {
        advanceGeneration()
        guard !payload.isEmpty else { return }
        processPendingChanges()
        guard !payload.invalidatesAll else { return refreshAllObjects() }
        Merging(payload, into: self).run()
        if requiredCoordinator.contextFamily.hasMergers { tellRelatives(of: payload, isSave: false) }
    }
}
