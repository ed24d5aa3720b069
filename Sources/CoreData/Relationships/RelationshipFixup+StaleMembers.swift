// Members that were read at another time than the inverse sides of their pairs, and how a write makes both agree (I-3).

import CoreDataValues

extension RelationshipFixup {
    /// Corrects the stored members of a to-many so that, for one member, they agree with what its own side said before
    /// this write.
    ///
    /// Another writer may have saved the pair between the two reads. The write then becomes a change of both sides:
    /// they agree at once, the save compares both rows, and the pair is written even if only one side had it.
    func correct(_ members: ToMany, for member: NSManagedObject, isStored: Bool) {
        guard object._state.has(.persistent), let context = object._state.identityMap?.context else { return }
        object.compare(members, context)
        guard !members.hasAdded(member), !members.hasRemoved(member) else { return }
        members.correct(member._state.key, isStored, store: object._state.pointee.store)
    }

    /// Adds a member whose to-one leads here although the members as read lack it, and answers whether it did. An undo
    /// does not: it writes the sides one after the other.
    @discardableResult
    func admit(_ member: NSManagedObject, toMany index: Int, _ slot: Int) -> Bool {
        guard object.toManyState(index)?.isFault == false,
            object._state.identityMap?.context?.tracker.isReplaying != true,
            !object.isMember(member, at: index)
        else { return false }
        logLink(index, member, added: true)
        link(member, toMany: index)
        member.fixup.restateTarget(slot)
        return true
    }

    /// Writes the present target of a to-one as a change, and the other side if it disagrees.
    func stateTarget(_ slot: Int, _ target: NSManagedObject) {
        let place = object._state.has(.waking) ? nil : object._state.info.slotInverses[slot]?.place
        if case .toMany(let index) = place, target.fixup.admit(object, toMany: index, slot) { return }
        writeTarget(slot, target, target)
        guard case .slot(let opposite) = place, !target._state.isFault,
            object.managedObjectContext?.tracker.isReplaying != true
        else { return }
        let former = target.target(at: opposite)
        guard former !== object else { return }
        target.fixup.writeTarget(opposite, object, former)
        former?.fixup.leaves(target, slot)
    }
}

extension NSManagedObject {
    /// Forgets additions and removals that the members read since reflect already.
    final func compare(_ members: ToMany, _ context: NSManagedObjectContext?) {
        context?.replaceTemporaryKeys(of: members, store: _state.pointee.store)
        members.compare(store: _state.pointee.store)
    }

    /// Whether an object belongs to this context and to an entity that a to-many leads to.
    final func mayHold(_ other: NSManagedObject, at index: Int) -> Bool {
        other._state.pointee.identityMap == _state.pointee.identityMap
            && relationship(toMany: index).accepts(other._state.pointee.entity)
    }

    /// Whether the other side of a many-to-many has a pair; nil if that side was not read.
    final func isMember(of other: NSManagedObject, at index: Int, _ inverse: Int) -> Bool? {
        guard mayHold(other, at: index), other.toManyState(inverse)?.isFault == false else { return nil }
        return other.isMember(self, at: inverse)
    }
}

extension ToMany {
    /// Makes the stored members include a row or not. A row that is added comes last.
    fileprivate func correct(_ key: ObjectKey, _ isStored: Bool, store: UInt16) {
        guard held(key, store: store) != isStored else { return }
        let known = storedKeys(in: store)
        setStored(.keys(isStored ? known + [key] : known.filter { $0 != key }))
    }
}
