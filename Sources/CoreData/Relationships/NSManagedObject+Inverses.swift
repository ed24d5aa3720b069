// Writing relationships: whichever side is written, the other follows at once (I-3).

import CoreDataValues
import Foundation

extension NSManagedObject {
    // MARK: To-one

    /// Sets a to-one and keeps its inverse.
    final func setTarget(_ slot: Int, _ new: NSManagedObject?) {
        if let new { check(new, fits: relationship(at: slot)) }
        if _state.isFault { fireUnseen(writing: slot) }
        replaceTarget(slot, target(at: slot), new)
    }

    /// Sets a to-one whose present target is known.
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
            // An object that was its own other end is written already.
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

    /// Parts one side of a one-to-one from an object that has named it until now. An object that was its own other side names the new
    /// one already.
    final func leaves(_ other: NSManagedObject, _ slot: Int) {
        if _state.isFault { fireUnseen() }
        if target(at: slot) === other { writeTarget(slot, nil) } else if other !== self { restateTarget(slot) }
    }

    /// Puts a target among the changes that is the present one already. The two sides of a pair say different things, so another
    /// writer has changed one since it was read: the save must look whether this one is as it was, also when it is read again, or
    /// when an undo took the change back and a redo brought it. An undo itself writes the sides one after the other.
    final func restateTarget(_ slot: Int) {
        guard let context = managedObjectContext, context.tracker.isReplaying != true else { return }
        writeTarget(slot, target(at: slot))
        context.detectConflicts(for: self)
    }

    /// Whether a to-one of a pair is among the changes, also if it says what the row says.
    final var statesTarget: Bool {
        guard let overlay = _state.overlay else { return false }
        return _state.info.slotInverses.indices.contains { slot in
            _state.info.slotInverses[slot] != nil && overlay.isPresent(slot)
                && !_state.info.entity.slots[slot].isTransient
        }
    }

    /// Writes one to-one slot and nothing else.
    final func writeTarget(_ slot: Int, _ new: NSManagedObject?) { writeTarget(slot, new, target(at: slot)) }

    /// The same for a caller who knows the target that goes.
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

    /// Takes a member in and keeps the inverse.
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

    /// Puts the present members of an ordered to-many into the order of a list; those that are not in it come last.
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

    /// Writes a pair that no to-one keeps: into this side and, if there is an inverse, into the other.
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

    /// Takes a member into one side only.
    final func link(_ member: NSManagedObject, toMany index: Int) {
        let members = makeToManyState(index)
        if relationship(toMany: index).isOrdered { putLast(member, in: members, at: index) }
        if !members.isFault, member._state.has(.persistent) { correct(members, for: member, isStored: false) }
        members.link(member)
        didChangeRelationship()
    }

    /// While members only come last or go, the stored order and they are the order: nobody needs to be read for it.
    private func putLast(_ member: NSManagedObject, in members: ToMany, at index: Int) {
        if !members.hasOrder, _state.has(.persistent), !members.hasRemoved(member) || returnsToEnd(member, in: members)
        {
            return
        }
        let mayStand = member._state.has(.persistent) && (members.hasOrder || !members.hasRemoved(member))
        openOrder(of: members, at: index)
        if !mayStand || !members.isOrdered(member) { members.appendToOrder(member) }
    }

    /// Whether an undo or redo brings back the last of the stored members: where it is stored is its place again.
    private func returnsToEnd(_ member: NSManagedObject, in members: ToMany) -> Bool {
        members.added.isEmpty && _state.identityMap?.context?.tracker.isReplaying == true
            && members.isStoredLast(member, store: _state.pointee.store)
    }

    final func unlink(_ member: NSManagedObject, toMany index: Int) {
        let members = makeToManyState(index)
        let isOrdered = relationship(toMany: index).isOrdered
        if isOrdered {
            // What goes leaves the others in order; a place among those that are left is found by looking for each that went.
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

    /// Gives an ordered to-many an order of its own, which is then changed in place.
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
            // Where a link puts it again.
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

    /// Undoing a member's insertion takes it out of the to-manys that its own side leads to, and of no other.
    final func logLink(_ index: Int, _ member: NSManagedObject, added: Bool) {
        guard !member._state.has(.fresh) || relationship(toMany: index).inverse == nil else { return }
        log { .link(self, toMany: Int32(index), member: member, added: added) }
    }

    /// Logs a change of a relationship, unless undoing this object's insertion will take it back anyway.
    final func log(_ change: () -> GraphChange?) {
        guard !_state.has(.fresh), !_state.has(.gone), let context = _state.identityMap?.context,
            context.tracker.isLogging, context.tracker.origin.isNoticed, let change = change()
        else { return }
        context.tracker.log.append(change)
        if context.tracker.hasDeletionLogs { context.tracker.noteChange() }
    }

    /// Empties all relationships, so that nothing points at an object that is going.
    final func tearDownRelationships() {
        for slot in 0..<_state.info.layout.slotCount where _state.info.slotRelationships[slot] != nil {
            if target(at: slot) != nil { setTarget(slot, nil) }
        }
        for index in 0..<_state.info.entity.toMany.count { setMembers(index, []) }
    }

    /// Ends the pairs that were made here and not saved: there will be no row for them to lead to.
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
