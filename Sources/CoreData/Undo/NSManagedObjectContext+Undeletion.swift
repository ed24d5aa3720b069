// Objects that an undo or redo returns to their context or removes from it.

import CoreDataValues
import Foundation

extension NSManagedObjectContext {
    /// Undoes an insertion: an unsaved object leaves the context, a saved one is deleted. Its relationships are cleared
    /// whatever the delete rules say, since before the insertion there were none.
    ///
    /// A redo deletes an object that was deleted once and restored as a new row since: then the delete rules are
    /// applied again.
    final func undoInsertion(_ object: NSManagedObject) {
        let state = object._state
        guard !state.has([.detached, .deleted]) else { return }
        if !state.has(.inserted), tracker.undoManager?.isRedoing == true {
            remove(object)
            return tracker.deletePropagation.noteRedone(object)
        }
        // An object that came back in this same replay would skip the log, but the redo that restores it needs its
        // changes there.
        state.clear(.skipsLog)
        if state.pointee.toMany != nil { object.dropMembersOlderThanRow() }
        object.fixup.tearDownRelationships()
        guard state.has(.inserted) else {
            remove(object)
            state.set(.rulesApplied)
            return
        }
        if tracker.isLogging {
            tracker.log.append(.existence(object, appeared: false))
            tracker.logsDeletions = true
        }
        tracker.addToEvent(object, .eventDeleted)
        withdraw(object)
    }

    /// Brings back an object whose deletion a child had pushed, because the child pushes the object again. Clears
    /// `skipsLog`, so that what this push writes is logged and an undo of it restores the former values.
    final func undeleteLogged(_ object: NSManagedObject) {
        undelete(object, [:])
        object._state.clear(.skipsLog)
    }

    /// Makes an object that left the context an inserted one, with the values of its former row.
    final func reinsert(_ object: NSManagedObject) {
        // Only objects of a context can read values that lie in files.
        object._state.clear(.detached)
        object._state.pointee.slow &= ~SlowReason.anyFault
        object.liftRow([:])
        registerInsertion(of: object)
        object.forgetLostTargets()
    }

    /// Undoes a deletion: a pending one is cancelled, and after a saved one the object is inserted again with its old
    /// values.
    final func undelete(_ object: NSManagedObject, _ returning: [ObjectKey: NSManagedObject]) {
        let state = object._state
        // Its row was gone before its values were read again, so there is nothing to restore.
        if state.has(.inaccessible), state.pointee.row == nil { return }
        if state.has(.deleted), !state.has(.detached) { return cancelDeletion(object) }
        guard state.has(.detached) else { return }
        let wasSaved = state.pointee.row != nil
        if wasSaved { object.liftRow(returning) }
        let former = currentKey(state.key)
        registerInsertion(of: object)
        // Saved again in the store that it was in.
        if wasSaved, requiredCoordinator.persistentStores.count > 1 { choose(former.store, for: object) }
        if former.number < 0 {
            // Child contexts know an unsaved object by its number.
            state.pointee.number = former.number
        } else if !wasSaved || link.keepsKey(former, self) {
            // Its permanent ID was given early, or contexts above have not deleted its row yet. A fault that was made
            // for the key meanwhile, by an object that still refers to it, is withdrawn.
            if let fault = registered(former), fault.lacksRow { withdraw(fault) }
            setKey(former, for: object)
            hasEarlyKeys = true
        }
    }
}

extension NSManagedObject {
    /// Whether the object left its context, or is about to because its row is gone.
    final var isLost: Bool { _state.has([.detached, .inaccessible]) }

    /// Clears to-ones of a restored object that a no-action rule had kept and whose targets were deleted since.
    final func forgetLostTargets() {
        _state.forEachPresentToOne { slot, overlay in
            if overlay.object(slot)?.isLost == true { overlay.setNull(slot, .toOne) }
        }
    }

    /// Drops the order of an ordered to-many that has the stored members in the stored order again.
    final func dropRestoredOrders() {
        forEachToMany { index, members in
            guard let order = members.order, members.added.isEmpty, members.removed.isEmpty else { return }
            // Comparing keys is enough if the members were read and no context above can replace their keys.
            let isStored =
                members.isFault || managedObjectContext?.link.givesUnsavedRows == true
                ? order.elementsEqual(committedMembers(at: index), by: ===)
                : members.baseCount == order.count
                    && zip(members.storedKeys(in: _state.pointee.store), order.keys).allSatisfy { $0.isSame(as: $1) }
            if isStored { members.dropOrder() }
        }
    }

    /// Arranges the present members in a former order. An object that came and went within the event is not among them:
    /// its links were not logged.
    final func restoreOrder(_ index: Int, _ old: ContiguousArray<NSManagedObject>) {
        fixup.arrange(index, ContiguousArray(members(at: index)), as: old)
    }

    /// Copies all values of the row into the overlay and detaches the row, for an object whose row is gone.
    fileprivate func liftRow(_ returning: [ObjectKey: NSManagedObject]) {
        let state = _state
        guard let row = state.pointee.row, let chunk = state.chunk else { return }
        let overlay = state.makeOverlay()
        for slot in 0..<state.info.layout.slotCount where !overlay.isPresent(slot) && row.isPresent(slot) {
            copyValue(slot, of: row, chunk, to: overlay)
            // A no-action rule has left the target in the row.
            if kind(slot) == .toOne, let target = keptTarget(at: slot, returning) {
                overlay.set(slot, target as AnyObject)
            }
        }
        state.detachRow()
        state.pointee.slow &= ~SlowReason.anyFault
    }

    /// The target in the row that is gone: a restored object, or one that stayed. If that target refers to this
    /// object's former row, it is given this object instead.
    private func keptTarget(at slot: Int, _ returning: [ObjectKey: NSManagedObject]) -> NSManagedObject? {
        guard let key = committedTargetKey(at: slot), let target = returning[key] ?? stayingTarget(at: slot) else {
            return nil
        }
        if case .toMany(let index)? = _state.info.slotInverses[slot]?.place {
            target.readmit(self, formerly: _state.key, toMany: index)
        }
        return target
    }

    private func stayingTarget(at slot: Int) -> NSManagedObject? {
        guard let target = committedTarget(at: slot) else { return nil }
        // Its row may be gone too.
        if target._state.isFault { target.fire() }
        guard !target._state.has([.detached, .deleted]) else { return nil }
        if case .slot(let opposite)? = _state.info.slotInverses[slot]?.place,
            target._state.overlay?.isPresent(opposite) != true,
            target.committedTargetKey(at: opposite) == _state.key
        {
            target.fixup.writeTarget(opposite, self, nil)
        }
        return target
    }
}
