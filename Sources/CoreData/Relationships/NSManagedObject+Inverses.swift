// Writing relationships: whichever side is written, its inverse follows at once (I-3).

import CoreDataValues
import Foundation

extension NSManagedObject {
    // MARK: To-one

    /// Sets a to-one and its inverse.
    final func setTarget(_ slot: Int, _ new: NSManagedObject?) {
        if let new { check(new, fits: relationship(at: slot)) }
        if _state.isFault { fireUnseen(writing: slot) }
        replaceTarget(slot, target(at: slot), new)
    }

    /// Sets a to-one and its inverse, for a caller who knows the present target.
    final func replaceTarget(_ slot: Int, _ old: NSManagedObject?, _ new: NSManagedObject?) {
        guard let back = _state.info.slotInverses[slot], old !== new, !_state.has(.waking) else {
            if old === new, let new { return stateTarget(slot, new) }
            return writeTarget(slot, new, old)
        }
        switch back.place {
        case .toMany(let index):
            if back.isOrdered, let old { old.logPosition(of: self, toMany: index) }
            writeTarget(slot, new, old)
            old?.unlink(self, toMany: index)
            new?.link(self, toMany: index)
        case .slot(let opposite):
            writeTarget(slot, new, old)
            // An object that was its own target is written already.
            if old !== self || opposite != slot { old?.leaves(self, opposite) }
            if let new {
                if new._state.isFault { new.fireUnseen() }
                let former = new.target(at: opposite)
                new.writeTarget(opposite, self)
                if former !== self, former !== new || opposite != slot { former?.leaves(new, slot) }
            }
        case .fetched: break
        }
    }

    /// Clears a to-one side of a one-to-one that led to an object until now. An object that was its own target has the
    /// new one already.
    final func leaves(_ other: NSManagedObject, _ slot: Int) {
        if _state.isFault { fireUnseen() }
        if target(at: slot) === other { writeTarget(slot, nil) } else if other !== self { restateTarget(slot) }
    }

    /// Writes the present target of a to-one as a change. The two sides of the pair disagree, so another writer has
    /// changed one since it was read. The save must then compare this row, also if it is read again before, or if an
    /// undo takes the change back and a redo restores it. An undo writes the two sides one after the other and needs
    /// none of this.
    final func restateTarget(_ slot: Int) {
        guard let context = managedObjectContext, context.tracker.isReplaying != true else { return }
        writeTarget(slot, target(at: slot))
        context.detectConflicts(for: self)
    }

    /// Whether the changes contain a to-one with an inverse, even with the same target as the row.
    final var statesTarget: Bool {
        guard let overlay = _state.overlay else { return false }
        return _state.info.slotInverses.indices.contains { slot in
            _state.info.slotInverses[slot] != nil && overlay.isPresent(slot)
                && !_state.info.entity.slots[slot].isTransient
        }
    }

    /// Writes one to-one slot without its inverse.
    final func writeTarget(_ slot: Int, _ new: NSManagedObject?) { writeTarget(slot, new, target(at: slot)) }

    /// Writes one to-one slot without its inverse, for a caller who knows the present target.
    final func writeTarget(_ slot: Int, _ new: NSManagedObject?, _ old: NSManagedObject?) {
        let state = _state
        if !state.has(.gone), let context = state.identityMap?.context {
            if state.isFault { fireUnseen() }
            if state.info.hasTransientSlots { context.tracker.noteTransient(self, slot) }
            if context.tracker.isLogging, !state.has(.fresh), context.tracker.origin.isNoticed {
                context.tracker.log.append(.target(self, slot: Int32(truncatingIfNeeded: slot), old: old))
                if context.tracker.hasDeletionLogs { context.tracker.noteChange(to: new) }
            }
            context.tracker.touch(self)
        }
        let overlay = state.makeOverlay()
        if let new { overlay.set(slot, new as AnyObject) } else { overlay.setNull(slot, .toOne) }
    }

    // MARK: To-many

    /// Adds a member and sets its inverse.
    final func addMember(_ index: Int, _ member: NSManagedObject) {
        let relationship = relationship(toMany: index)
        check(member, fits: relationship)
        if _state.has(.waking) {
            if !isMember(member, at: index) { link(member, toMany: index) }
            return
        }
        guard let inverse = relationship.inverse else {
            if !isMember(member, at: index) { writeLink(index, member, added: true) }
            return
        }
        switch _state.info.schema[inverse].place {
        case .slot(let slot):
            if member._state.isFault { member.fireUnseen(writing: slot) }
            if member.target(at: slot) === self {
                admit(member, toMany: index, slot)
            } else {
                member.setTarget(slot, self)
            }
        case .toMany(let opposite):
            guard !isMember(member, at: index) || isMember(of: member, at: index, opposite) == false else { return }
            writeLink(index, member, added: true)
        case .fetched: break
        }
    }

    final func removeMember(_ index: Int, _ member: NSManagedObject) {
        let relationship = relationship(toMany: index)
        if _state.has(.waking) {
            if isMember(member, at: index) { unlink(member, toMany: index) }
            return
        }
        guard let inverse = relationship.inverse else {
            if isMember(member, at: index) { writeLink(index, member, added: false) }
            return
        }
        switch _state.info.schema[inverse].place {
        case .slot(let slot):
            if member._state.isFault { member.fireUnseen(writing: slot) }
            if member.target(at: slot) === self {
                member.setTarget(slot, nil)
            } else if toManyState(index)?.isFault == false, isMember(member, at: index) {
                logLink(index, member, added: false)
                unlink(member, toMany: index)
                member.restateTarget(slot)
            }
        case .toMany(let opposite):
            guard isMember(member, at: index) || isMember(of: member, at: index, opposite) == true else { return }
            writeLink(index, member, added: false)
        case .fetched: break
        }
    }

