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
        var event = tracker.endEvent()
        let count = event.count
        event.borrowEach { object in
            let state = object._state
            let came = state.has(.eventInserted)
            let isThere = !state.has([.deleted, .detached])
            if state.has(.eventDeleted), !isThere {
                if !came { deleted.append(object, of: count) }
            } else if isThere, came {
                inserted.append(object, of: count)
            } else if isThere, state.has(.eventUpdated) {
                updated.append(object, of: count)
            } else if isThere, state.has(.eventRefreshed) {
                refreshed.append(object, of: count)
            }
            state.clear([.event, .skipsLog])
        }
        tracker.reuse(&event)
        self.inserted = inserted
        self.updated = updated
        self.deleted = deleted
        self.refreshed = refreshed
    }

    /// Whether it tells of all that is changed, and of nothing else.
    func isAll(of tracker: borrowing ChangeTracker) -> Bool {
        func are(_ objects: ContiguousArray<NSManagedObject>, _ flag: ObjectFlags, not other: ObjectFlags) -> Bool {
            var are = true
            objects.borrowEach { if !$0._state.has(flag) || $0._state.has(other) { are = false } }
            return are
        }
        return inserted.count + updated.count + deleted.count == tracker.dirtyCount
            && are(inserted, .inserted, not: .deleted)
            && are(updated, .updated, not: [.inserted, .deleted]) && are(deleted, .deleted, not: [])
    }

    var isEmpty: Bool { inserted.isEmpty && updated.isEmpty && deleted.isEmpty && refreshed.isEmpty }

    /// The keys and sets of the did-change and did-save notifications; empty kinds are left out.
    private(set) lazy var userInfo: [AnyHashable: Any] = makeUserInfo()

    /// The user info of the did-save notification: the event's, the query generation where a store shows such, and the history token
    /// where one records the save.
    func savedInfo(of context: NSManagedObjectContext) -> [AnyHashable: Any] {
        var info = context.savedGeneration.map(makeUserInfo) ?? userInfo
        if let token = context.savedToken { info[NSPersistentHistoryTokenKey] = token }
        return info
    }

    private func makeUserInfo(_ generation: NSQueryGenerationToken? = nil) -> [AnyHashable: Any] {
        var kinds = generation == nil ? 0 : 16
        if !inserted.isEmpty { kinds |= 1 }
        if !updated.isEmpty { kinds |= 2 }
        if !deleted.isEmpty { kinds |= 4 }
        if !refreshed.isEmpty { kinds |= 8 }
        let form = UserInfoForm.all[kinds]
        var info = form.info
        if kinds & 1 != 0 { info.values[form.places[0]] = insertedSet }
        if kinds & 2 != 0 { info.values[form.places[1]] = updatedSet }
        if kinds & 4 != 0 { info.values[form.places[2]] = deletedSet }
        if kinds & 8 != 0 { info.values[form.places[3]] = objectSet(refreshed) }
        if let generation { info.values[form.places[4]] = generation }
        return info
    }
}

/// A dictionary that has the keys of some kinds of changes already: a copy of it costs less than to hash them for each save.
private struct UserInfoForm: @unchecked Sendable {
    let info: [AnyHashable: Any]
    /// Where the value of each kind belongs.
    let places: [Dictionary<AnyHashable, Any>.Index]

    /// By the bits of the kinds: inserted, updated, deleted, refreshed, and 16 for the query generation.
    static let all = (0..<32).map(UserInfoForm.init)

    private init(kinds: Int) {
        let keys = [
            NSInsertedObjectsKey, NSUpdatedObjectsKey, NSDeletedObjectsKey, NSRefreshedObjectsKey,
            NSManagedObjectContextQueryGenerationKey,
        ]
        var info: [AnyHashable: Any] = [:]
        for (bit, key) in keys.enumerated() where kinds & 1 << bit != 0 { info[key] = 0 }
        self.info = info
        places = keys.map { info.index(forKey: $0) ?? info.endIndex }
    }
}
