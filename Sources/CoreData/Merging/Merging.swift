// Takes what another context or another writer has saved over into a context.

import CoreDataValues
import Foundation

/// One merge: new rows become faults, objects that have values are refreshed, deleted ones leave the context. Pending
/// changes stay on top.
///
/// Used once, on the context's queue, after its pending changes were processed.
struct Merging {
    private let payload: ChangePayload
    private let context: NSManagedObjectContext

    init(_ payload: ChangePayload, into context: NSManagedObjectContext) {
        self.payload = payload
        self.context = context
    }

    func run() {
        // First the context takes over the permanent keys that saves have assigned.
        context.link.holdingAncestors(of: context) {}
        context.faulting.rowTime += 1
        for key in payload.inserted + payload.updated + payload.deleted { context.identityMap?.forgetVersion(key) }
        let changed = payload.updated + payload.inserted.filter { context.registered($0) != nil }
        let inserted = registerRows()
        let deleted = dropDeleted()
        let refreshed = refresh(changed)
        let owners = payload.namesOwners ? [] : forgetMembers()
        context.processChanges()
        // A fetched results controller may gain a changed row that has no object here yet.
        let others =
            context.followers == nil
            ? [] : changed.map { context.registered($0) ?? context.object(for: $0) } + owners
        context.post(
            ContextEvent(inserted: inserted, deleted: deleted, refreshed: refreshed), followersOnly: others)
        // A save uses the sets of the last event, but this event is not one of the context's own changes.
        context.lastEvent = nil
        context.postObjectIDs(.didMergeIDs, changedKey: NSRefreshedObjectIDsKey, inserted, refreshed, deleted)
    }

    /// Makes faults for new objects that are not registered yet.
    private func registerRows() -> ContiguousArray<NSManagedObject> {
        let faults = ContiguousArray(
            payload.inserted.compactMap { context.registered($0) == nil ? context.object(for: $0) : nil })
        for fault in faults { context.faulting.joinOthers(fault) }
        return faults
    }

    /// Removes objects whose rows are gone, also from other objects' pending changes.
    private func dropDeleted() -> ContiguousArray<NSManagedObject> {
        // An object that is inserted under the key of a deleted row is the undo of that deletion, and stays.
        let gone = ContiguousArray(
            payload.deleted.compactMap { context.registered($0) }.filter { !$0._state.has([.detached, .inserted]) })
        guard !gone.isEmpty else { return [] }
        context.forget(Set(gone))
        for object in gone {
            context.tracker.discard(object)
            context.withdraw(object)
            object._state.breakCycles()
        }
        if context.keepsObjects { context.letGo(gone) }
        return gone
    }

    /// Makes faults of the to-manys that a changed object may have joined or left, and returns their owners.
    ///
    /// Looks at every object of the context.
    private func forgetMembers() -> [NSManagedObject] {
        let runtime = context.runtime
        var concerned: [(owner: Entity, index: Int)] = []
        for entity in Set((payload.updated + payload.deleted).map(\.entity)) {
            let info = runtime.infos[entity.value]
            let inverses =
                info.slotInverses.compactMap { $0 }
                + info.toManyRelationships.compactMap { $0.inverse.map { runtime.schema[$0] } }
            concerned += inverses.compactMap { inverse in
                inverse.toManyIndex.map { (runtime.schema[inverse.owner], $0) }
            }
        }
        if concerned.isEmpty { return [] }
        return context.allObjects.filter { object in
            var isOwner = false
            for (owner, index) in concerned where object._state.info.entity.isKind(of: owner) {
                guard let members = object.toManyState(index), !members.isFault,
                    !object.relationship(toMany: index).description.isTransient,
                    object._state.has(.persistent), !object.isLost
                else { continue }
                if members.isChanged { object.renewMembers(at: index, members) } else { members.becomeFault() }
                isOwner = true
            }
            return isOwner
        }
    }

    /// Refreshes the objects that have values, and returns them. Faults read the new row when they fire.
    ///
    /// All rows are detached before one is read, so that the objects with changes are read together. Pending deletions
    /// come last: their delete rules must find the other objects refreshed.
    private func refresh(_ keys: [ObjectKey]) -> ContiguousArray<NSManagedObject> {
        var refreshed: ContiguousArray<NSManagedObject> = []
        let present = keys.compactMap { context.registered($0) }
            .filter { $0._state.has(.persistent) && !$0.isLost }
        var pending = PendingToOnes()
        var dirty: ContiguousArray<NSManagedObject> = []
        var changed: ContiguousArray<NSManagedObject> = []
        for object in present where !object._state.has(.deleted) {
            let wasFault = object._state.isFault
            if object._state.has(.dirty) {
                if object.countsAsChanged { changed.append(object) }
                pending.note(object)
                dirty.append(object)
            } else {
                refault(object, wasFault: wasFault)
            }
            if !wasFault { refreshed.append(object) }
        }
        context.readRowsAgain(dirty)
        for object in dirty {
            object.renewToManys()
            context.wakeRefreshed(object)
        }
        pending.apply(in: context)
        context.renewDeletions(of: present.filter { $0._state.has(.deleted) && !$0.isLost })
        // If both writers made the same change, the object no longer differs from its row and is unchanged.
        for object in changed where !object._state.has(.childBase) { context.revertIfRestored(object) }
        return refreshed
    }

    private func refault(_ object: NSManagedObject, wasFault: Bool) {
        if !wasFault { object.willTurnIntoFault() }
        object.forgetInOwners()
        object._state.dropStoredRelationships()
        object._state.detachRow()
        context.faulting.joinOthers(object)
        if !wasFault { object.didTurnIntoFault() }
    }
}

extension NSPersistentStoreCoordinator {
    /// Drops cached rows that were changed elsewhere.
    final func forgetRows(of payload: ChangePayload) {
        if payload.invalidatesAll { return rowCache.removeAll() }
        rowCache.forget(payload.inserted + payload.updated + payload.deleted)
    }
}
