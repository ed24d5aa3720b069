// What happens to the inverses of an object's relationships when a refresh drops its changes (I-3).

import CoreDataValues

extension NSManagedObjectContext {
    /// Changes the inverses of an object's to-ones as if each to-one were set back to the target in its row. An undo
    /// does not reverse this.
    ///
    /// - Returns: the slots of one-to-ones whose saved target belongs to another object by now.
    final func revertTargets(of object: NSManagedObject) -> [Int] {
        guard object._state.pointee.overlay != nil else { return [] }
        var lost: [Int] = []
        writing(as: .refresh) {
            object._state.forEachPresentToOne { slot, overlay in
                guard let back = object._state.info.slotInverses[slot] else { return }
                let (present, saved) = (overlay.object(slot), object.committedTarget(at: slot))
                guard present !== saved else { return }
                if let present {
                    object.parts(from: present, back.place)
                    if !present._state.has(.deleted), object.relationship(at: slot).description.isTransient {
                        revertIfRestored(present)
                    }
                }
                if let saved, !saved._state.has(.detached), !object.returns(to: saved, back.place) { lost.append(slot) }
            }
        }
        return lost
    }

    /// Keeps the changes of a refreshed object that follow from changes of other objects: members that came or went,
    /// and the loss of targets that others have taken.
    final func keepChangesOfOthers(_ object: NSManagedObject, _ lost: [Int]) {
        if object.hasChangedToMany() {
            object.readOrdersAnew()
            tracker.mark(object, .updated)
        }
        writing(as: .refresh) { for slot in lost { object.fixup.writeTarget(slot, nil) } }
    }

    /// If an object is deleted, has its delete rules applied once more, because another object leads to it again.
    fileprivate final func reopen(_ object: NSManagedObject) {
        guard object._state.has(.deleted), object._state.has(.rulesApplied) else { return }
        object._state.clear(.rulesApplied)
        tracker.deletePropagation.reopen(object)
    }
}

extension NSManagedObject {
    /// Removes this object from the inverse of a target that it gives up.
    fileprivate func parts(from target: NSManagedObject, _ place: PropertyPlace) {
        switch place {
        case .toMany(let index):
            let isTransient = target.relationship(toMany: index).description.isTransient
            guard isTransient ? target.isMember(self, at: index) : target.toManyState(index)?.hasAdded(self) == true
            else { return }
            target.fixup.unlink(self, toMany: index)
            target.dropOrder(index, butFor: self)
        case .slot(let slot): if target.target(at: slot) === self { target.fixup.writeTarget(slot, nil) }
        case .fetched: break
        }
    }

    /// Puts this object back into the inverse of the target in its row. Returns false if another object has taken its
    /// place there.
    fileprivate func returns(to target: NSManagedObject, _ place: PropertyPlace) -> Bool {
        switch place {
        case .toMany(let index):
            guard target.toManyState(index)?.hasRemoved(self) == true else { return true }
            target.fixup.link(self, toMany: index)
            target.dropOrder(index, butFor: self)
        case .slot(let slot):
            if let other = target.target(at: slot), other !== self { return false }
            target.fixup.writeTarget(slot, self)
        case .fetched: return true
        }
        managedObjectContext?.reopen(target)
        return true
    }

    /// Drops an order that differs from the stored one only in the place of one member.
    private func dropOrder(_ index: Int, butFor member: NSManagedObject) {
        guard let members = toManyState(index), let order = members.order, members.added.isEmpty,
            members.removed.isEmpty,
            order.lazy.filter({ $0 !== member }).elementsEqual(
                committedMembers(at: index).lazy.filter { $0 !== member }, by: ===)
        else { return }
        members.dropOrder()
    }

    /// The to-manys that a refresh must keep: transient ones, and those with pending additions or removals, since these
    /// are changes of the members too.
    final func sharedToManys() -> [Int] {
        var shared: [Int] = []
        forEachToMany { index, members in
            let relationship = relationship(toMany: index)
            guard relationship.inverse != nil,
                relationship.description.isTransient || !members.added.isEmpty || !members.removed.isEmpty
            else { return }
            shared.append(index)
        }
        return shared
    }

    /// Makes the stored to-manys faults. One with an order of its own is read again at once, since that order names its
    /// members.
    final func readOrdersAnew() {
        forEachStoredToMany { index, members in
            if members.hasOrder { renewMembers(at: index, members) } else { members.becomeFault() }
        }
    }
}
