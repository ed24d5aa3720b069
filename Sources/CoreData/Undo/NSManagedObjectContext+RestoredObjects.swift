// An undo restores deleted objects under other keys than their rows had. Here those who still name the former keys are
// led to the restored objects.

import CoreDataValues

extension NSManagedObjectContext {
    /// Makes relationships without inverse that name a former key lead to the restored object. No delete rule has
    /// cleared them, so the log does not have them. Objects that are not registered here, or have read their members
    /// since, do not lead to the restored ones any more.
    final func replaceKeys(_ returned: [ObjectKey: NSManagedObject]) {
        var renamed: [ObjectKey: NSManagedObject] = [:]
        for (key, object) in returned where !object.isLost && object._state.key != currentKey(key) {
            renamed[currentKey(key)] = object
        }
        guard !renamed.isEmpty else { return }
        for object in allObjects where object._state.has(.persistent) && !object._state.has([.deleted, .detached]) {
            object.replaceTargetKeys(renamed)
            object.forEachStoredToMany { index, members in object.replaceMemberKeys(index, members, renamed) }
        }
    }
}

extension NSManagedObject {
    fileprivate func replaceTargetKeys(_ renamed: [ObjectKey: NSManagedObject]) {
        guard let read = lastRead, let context = managedObjectContext else { return }
        for (slot, relationship) in _state.info.slotRelationships.enumerated() {
            guard let relationship, relationship.inverse == nil, _state.overlay?.isPresent(slot) != true,
                let key = targetKey(at: slot, of: read), let target = renamed[context.currentKey(key, of: self, slot)]
            else { continue }
            fixup.writeTarget(slot, target, nil)
        }
    }

    fileprivate func replaceMemberKeys(_ index: Int, _ members: ToMany, _ renamed: [ObjectKey: NSManagedObject]) {
        guard relationship(toMany: index).inverse == nil, !members.isFault else { return }
        managedObjectContext?.replaceTemporaryKeys(of: members, store: _state.pointee.store)
        for (key, member) in renamed where members.held(key, store: _state.pointee.store) {
            guard place(of: key, in: members) != nil else { continue }
            log { .link(self, toMany: Int32(index), member: member, added: true) }
            readmit(member, formerly: key, toMany: index)
        }
    }

    /// Adds a restored member in the place of its former row, on this side only.
    final func readmit(_ member: NSManagedObject, formerly key: ObjectKey, toMany index: Int) {
        let members = makeToManyState(index)
        managedObjectContext?.replaceTemporaryKeys(of: members, store: _state.pointee.store)
        let key = managedObjectContext?.currentKey(key) ?? key
        let place = place(of: key, in: members)
        if members.held(key, store: _state.pointee.store) { members.dropStored(key, store: _state.pointee.store) }
        if !isMember(member, at: index) { fixup.link(member, toMany: index) }
        if let place, relationship(toMany: index).isOrdered { fixup.move(member, toMany: index, to: place) }
    }

    /// The place of a row among the present members; nil if it was removed.
    private func place(of key: ObjectKey, in members: ToMany) -> Int? {
        let (gone, store) = (members.removed.objects, _state.pointee.store)
        if let order = members.order { return order.firstIndex { $0._state.key == key } }
        guard !gone.contains(where: { $0._state.key == key }), let place = members.storedPlace(of: key, store: store)
        else { return nil }
        return place - gone.count { (members.storedPlace(of: $0._state.key, store: store) ?? place) < place }
    }
}

extension ToMany {
    /// Forgets a member whose row is gone, and the fault that was made for it. The other stored keys stay, even if they
    /// are older than the save: an undo may restore more of what the save deleted.
    fileprivate func dropStored(_ key: ObjectKey, store: UInt16) {
        setStored(.keys(storedKeys(in: store).filter { $0 != key }))
        removeFromOrder { $0._state.key == key }
    }
}
