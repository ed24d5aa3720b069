// Writing to-manys, member by member.

import CoreDataValues

extension RelationshipFixup {
    /// Adds a member and sets its inverse.
    func addMember(_ index: Int, _ member: NSManagedObject) {
        let relationship = object.relationship(toMany: index)
        object.check(member, fits: relationship)
        if object._state.has(.waking) {
            if !object.isMember(member, at: index) { link(member, toMany: index) }
            return
        }
        guard let inverse = relationship.inverse else {
            if !object.isMember(member, at: index) { writeLink(index, member, added: true) }
            return
        }
        switch object._state.info.schema[inverse].place {
        case .slot(let slot):
            if member._state.isFault { member.fireUnseen(writing: slot) }
            if member.target(at: slot) === object {
                admit(member, toMany: index, slot)
            } else {
                member.fixup.setTarget(slot, object)
            }
        case .toMany(let opposite):
            guard !object.isMember(member, at: index) || object.isMember(of: member, at: index, opposite) == false
            else { return }
            writeLink(index, member, added: true)
        case .fetched: break
        }
    }

    func removeMember(_ index: Int, _ member: NSManagedObject) {
        let relationship = object.relationship(toMany: index)
        if object._state.has(.waking) {
            if object.isMember(member, at: index) { unlink(member, toMany: index) }
            return
        }
        guard let inverse = relationship.inverse else {
            if object.isMember(member, at: index) { writeLink(index, member, added: false) }
            return
        }
        switch object._state.info.schema[inverse].place {
        case .slot(let slot):
            if member._state.isFault { member.fireUnseen(writing: slot) }
            if member.target(at: slot) === object {
                member.fixup.setTarget(slot, nil)
            } else if object.toManyState(index)?.isFault == false, object.isMember(member, at: index) {
                logLink(index, member, added: false)
                unlink(member, toMany: index)
                member.fixup.restateTarget(slot)
            }
        case .toMany(let opposite):
            guard object.isMember(member, at: index) || object.isMember(of: member, at: index, opposite) == true else {
                return
            }
            writeLink(index, member, added: false)
        case .fetched: break
        }
    }

    /// Adds a member at a place.
    func insertMember(_ index: Int, _ member: NSManagedObject, at place: Int) {
        addMember(index, member)
        if place < object.countOfMembers(at: index) - 1 { move(member, toMany: index, to: place) }
    }

    /// Puts the present members of an ordered to-many into the order of a list; members that are not in it come last.
    func arrange(
        _ index: Int, _ present: ContiguousArray<NSManagedObject>, as list: ContiguousArray<NSManagedObject>
    ) {
        let change = MemberComparison(present: present, wanted: list)
        var order = change.wanted
        if !change.came.isEmpty {
            let missing = objectSet(change.came)
            order.removeAll { missing.contains($0) }
        }
        order += change.gone
        guard !present.isSame(as: order) else { return }
        object.log { .order(object, toMany: Int32(index), old: present) }
        object.makeToManyState(index).setOrder(order)
        object.didChangeRelationship()
    }

    /// Makes or ends a pair that no to-one stores: on this side and, if there is an inverse, on the other.
    func writeLink(_ index: Int, _ member: NSManagedObject, added: Bool) {
        let relationship = object.relationship(toMany: index)
        let opposite = relationship.inverse.flatMap { object._state.info.schema[$0].toManyIndex }
        if !added {
            logPosition(of: member, toMany: index)
            if let opposite { member.fixup.logPosition(of: object, toMany: opposite) }
        }
        logLink(index, member, added: added)
        if added { link(member, toMany: index) } else { unlink(member, toMany: index) }
        guard let opposite, !(member === object && opposite == index) else { return }
        if added { member.fixup.link(object, toMany: opposite) } else { member.fixup.unlink(object, toMany: opposite) }
    }

    /// Adds a member on this side only.
    func link(_ member: NSManagedObject, toMany index: Int) {
        let members = object.makeToManyState(index)
        if object.relationship(toMany: index).isOrdered { putLast(member, in: members, at: index) }
        if !members.isFault, member._state.has(.persistent) { correct(members, for: member, isStored: false) }
        members.link(member)
        object.didChangeRelationship()
    }