    /// Puts the present members of an ordered to-many into the order of a list; members that are not in it come last.
    final func arrange(
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
        log { .order(self, toMany: Int32(index), old: present) }
        makeToManyState(index).setOrder(order)
        didChangeRelationship()
    }

    /// Makes or ends a pair that no to-one stores: on this side and, if there is an inverse, on the other.
    final func writeLink(_ index: Int, _ member: NSManagedObject, added: Bool) {
        let relationship = relationship(toMany: index)
        let opposite = relationship.inverse.flatMap { _state.info.schema[$0].toManyIndex }
        if !added {
            logPosition(of: member, toMany: index)
            if let opposite { member.logPosition(of: self, toMany: opposite) }
        }
        logLink(index, member, added: added)
        if added { link(member, toMany: index) } else { unlink(member, toMany: index) }
        guard let opposite, !(member === self && opposite == index) else { return }
        if added { member.link(self, toMany: opposite) } else { member.unlink(self, toMany: opposite) }
    }

    /// Adds a member on this side only.
    final func link(_ member: NSManagedObject, toMany index: Int) {
        let members = makeToManyState(index)
        if relationship(toMany: index).isOrdered { putLast(member, in: members, at: index) }
        if !members.isFault, member._state.has(.persistent) { correct(members, for: member, isStored: false) }
        members.link(member)
        didChangeRelationship()
    }

    /// Puts a new member last. While members only come last or go, the order is the stored order followed by the added
    /// members, and nothing has to be read for it.
    private func putLast(_ member: NSManagedObject, in members: ToMany, at index: Int) {
        if !members.hasOrder, _state.has(.persistent), !members.hasRemoved(member) || returnsToEnd(member, in: members)
        {
            return
        }
        let mayStand = member._state.has(.persistent) && (members.hasOrder || !members.hasRemoved(member))
        openOrder(of: members, at: index)
        if !mayStand || !members.isOrdered(member) { members.appendToOrder(member) }
    }

    /// Whether an undo or redo restores the last of the stored members, whose stored place is its place again.
    private func returnsToEnd(_ member: NSManagedObject, in members: ToMany) -> Bool {
        members.added.isEmpty && _state.identityMap?.context?.tracker.isReplaying == true
            && members.isStoredLast(member, store: _state.pointee.store)
    }

    final func unlink(_ member: NSManagedObject, toMany index: Int) {
        let members = makeToManyState(index)
        let isOrdered = relationship(toMany: index).isOrdered
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
        didChangeRelationship()
    }

    /// Gives an ordered to-many a list of its order, in which later changes are made.
    private func openOrder(of members: ToMany, at index: Int) {
        if !members.hasOrder { members.setOrder(ContiguousArray(membersToWrite(at: index))) }
    }

    /// Moves a member of an ordered to-many to a place.
    final func move(_ member: NSManagedObject, toMany index: Int, to place: Int) {
        guard let present = position(of: member, toMany: index) else { return }
        log { .position(self, toMany: Int32(index), member: member, index: present) }
        let members = makeToManyState(index)
        openOrder(of: members, at: index)
        members.move(from: present, to: place)
        didChangeRelationship()
    }

    // MARK: Log

    final func logPosition(of member: NSManagedObject, toMany index: Int) {
        // Only an undo needs places.
        guard relationship(toMany: index).isOrdered, _state.identityMap?.context?.undoManager != nil else { return }
        log {
            // A link puts it back last anyway.
            if let members = toManyState(index), !members.hasOrder {
                if members.isLastAdded(member) { return nil }
                if members.isFault, !members.isChanged, members.isStoredLast(member, store: _state.pointee.store) {
                    return nil
                }
            }
            guard let place = position(of: member, toMany: index) else { return nil }
            return .position(self, toMany: Int32(index), member: member, index: place)
        }
    }

    /// Logs that a member came or went, unless undoing the member's insertion takes it back anyway, as it does where
    /// there is an inverse.
    final func logLink(_ index: Int, _ member: NSManagedObject, added: Bool) {
        guard !member._state.has(.fresh) || relationship(toMany: index).inverse == nil else { return }
        log { .link(self, toMany: Int32(index), member: member, added: added) }
    }

    /// Logs a change of a relationship, unless undoing the insertion of this object takes it back anyway.
    final func log(_ change: () -> GraphChange?) {
        guard !_state.has(.fresh), !_state.has(.gone), let context = _state.identityMap?.context,
            context.tracker.isLogging, context.tracker.origin.isNoticed, let change = change()
        else { return }
        context.tracker.log.append(change)
        if context.tracker.hasDeletionLogs { context.tracker.noteChange() }
    }

    /// Clears all relationships, so that nothing leads to an object that leaves.
    final func tearDownRelationships() {
        for slot in 0..<_state.info.layout.slotCount where _state.info.slotRelationships[slot] != nil {
            if target(at: slot) != nil { setTarget(slot, nil) }
        }
        for index in 0..<_state.info.entity.toMany.count { setMembers(index, []) }
    }

    /// Ends unsaved pairs, since there will be no row that they could lead to.
    final func leavePendingPairs() {
        for slot in 0..<_state.info.layout.slotCount where _state.info.slotRelationships[slot] != nil {
            guard _state.overlay?.isPresent(slot) == true, target(at: slot) != nil else { continue }
            noteMissed(isPair: true)
            setTarget(slot, nil)
        }
        forEachToMany { index, members in
            if !members.added.isEmpty { noteMissed(isPair: true) }
            for member in members.added.objects { removeMember(index, member) }
        }
    }
}
