// One member of one to-many during a merge: what the store has of it, and what is to be.

import CoreDataValues

extension NSManagedObject {
    /// Makes what this object knows of one member follow from whether the store has the pair and whether there is to be one,
    /// whatever was known and pending before. The other side is settled by whoever settles this one.
    final func merge(_ member: NSManagedObject, toMany index: Int, isStored: Bool, isPresent: Bool) {
        managedObjectContext?.saveMemory?.remember(self)
        let members = makeToManyState(index)
        members.setStored(member._state.key, isStored)
        members.merge(member, isStored: isStored, isPresent: isPresent)
        if relationship(toMany: index).isOrdered { updateOrder(for: member, isPresent: isPresent, index, members) }
        if isStored != isPresent { didChangeRelationship() } else { leaveSaveIfClean() }
    }

    /// Keeps the order in step with the members.
    private func updateOrder(for member: NSManagedObject, isPresent: Bool, _ index: Int, _ members: ToMany) {
        if members.hasOrder {
            if !isPresent {
                members.removeFromOrder(member)
            } else if !members.isOrdered(member) {
                members.appendToOrder(member)
            }
        } else if _state.has(.persistent) {
            // Read when a program asks for it, with what came and went here on top.
            members.becomeFault()
        } else if members.isChanged {
            members.setOrder(ContiguousArray(self.members(at: index)))
        }
    }

    /// Makes the present order one of this object's own, so that members which leave the stored ones keep their places in it.
    final func keepOrder(ofMembers index: Int) {
        guard relationship(toMany: index).isOrdered, let members = toManyState(index), !members.hasOrder,
            !members.isFault
        else { return }
        managedObjectContext?.saveMemory?.remember(self)
        members.setOrder(ContiguousArray(self.members(at: index)))
        didChangeRelationship()
    }
}

extension ToMany {
    /// Makes what is pending for one member follow from whether it is stored and whether it is a member now.
    fileprivate func merge(_ member: NSManagedObject, isStored: Bool, isPresent: Bool) {
        if hasAdded(member) { unlink(member, isOrdered: true) } else if hasRemoved(member) { link(member) }
        if isPresent, !isStored { link(member) }
        if isStored, !isPresent { unlink(member, isOrdered: true) }
    }

    /// Makes what is known of the stored members say whether one is among them. Members that were not read stay unread.
    func setStored(_ member: ObjectKey, _ isStored: Bool) {
        guard !isFault, member.store != 0, held(member, store: member.store) != isStored else { return }
        let known = storedKeys(in: member.store)
        setStored(.keys(isStored ? known + [member] : known.filter { $0 != member }))
    }

    /// The stored members as far as they were read.
    func storedKeys(in store: UInt16) -> ContiguousArray<ObjectKey> {
        switch base {
        case .fault: []
        case .keys(let keys): keys
        case .rows(let batches): ContiguousArray(batches.flatMap { $0.keys(inStore: store) })
        case .slices(let slices): slices.keys(inStore: store)
        }
    }
}
