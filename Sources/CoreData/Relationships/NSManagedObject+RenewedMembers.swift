// Members that are read again after another writer has saved.

import CoreDataValues

extension NSManagedObject {
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
}
