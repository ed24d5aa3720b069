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
                persistentStoreCoordinator?.relatives.addMerger(self)
            } else {
                persistentStoreCoordinator?.relatives.removeMerger(self)
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
    ///   - contexts: contexts above these merge them first, since children read what their parents have.
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

    // MARK: Telling other contexts

    /// Tells contexts that merge by themselves what this one has saved.
    final func tellRelatives(of event: ContextEvent) {
        postObjectIDs(.didSaveIDs, changedKey: NSUpdatedObjectIDsKey, event.inserted, event.updated, event.deleted)
        guard requiredCoordinator.relatives.mergerCount.load(ordering: .relaxed) > 0 else { return }
        tellRelatives(of: ChangePayload(event), isSave: true)
    }

    /// Has other contexts merge: after a save the children and the siblings over the same coordinator or parent, after
    /// a merge the children.
    private func tellRelatives(of payload: ChangePayload, isSave: Bool) {
        for other in requiredCoordinator.relatives.mergers() where other !== self {
            guard other.parent === self || isSave && other.parent === parent else { continue }
            other.perform { other.merge(payload) }
        }
    }

    // MARK: Merging

    /// Merges changes; pending changes of this context stay.
    final func merge(_ payload: ChangePayload) {
        advanceGeneration()
        guard !payload.isEmpty else { return }
        processPendingChanges()
        guard !payload.invalidatesAll else { return refreshAllObjects() }
        link.holding(self) {}
        rowTime += 1
        for key in payload.inserted + payload.updated + payload.deleted { identityMap?.forgetVersion(key) }
        let known = payload.inserted.filter { registered($0) != nil }
        let inserted = registerRows(payload.inserted)
        let deleted = drop(payload.deleted)
        let refreshed = renew(payload.updated + known)
        let owners = payload.namesOwners ? [] : forgetMembers(among: payload.updated + payload.deleted)
        processChanges()
        // A changed row without an object may now belong to the results of a controller.
        let others =
            followers == nil ? [] : (payload.updated + known).map { registered($0) ?? object(for: $0) } + owners
        post(ContextEvent(inserted: inserted, deleted: deleted, refreshed: refreshed), followersOnly: others)
        // The event is not one of this context's own changes, so no save may use its sets.
        lastEvent = nil
        postObjectIDs(.didMergeIDs, changedKey: NSRefreshedObjectIDsKey, inserted, refreshed, deleted)
        guard requiredCoordinator.relatives.mergerCount.load(ordering: .relaxed) > 0 else { return }
        tellRelatives(of: payload, isSave: false)
    }

    /// Makes faults for new objects that are not registered yet.
    private func registerRows(_ keys: [ObjectKey]) -> ContiguousArray<NSManagedObject> {
        let faults = ContiguousArray(keys.compactMap { registered($0) == nil ? object(for: $0) : nil })
        for fault in faults { joinOthers(fault) }
        return faults
    }

    /// Removes objects whose rows are gone, also from other objects' pending changes.
    private func drop(_ keys: [ObjectKey]) -> ContiguousArray<NSManagedObject> {
        // An inserted object under the key of a deleted row is an undo of the deletion.
        let gone = ContiguousArray(keys.compactMap { registered($0) }.filter { !$0._state.has([.gone, .inserted]) })
        guard !gone.isEmpty else { return [] }
        forget(Set(gone))
        for object in gone {
            tracker.discard(object)
            withdraw(object)
            object._state.breakCycles()
        }
        if keepsObjects { letGo(gone) }
        return gone
    }

    /// Makes faults of the to-manys that objects may belong to or may have left, and answers the owners.
    ///
    /// Walks all objects of the context.
    private func forgetMembers(among keys: [ObjectKey]) -> [NSManagedObject] {
        var concerned: [(owner: Entity, index: Int)] = []
        for entity in Set(keys.map(\.entity)) {
            let info = runtime.infos[entity.value]
            let inverses =
                info.slotInverses.compactMap { $0 }
                + info.toManyRelationships.compactMap { $0.inverse.map { runtime.schema[$0] } }
            concerned += inverses.compactMap { inverse in
                inverse.toManyIndex.map { (runtime.schema[inverse.owner], $0) }
            }
        }
        if concerned.isEmpty { return [] }
        return allObjects.filter { object in
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

    /// Removes objects whose rows are gone from unsaved relationships, which would otherwise be saved leading nowhere.
    final func forget(_ gone: Set<NSManagedObject>) {
        for object in tracker.dirty where object._state.has(.dirty) && !gone.contains(object) { object.forget(gone) }
    }

    /// Brings objects that have values up to date and answers them; faults read the new row anyway.
    ///
    /// All detach their rows first, so that those with changes are read together. Pending deletions come last, so that
    /// their delete rules find the other objects up to date.
    private func renew(_ keys: [ObjectKey]) -> ContiguousArray<NSManagedObject> {
        var renewed: ContiguousArray<NSManagedObject> = []
        let present = keys.compactMap { registered($0) }.filter { $0._state.has(.persistent) && !$0.isLost }
        var pending = PendingTargets()
        var dirty: ContiguousArray<NSManagedObject> = []
        var changed: ContiguousArray<NSManagedObject> = []
        for object in present where !object._state.has(.deleted) {
            let wasFault = object._state.isFault
            if object._state.has(.dirty) {
                if SaveOperation.isChanged(object) { changed.append(object) }
                pending.note(object)
                dirty.append(object)
            } else {
                if !wasFault { object.willTurnIntoFault() }
                object.forgetInOwners()
                object._state.dropStoredRelationships()
                object._state.detachRow()
                joinOthers(object)
                if !wasFault { object.didTurnIntoFault() }
            }
            if !wasFault { renewed.append(object) }
        }
        readRowsAgain(dirty)
        for object in dirty {
            object.renewToManys()
            wakeRefreshed(object)
        }
        pending.apply(in: self)
        renewDeletions(of: present.filter { $0._state.has(.deleted) && !$0.isLost })
        // Both writers may have made the same change.
        for object in changed where !object._state.has(.based) { revertIfRestored(object) }
        return renewed
    }
}

extension NSManagedObject {
    /// Calls `body` with the state of each to-many that is stored; transient ones are left out.
    final func forEachStoredToMany(_ body: (Int, ToMany) -> Void) {
        forEachToMany { index, members in
            if !relationship(toMany: index).description.isTransient { body(index, members) }
        }
    }

    /// Reads the members again, below pending changes.
    final func renewToManys() {
        forEachStoredToMany { index, members in
            if members.isChanged { renewMembers(at: index, members) } else { members.becomeFault() }
        }
    }

    /// Makes faults of the to-manys of others that contain this object according to its row. Called before the row is
    /// detached: the next row may name other owners, and the save that moved the object need not have reported these.
    final func forgetInOwners() {
        guard let read = lastRead, let context = managedObjectContext else { return }
        for (slot, inverse) in _state.info.slotInverses.enumerated() {
            guard let index = inverse?.toManyIndex, let key = targetKey(at: slot, of: read),
                let owner = context.registered(context.currentKey(key, of: self, slot)),
                let members = owner.toManyState(index),
                !members.isFault, !owner.relationship(toMany: index).description.isTransient
            else { continue }
            if members.hasOrder { owner.renewMembers(at: index, members) } else { members.becomeFault() }
        }
    }

    /// Forgets members that were read before the object's row: a delete rule would miss members that another writer
    /// added in between, and the version of the row, which the save compares, would not reveal it.
    final func dropMembersOlderThanRow() {
        forEachStoredToMany { index, members in
            guard members.mayPrecedeRow, !members.isFault else { return }
            if members.isChanged { renewMembers(at: index, members) } else { members.becomeFault() }
        }
    }

    /// Reads the members of one to-many again, below pending changes.
    final func renewMembers(at index: Int, _ members: ToMany) {
        members.becomeFault()
        let present = Set(committedMembers(at: index))
        // Members that cannot be read now are compared once they are read.
        if members.isFault { return }
        // What both writers have changed is no change any more.
        let isOrdered = relationship(toMany: index).isOrdered
        for member in members.added.objects where present.contains(member) {
            members.unlink(member, isOrdered: isOrdered)
        }
        for member in members.removed.objects where !present.contains(member) { members.link(member) }
        guard let order = members.order else { return }
        let named = Set(order)
        members.setOrder(
            order.filter { present.contains($0) || members.hasAdded($0) }
                + committedMembers(at: index).filter { !named.contains($0) && !members.hasRemoved($0) })
    }

    /// Removes objects whose rows are gone from this object's unsaved relationships.
    fileprivate final func forget(_ gone: Set<NSManagedObject>) {
        if let overlay = _state.overlay {
            for slot in 0..<_state.info.layout.slotCount where kind(slot) == .toOne && overlay.isPresent(slot) {
                if let target = overlay.object(slot), gone.contains(target) { overlay.setNull(slot, .toOne) }
            }
        }
        forEachToMany { index, members in
            let isOrdered = relationship(toMany: index).isOrdered
            for member in members.added.objects + members.removed.objects where gone.contains(member) {
                if members.hasAdded(member) {
                    members.unlink(member, isOrdered: isOrdered)
                } else {
                    members.link(member)
                }
            }
            members.removeFromOrder { gone.contains($0) }
        }
    }
}
