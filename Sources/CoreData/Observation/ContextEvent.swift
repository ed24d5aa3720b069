// What changed in one event of a context: the source of its notifications.

import CoreDataValues
import Foundation

/// The objects of one event by kind. The sets of the notification are made once.
final class ContextEvent {
    let inserted: ContiguousArray<NSManagedObject>
    let updated: ContiguousArray<NSManagedObject>
    let deleted: ContiguousArray<NSManagedObject>
    let refreshed: ContiguousArray<NSManagedObject>
    private(set) lazy var insertedSet = objectSet(inserted)
    private(set) lazy var updatedSet = objectSet(updated)
    private(set) lazy var deletedSet = objectSet(deleted)

    init(
        inserted: ContiguousArray<NSManagedObject> = [], updated: ContiguousArray<NSManagedObject> = [],
        deleted: ContiguousArray<NSManagedObject> = [], refreshed: ContiguousArray<NSManagedObject> = []
    ) {
        self.inserted = inserted
        self.updated = updated
        self.deleted = deleted
        self.refreshed = refreshed
    }

    /// Ends the tracker's open event. An object that came and went within it is not part of it.
    init(taking tracker: inout ChangeTracker) {
        var inserted: ContiguousArray<NSManagedObject> = []
        var updated: ContiguousArray<NSManagedObject> = []
        var deleted: ContiguousArray<NSManagedObject> = []
        var refreshed: ContiguousArray<NSManagedObject> = []
        let event = tracker.takeEvent()
        event.borrowEach { object in
            let state = object._state
            let came = state.has(.eventInserted)
            let isThere = !state.has([.deleted, .gone])
            if state.has(.eventDeleted), !isThere {
                if !came { deleted.append(object, of: event.count) }
            } else if isThere, came {
                inserted.append(object, of: event.count)
            } else if isThere, state.has(.eventUpdated) {
                updated.append(object, of: event.count)
            } else if isThere, state.has(.eventRefreshed) {
                refreshed.append(object, of: event.count)
            }
            state.clear([.event, .fresh])
        }
        self.inserted = inserted
        self.updated = updated
        self.deleted = deleted
        self.refreshed = refreshed
    }

    var isEmpty: Bool { inserted.isEmpty && updated.isEmpty && deleted.isEmpty && refreshed.isEmpty }

    /// The keys and sets of the did-change and did-save notifications; empty kinds are left out.
    private(set) lazy var userInfo: [AnyHashable: Any] = makeUserInfo()

    private func makeUserInfo() -> [AnyHashable: Any] {
        var info = [AnyHashable: Any](minimumCapacity: 4)
        if !inserted.isEmpty { info[NSInsertedObjectsKey] = insertedSet }
        if !updated.isEmpty { info[NSUpdatedObjectsKey] = updatedSet }
        if !deleted.isEmpty { info[NSDeletedObjectsKey] = deletedSet }
        if !refreshed.isEmpty { info[NSRefreshedObjectsKey] = objectSet(refreshed) }
        return info
    }
}
