// Replacing all members of a to-many: only the differences are written, on both sides.

import CoreDataValues

extension RelationshipFixup {
    /// Replaces all members. An ordered relationship takes the order of `new`; repetitions count once.
    ///
    /// Only members that come or go are written, with their inverse.
    func setMembers(_ index: Int, _ new: ContiguousArray<NSManagedObject>) {
        if object._state.has(.waking) { return setMembersSilently(index, new) }
        let relationship = object.relationship(toMany: index)
        let present = ContiguousArray(object.members(at: index))
        if present.isSame(as: new) { return }
        let change = MemberComparison(present: present, wanted: new)
        for member in change.came { object.check(member, fits: relationship) }
        if relationship.isOrdered {
            return present.isSame(as: change.wanted) ? () : replaceOrder(index, change.gone, change.came, change.wanted)
        }
        let isPaired = opposite(of: relationship)?.isToMany ?? true
        for member in change.gone {
            if isPaired { writeLink(index, member, added: false) } else { removeMember(index, member) }
        }
        for member in change.came {
            if isPaired { writeLink(index, member, added: true) } else { addMember(index, member) }
        }
    }

    private func opposite(of relationship: ResolvedRelationship) -> ResolvedRelationship? {
        relationship.inverse.map { object._state.info.schema[$0] }
    }

    /// Replaces the members of an ordered to-many as a whole: one by one, each step would search all the others.
    ///
    /// The former order is logged first, so that an undo restores it last, when all members are back.
    private func replaceOrder(
        _ index: Int, _ gone: ContiguousArray<NSManagedObject>, _ came: ContiguousArray<NSManagedObject>,
        _ order: ContiguousArray<NSManagedObject>
    ) {
        object.log { .order(object, toMany: Int32(index), old: ContiguousArray(object.members(at: index))) }
        let place = opposite(of: object.relationship(toMany: index))?.place
        let members = object.makeToManyState(index)
        for member in gone {
            release(member, index, from: place)
            members.unlink(member, isOrdered: false)
        }
        leaveFormerOwners(came, index, at: place)
        for member in came {
            linkBack(member, index, at: place)
            members.link(member)
        }
        members.setOrder(order)
        object.didChangeRelationship()
    }

    /// Clears the inverse of a member that goes.
    private func release(_ member: NSManagedObject, _ index: Int, from opposite: PropertyPlace?) {
        switch opposite {
        case .slot(let slot):
            if member.target(at: slot) === object { return member.fixup.writeTarget(slot, nil, object) }
            logLink(index, member, added: false)
            member.fixup.restateTarget(slot)
        case .toMany(let back):
            let isOther = member !== object || back != index
            // Logged before the link, so that an undo restores the place after it.
            if isOther { member.fixup.logPosition(of: object, toMany: back) }
            logLink(index, member, added: false)
            if isOther { member.fixup.unlink(object, toMany: back) }
        case nil: logLink(index, member, added: false)
        case .fetched: break
        }
    }

    /// Removes members that come from the orders of their former owners, writing each owner once.
    private func leaveFormerOwners(_ came: ContiguousArray<NSManagedObject>, _ index: Int, at opposite: PropertyPlace?)
    {
        guard case .slot(let slot) = opposite else { return }
        var owners: [ObjectIdentifier: (owner: NSManagedObject, leaving: ContiguousArray<NSManagedObject>)] = [:]
        for member in came {
            guard let owner = member.target(at: slot), owner !== object else { continue }
            owners[ObjectIdentifier(owner), default: (owner, [])].leaving.append(member)
        }
        for (owner, leaving) in owners.values {
            let present = ContiguousArray(owner.members(at: index))
            owner.log { .order(owner, toMany: Int32(index), old: present) }
            let gone = objectSet(leaving)
            let members = owner.makeToManyState(index)
            for member in leaving { members.unlink(member, isOrdered: false) }
            members.setOrder(present.filter { !gone.contains($0) })
            owner.didChangeRelationship()
        }
    }

    /// Sets the inverse of a member that comes and has left its former owner.
    private func linkBack(_ member: NSManagedObject, _ index: Int, at opposite: PropertyPlace?) {
        switch opposite {
        case .slot(let slot):
            if member.target(at: slot) === object {
                // Only the member's side had the pair. Logged, so that an undo removes the member again.
                logLink(index, member, added: true)
                member.fixup.restateTarget(slot)
            } else {
                member.fixup.writeTarget(slot, object)
            }
        case .toMany(let back):
            logLink(index, member, added: true)
            if member !== object || back != index { member.fixup.link(object, toMany: back) }
        case nil: logLink(index, member, added: true)
        case .fetched: break
        }
    }

    /// Replaces the members on this side only, without undo and change tracking, as primitive setters do.
    func setMembersSilently(_ index: Int, _ new: ContiguousArray<NSManagedObject>) {
        let relationship = object.relationship(toMany: index)
        for member in new { object.check(member, fits: relationship) }
        let change = MemberComparison(present: ContiguousArray(object.members(at: index)), wanted: new)
        let members = object.makeToManyState(index)
        for member in change.gone { members.unlink(member, isOrdered: false) }
        for member in change.came { members.link(member) }
        if relationship.isOrdered { members.setOrder(change.wanted) }
    }
}
