// Merges one member of one to-many: is the pair stored, and should it exist?

import CoreDataValues

extension NSManagedObject {
    /// Sets one member's stored and pending state from whether the store has the pair and whether it should exist,
    /// regardless of the state before. The caller does the same for the inverse.
    final func merge(_ member: NSManagedObject, toMany index: Int, isStored: Bool, isPresent: Bool) {
        let stored = StoredState(self)
        let members = makeToManyState(index)
        stored.setStored(member._state.key, isStored, in: members)
        members.merge(member, isStored: isStored, isPresent: isPresent)
        if relationship(toMany: index).isOrdered {
            updateOrder(for: member, isPresent: isPresent, index, members, stored)
        }
        if isStored != isPresent { didChangeRelationship() } else { leaveSaveIfClean() }
    }

    /// Adds the member to the order or removes it.
    private func updateOrder(
        for member: NSManagedObject, isPresent: Bool, _ index: Int, _ members: ToMany, _ stored: StoredState
    ) {
        if members.hasOrder {
            if !isPresent {
                members.removeFromOrder(member)
            } else if !members.isOrdered(member) {
                members.appendToOrder(member)
            }
        } else if _state.has(.persistent) {
            // The order is read when a program asks for it, with the pending changes on top.
            stored.forget(members)
        } else if members.isChanged {
            stored.setOrder(ContiguousArray(self.members(at: index)), of: members)
        }
    }

    /// Stores the current order as a pending change, so that it survives a change of the stored members.
    final func keepOrder(ofMembers index: Int) {
        guard relationship(toMany: index).isOrdered, let members = toManyState(index), !members.hasOrder,
            !members.isFault
        else { return }
        StoredState(self).setOrder(ContiguousArray(self.members(at: index)), of: members)
        didChangeRelationship()
    }
}

extension ToMany {
    /// Sets the pending change of one member from whether it is stored and whether it should be a member.
    fileprivate func merge(_ member: NSManagedObject, isStored: Bool, isPresent: Bool) {
        if hasAdded(member) { unlink(member, isOrdered: true) } else if hasRemoved(member) { link(member) }
        if isPresent, !isStored { link(member) }
        if isStored, !isPresent { unlink(member, isOrdered: true) }
    }
}