    /// Puts a new member last. While members only come last or go, the order is the stored order followed by the added
    /// members, and nothing has to be read for it.
    private func putLast(_ member: NSManagedObject, in members: ToMany, at index: Int) {
        if !members.hasOrder, object._state.has(.persistent),
            !members.hasRemoved(member) || returnsToEnd(member, in: members)
        {
            return
        }
        let mayStand = member._state.has(.persistent) && (members.hasOrder || !members.hasRemoved(member))
        openOrder(of: members, at: index)
        if !mayStand || !members.isOrdered(member) { members.appendToOrder(member) }
    }

    /// Whether an undo or redo restores the last of the stored members, whose stored place is its place again.
    private func returnsToEnd(_ member: NSManagedObject, in members: ToMany) -> Bool {
        members.added.isEmpty && object._state.identityMap?.context?.tracker.isReplaying == true
            && members.isStoredLast(member, store: object._state.pointee.store)
    }

    func unlink(_ member: NSManagedObject, toMany index: Int) {
        let members = object.makeToManyState(index)
        let isOrdered = object.relationship(toMany: index).isOrdered
        if isOrdered {
            // The others stay in order. But finding a place among them costs a search for each member that went, so
            // after a few of these a list is made.
            if !members.hasOrder, max(members.removed.count, members.added.gaps) >= ToMany.unlisted,
                !members.isLastAdded(member)
            {
                openOrder(of: members, at: index)
            }
            if members.hasOrder { members.removeFromOrder(member) }
        }
        if !members.isFault, member._state.has(.persistent) { correct(members, for: member, isStored: true) }
        members.unlink(member, isOrdered: isOrdered)
        object.didChangeRelationship()
    }

    /// Gives an ordered to-many a list of its order, in which later changes are made.
    private func openOrder(of members: ToMany, at index: Int) {
        if !members.hasOrder { members.setOrder(ContiguousArray(object.membersToWrite(at: index))) }
    }

    /// Moves a member of an ordered to-many to a place.
    func move(_ member: NSManagedObject, toMany index: Int, to place: Int) {
        guard let present = object.position(of: member, toMany: index) else { return }
        object.log { .position(object, toMany: Int32(index), member: member, index: present) }
        let members = object.makeToManyState(index)
        openOrder(of: members, at: index)
        members.move(from: present, to: place)
        object.didChangeRelationship()
    }

    func logPosition(of member: NSManagedObject, toMany index: Int) {
        // Only an undo needs places.
        guard object.relationship(toMany: index).isOrdered, object._state.identityMap?.context?.undoManager != nil
        else { return }
        object.log {
            // A link puts it back last anyway.
            if let members = object.toManyState(index), !members.hasOrder {
                if members.isLastAdded(member) { return nil }
                if members.isFault, !members.isChanged, members.isStoredLast(member, store: object._state.pointee.store)
                {
                    return nil
                }
            }
            guard let place = object.position(of: member, toMany: index) else { return nil }
            return .position(object, toMany: Int32(index), member: member, index: place)
        }
    }

    /// Logs that a member came or went, unless undoing the member's insertion takes it back anyway, as it does where
    /// there is an inverse.
    func logLink(_ index: Int, _ member: NSManagedObject, added: Bool) {
        guard !member._state.has(.fresh) || object.relationship(toMany: index).inverse == nil else { return }
        object.log { .link(object, toMany: Int32(index), member: member, added: added) }
    }

    /// Clears all relationships, so that nothing leads to an object that leaves.
    func tearDownRelationships() {
        for slot in 0..<object._state.info.layout.slotCount where object._state.info.slotRelationships[slot] != nil {
            if object.target(at: slot) != nil { setTarget(slot, nil) }
        }
        for index in 0..<object._state.info.entity.toMany.count { setMembers(index, []) }
    }

    /// Ends unsaved pairs, since there will be no row that they could lead to.
    func leavePendingPairs() {
        for slot in 0..<object._state.info.layout.slotCount where object._state.info.slotRelationships[slot] != nil {
            guard object._state.overlay?.isPresent(slot) == true, object.target(at: slot) != nil else { continue }
            object.noteMissed(isPair: true)
            setTarget(slot, nil)
        }
        object.forEachToMany { index, members in
            if !members.added.isEmpty { object.noteMissed(isPair: true) }
            for member in members.added.objects { removeMember(index, member) }
        }
    }
}
