// Objects that an undo or redo brings back into their context, or takes out of it.

import CoreDataValues
import Foundation

extension NSManagedObjectContext {
    /// Undoes an insertion: an unsaved object leaves, a saved one is deleted. What it was related to is parted from it whatever the
    /// delete rules say, as it was before there was the object.
    ///
    /// A redo takes away what was deleted once, and has come as a new row since: the delete rules have their say again.
    final func undoInsertion(_ object: NSManagedObject) {
        let state = object._state
        guard !state.has([.gone, .deleted]) else { return }
        if !state.has(.inserted), tracker.undoManager?.isRedoing == true {
            remove(object)
            return tracker.redone.append(object)
        }
        // Where it came back in this same walk, what it leaves is logged all the same: the redo brings it back once more.
        state.clear(.fresh)
        if state.pointee.toMany != nil { object.dropMembersOlderThanRow() }
        object.tearDownRelationships()
        guard state.has(.inserted) else {
            remove(object)
            state.set(.propagated)
            return
        }
        if tracker.isLogging {
            tracker.log.append(.existence(object, appeared: false))
            tracker.logsDeletions = true
        }
        tracker.addToEvent(object, .eventDeleted)
        withdraw(object)
    }

    /// Undoes a deletion that a child has pushed, for the next push. The object is not new: what the push writes is logged, so that an
    /// undo of the push leaves it the values that it had.
    final func undeleteLogged(_ object: NSManagedObject) {
        undelete(object, [:])
        object._state.clear(.fresh)
    }

    /// Makes an object that has left the context an insertion with the values of its former row.
    final func reinsert(_ object: NSManagedObject) {
        // Values may lie in files, which are read for objects of a context.
        object._state.clear(.gone)
        object._state.pointee.slow &= ~SlowReason.anyFault
        object.liftRow([:])
        enter(object)
        object.forgetLostTargets()
    }

    /// Undoes a deletion: a pending one is taken back, a saved one becomes an insertion with the old values.
    final func undelete(_ object: NSManagedObject, _ returning: [ObjectKey: NSManagedObject]) {
        let state = object._state
        // Its row went before its values were read again: there is nothing to bring back.
        if state.has(.inaccessible), state.pointee.row == nil { return }
        if state.has(.deleted), !state.has(.gone) { return cancelDeletion(object) }
        guard state.has(.gone) else { return }
        let wasSaved = state.pointee.row != nil
        if wasSaved { object.liftRow(returning) }
        let former = currentKey(state.key)
        enter(object)
        // Back into the store that it was in.
        if wasSaved, requiredCoordinator.persistentStores.count > 1 { choose(former.store, for: object) }
        if former.number < 0 {
            // Child contexts know an unsaved object by its number.
            state.pointee.number = former.number
        } else if !wasSaved || isChild && (lineage?.deletedTwin(former) != nil || isKnownAbove(former)) {
            // It has its permanent ID early; or it is a row that contexts above have not deleted yet. A fault that was made for
            // it meanwhile, by an object that still names it, makes way.
            if let fault = registered(former), fault.lacksRow { withdraw(fault) }
            setKey(former, for: object)
            hasEarlyKeys = true
        }
    }

    /// Whether a row whose deletion this context has pushed is still there for those above: as an object whose deletion is pending, or
    /// because they took it back. If that cannot be read, the child's save will say so.
    private func isKnownAbove(_ key: ObjectKey) -> Bool {
        withParent { parent in
            if let twin = parent.registered(key), twin._state.has(.dirty), !twin._state.has([.gone, .inaccessible]) {
                return true
            }
            if parent.isChild { return parent.isKnownAbove(key) }
            do { return try parent.read(key) != nil } catch { return true }
        }
    }
}

extension NSManagedObject {
    /// Whether the object left its context, or is about to because another writer deleted its row.
    final var isLost: Bool { _state.has([.gone, .inaccessible]) }

    /// Lets go of targets that a deleted object kept, by a delete rule that does nothing, and that were deleted themselves since.
    final func forgetLostTargets() {
        guard let overlay = _state.overlay else { return }
        for slot in 0..<_state.info.layout.slotCount where kind(slot) == .toOne && overlay.isPresent(slot) {
            if overlay.object(slot)?.isLost == true { overlay.setNull(slot, .toOne) }
        }
    }

    /// Forgets the order of an ordered to-many that has the saved members in the saved order again.
    final func dropRestoredOrders() {
        forEachToMany { index, members in
            guard let order = members.order, members.added.isEmpty, members.removed.isEmpty else { return }
            // Keys tell it where they are known and no context above replaces them.
            let isStored =
                members.isFault || managedObjectContext?.isChild == true
                ? order.elementsEqual(committedMembers(at: index), by: ===)
                : members.baseCount == order.count
                    && zip(members.storedKeys(in: _state.pointee.store), order.keys).allSatisfy { $0.isSame(as: $1) }
            if isStored { members.dropOrder() }
        }
    }

    /// Puts the members that are there into a former order. An object that came and went within the event is
    /// not among them: its links were not logged.
    final func arrangeAgain(_ index: Int, _ old: ContiguousArray<NSManagedObject>) {
        arrange(index, ContiguousArray(members(at: index)), as: old)
    }

    /// Moves all values of the row into the overlay, for an object whose row is gone.
    fileprivate func liftRow(_ returning: [ObjectKey: NSManagedObject]) {
        let state = _state
        guard let row = state.pointee.row, let chunk = state.chunk else { return }
        let overlay = state.makeOverlay()
        for slot in 0..<state.info.layout.slotCount where !overlay.isPresent(slot) && row.isPresent(slot) {
            copy(chunk, row, slot, to: overlay)
            // Left there by a delete rule that does nothing.
            if kind(slot) == .toOne, let target = keptTarget(at: slot, returning) {
                overlay.set(slot, target as AnyObject)
            }
        }
        state.detachRow()
        state.pointee.slow &= ~SlowReason.anyFault
    }

    /// The target in the row that is gone: one that comes back too, or stayed. Where it names the row that is gone, it is given
    /// this object instead.
    private func keptTarget(at slot: Int, _ returning: [ObjectKey: NSManagedObject]) -> NSManagedObject? {
        guard let key = committedTargetKey(at: slot), let target = returning[key] ?? stayingTarget(at: slot) else {
            return nil
        }
        if case .toMany(let index)? = _state.info.slotInverses[slot]?.place {
            target.takeBack(self, formerly: _state.key, toMany: index)
        }
        return target
    }

    private func stayingTarget(at slot: Int) -> NSManagedObject? {
        guard let target = committedTarget(at: slot) else { return nil }
        // Another writer may have deleted its row meanwhile.
        if target._state.isFault { target.fire() }
        guard !target._state.has([.gone, .deleted]) else { return nil }
        if case .slot(let opposite)? = _state.info.slotInverses[slot]?.place,
            target._state.overlay?.isPresent(opposite) != true,
            target.committedTargetKey(at: opposite) == _state.key
        {
            target.writeTarget(opposite, self, nil)
        }
        return target
    }
}
