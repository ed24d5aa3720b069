// Writing relationships: whichever side is written, its inverse follows at once (I-3).

import CoreDataValues

/// Writes an object's relationships, both sides of each pair.
///
/// Programs, undo, delete rules and saves of children write through it. What else changes a to-many does so itself:
/// merges, refreshes and reads of its members, and references to objects that are gone.
struct RelationshipFixup {
    /// The object on whose side a pair is written.
    let object: NSManagedObject

    // MARK: To-one

    /// Sets a to-one and its inverse.
    func setTarget(_ slot: Int, _ new: NSManagedObject?) {
        if let new { object.check(new, fits: object.relationship(at: slot)) }
        if object._state.isFault { object.fireUnseen(writing: slot) }
        replaceTarget(slot, object.target(at: slot), new)
    }

    /// Sets a to-one and its inverse, for a caller who knows the present target.
    func replaceTarget(_ slot: Int, _ old: NSManagedObject?, _ new: NSManagedObject?) {
        guard let back = object._state.info.slotInverses[slot], old !== new, !object._state.has(.waking) else {
            if old === new, let new { return stateTarget(slot, new) }
            return writeTarget(slot, new, old)
        }
        switch back.place {
        case .toMany(let index):
            if back.isOrdered, let old { old.fixup.logPosition(of: object, toMany: index) }
            writeTarget(slot, new, old)
            old?.fixup.unlink(object, toMany: index)
            new?.fixup.link(object, toMany: index)
        case .slot(let opposite):
            writeTarget(slot, new, old)
            // An object that was its own target is written already.
            if old !== object || opposite != slot { old?.fixup.leaves(object, opposite) }
            if let new {
                if new._state.isFault { new.fireUnseen() }
                let former = new.target(at: opposite)
                new.fixup.writeTarget(opposite, object)
                if former !== object, former !== new || opposite != slot { former?.fixup.leaves(new, slot) }
            }
        case .fetched: break
        }
    }

    /// Clears a to-one side of a one-to-one that led to an object until now. An object that was its own target has the
    /// new one already.
    func leaves(_ other: NSManagedObject, _ slot: Int) {
        if object._state.isFault { object.fireUnseen() }
        if object.target(at: slot) === other { writeTarget(slot, nil) } else if other !== object { restateTarget(slot) }
    }

    /// Writes the present target of a to-one as a change. The two sides of the pair disagree, so another writer has
    /// changed one since it was read. The save must then compare this row, also if it is read again before, or if an
    /// undo takes the change back and a redo restores it. An undo writes the two sides one after the other and needs
    /// none of this.
    func restateTarget(_ slot: Int) {
        guard let context = object.managedObjectContext, context.tracker.isReplaying != true else { return }
        writeTarget(slot, object.target(at: slot))
        context.detectConflicts(for: object)
    }

    /// Writes one to-one slot without its inverse.
    func writeTarget(_ slot: Int, _ new: NSManagedObject?) { writeTarget(slot, new, object.target(at: slot)) }

    /// Writes one to-one slot without its inverse, for a caller who knows the present target.
    func writeTarget(_ slot: Int, _ new: NSManagedObject?, _ old: NSManagedObject?) {
        let state = object._state
        if !state.has(.detached), let context = state.identityMap?.context {
            if state.isFault { object.fireUnseen() }
            if state.info.hasTransientSlots { context.tracker.noteTransient(object, slot) }
            if context.tracker.isLogging, !state.has(.skipsLog), context.tracker.origin.isNoticed {
                context.tracker.log.append(.target(object, slot: Int32(truncatingIfNeeded: slot), old: old))
                if context.tracker.hasDeletionLogs { context.tracker.noteChange(to: new) }
            }
            context.tracker.touch(object)
        }
        let overlay = state.makeOverlay()
        if let new { overlay.set(slot, new as AnyObject) } else { overlay.setNull(slot, .toOne) }
    }

    // MARK: To-many

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
        guard !member._state.has(.skipsLog) || object.relationship(toMany: index).inverse == nil else { return }
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
        object._state.forEachPresentToOne { slot, _ in
            guard object.target(at: slot) != nil else { return }
            object.recordMissingRow(isPair: true)
            setTarget(slot, nil)
        }
        object.forEachToMany { index, members in
            if !members.added.isEmpty { object.recordMissingRow(isPair: true) }
            for member in members.added.objects { removeMember(index, member) }
        }
    }
}

extension NSManagedObject {
    /// Writes the relationships of this object.
    @inline(__always)
    final var fixup: RelationshipFixup { RelationshipFixup(object: self) }

    /// Traps if an object belongs to another context, or to an entity that the relationship does not lead to.
    @inline(__always)
    final func check(_ new: NSManagedObject, fits relationship: ResolvedRelationship) {
        let there = new._state
        if there.pointee.identityMap == _state.pointee.identityMap, there.pointee.identityMap != nil,
            relationship.accepts(there.pointee.entity),
            (there.pointee.flags | _state.pointee.flags) & ObjectFlags([.detached, .deleted]).rawValue == 0
        {
            return
        }
        checkSlowly(new, fits: relationship)
    }

    /// Whether the changes contain a to-one with an inverse, even with the same target as the row.
    final var statesTarget: Bool {
        guard let overlay = _state.overlay else { return false }
        return _state.info.slotInverses.indices.contains { slot in
            _state.info.slotInverses[slot] != nil && overlay.isPresent(slot)
                && !_state.info.entity.slots[slot].isTransient
        }
    }

    /// Logs a change of a relationship, unless undoing the insertion of this object takes it back anyway.
    final func log(_ change: () -> GraphChange?) {
        guard !_state.has(.skipsLog), !_state.has(.detached), let context = _state.identityMap?.context,
            context.tracker.isLogging, context.tracker.origin.isNoticed, let change = change()
        else { return }
        context.tracker.log.append(change)
        if context.tracker.hasDeletionLogs { context.tracker.noteChange() }
    }
}
