// Writing relationships: whichever side is written, its inverse follows at once (I-3).

import CoreDataValues

/// Writes an object's relationships, both sides of each pair: what a to-many holds changes through it alone.
struct RelationshipFixup {
    /// The object on whose side a pair is written.
    let object: NSManagedObject

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
        if !state.has(.gone), let context = state.identityMap?.context {
            if state.isFault { object.fireUnseen() }
            if state.info.hasTransientSlots { context.tracker.noteTransient(object, slot) }
            if context.tracker.isLogging, !state.has(.fresh), context.tracker.origin.isNoticed {
                context.tracker.log.append(.target(object, slot: Int32(truncatingIfNeeded: slot), old: old))
                if context.tracker.hasDeletionLogs { context.tracker.noteChange(to: new) }
            }
            context.tracker.touch(object)
        }
        let overlay = state.makeOverlay()
        if let new { overlay.set(slot, new as AnyObject) } else { overlay.setNull(slot, .toOne) }
    }
}

extension NSManagedObject {
    /// Writes the relationships of this object.
    @inline(__always)
    final var fixup: RelationshipFixup { RelationshipFixup(object: self) }

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
        guard !_state.has(.fresh), !_state.has(.gone), let context = _state.identityMap?.context,
            context.tracker.isLogging, context.tracker.origin.isNoticed, let change = change()
        else { return }
        context.tracker.log.append(change)
        if context.tracker.hasDeletionLogs { context.tracker.noteChange() }
    }
}
