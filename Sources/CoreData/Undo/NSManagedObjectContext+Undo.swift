// Undo and redo: the log of an event becomes one undo action; applying it goes through the same door and is logged again.

import CoreDataFoundation
import CoreDataValues
import Foundation

extension NSManagedObjectContext {
    /// Takes the last group of changes back. Nothing happens without an undo manager.
    public final func undo() {
        checkQueue()
        undoManager?.undo()
    }

    /// Does again what was undone last.
    public final func redo() {
        checkQueue()
        undoManager?.redo()
    }

    final func observeUndoManager(_ former: UndoManager?) {
        guard former !== undoManager else { return }
        if let checkpointObserver { NotificationCenter.default.removeObserver(checkpointObserver) }
        checkpointObserver = nil
        processChanges()
        former?.removeAllActions(withTarget: self)
        tracker.isLogging = undoManager != nil || ContextNotice.didChange.name.ifAwaited != nil
        tracker.undoManager = undoManager
        guard let undoManager else { return }
        let context = Unowned(self)
        checkpointObserver = NotificationCenter.default.addObserver(
            forName: .NSUndoManagerCheckpoint, object: undoManager, queue: nil
        ) { _ in context.object?.processChanges() }
    }

    /// Turns the log of the event that ends into one undo action.
    final func registerUndo(_ log: ContiguousArray<GraphChange>, hasDeletions: Bool) {
        guard let undoManager = tracker.undoManager else { return }
        if !log.isEmpty, undoManager.isUndoRegistrationEnabled {
            if hasDeletions {
                let kept = DeletionLog(log)
                tracker.keep(kept)
                undoManager.registerUndo(of: self) {
                    ($0 as? NSManagedObjectContext)?.apply(kept.changes, hasDeletions: true)
                }
            } else {
                undoManager.registerUndo(of: self) { ($0 as? NSManagedObjectContext)?.apply(log, hasDeletions: false) }
            }
        }
        if !undoManager.isUndoing, !undoManager.isRedoing { undoManager.endEvent() }
    }

    /// Takes logged changes back: *objects that were there before come back · all else goes back, last first*.
    ///
    /// What has left the context since, because another writer deleted it, stays away: to-ones that led there become nil, to-manys
    /// come back without it.
    ///
    /// A deletion is logged when it is asked for, and the event goes on with the object in its places until the delete rules
    /// take it out. So the places that were logged meanwhile count it, here and in the redo, which is this walk's own log.
    private func apply(_ log: ContiguousArray<GraphChange>, hasDeletions: Bool) {
        tracker.touched = []
        if hasDeletions {
            let returning = runtime.keepsTargets || runtime.hasOneWayRelationships ? returningObjects(log) : [:]
            for case .existence(let object, appeared: false) in log.reversed() { undelete(object, returning) }
            for case .existence(let object, appeared: false) in log { object.forgetLostTargets() }
            if runtime.hasOneWayRelationships { replaceKeys(returning) }
        }
        for change in log.reversed() { change.revert(in: self) }
        if !tracker.redone.isEmpty { propagateRedone() }
        let touched = tracker.touched ?? []
        tracker.touched = nil
        for object in touched { revertIfRestored(object) }
        awake(log, touched)
        processChanges()
    }

    /// Applies the delete rules of what a redo has deleted, also where those of other deletions wait for the save: they were applied
    /// before the undo.
    private func propagateRedone() {
        let redone = Set(tracker.redone)
        tracker.redone = []
        let waiting = tracker.unpropagated.filter { !redone.contains($0) }
        tracker.unpropagated.removeAll { !redone.contains($0) }
        propagateDeletes()
        tracker.unpropagated += waiting
    }

    /// The objects that come back into the context, by the keys that their rows had: they get others.
    private func returningObjects(_ log: ContiguousArray<GraphChange>) -> [ObjectKey: NSManagedObject] {
        var returning: [ObjectKey: NSManagedObject] = [:]
        for case .existence(let object, appeared: false) in log
        where object._state.has(.gone) && object._state.pointee.row != nil {
            returning[object._state.key] = object
        }
        return returning
    }

    /// Tells objects that an undo or redo gave them other values; what they write then is no change.
    private func awake(_ log: ContiguousArray<GraphChange>, _ touched: ContiguousArray<NSManagedObject>) {
        let wasSuspended = tracker.isSuspended
        tracker.isSuspended = true
        defer { tracker.isSuspended = wasSuspended }
        let isLifeChanged = log.contains { change in
            switch change {
            case .existence, .revival: true
            default: false
            }
        }
        guard isLifeChanged else { return tellUpdate(touched) }
        // What came or went is told that alone. Marked while no code of the program's runs.
        for case .existence(let object, _) in log { object._state.set(.present) }
        let updated = ContiguousArray(touched.lazy.filter { !$0._state.has(.present) })
        for case .existence(let object, _) in log { object._state.clear(.present) }
        for case .existence(let object, let appeared) in log {
            object.awake(fromSnapshotEvents: appeared ? .undoInsertion : .undoDeletion)
        }
        for case .revival(let object) in log { object.awake(fromSnapshotEvents: .undoInsertion) }
        tellUpdate(updated)
    }

    private func tellUpdate(_ objects: ContiguousArray<NSManagedObject>) {
        for object in objects where !object._state.has([.gone, .deleted]) {
            object.awake(fromSnapshotEvents: .undoUpdate)
        }
    }

    /// An object that an undo or a merge brought to its saved state is not changed any more.
    final func revertIfRestored(_ object: NSManagedObject) {
        let state = object._state
        state.clear(.recheck)
        guard state.has(.updated), !state.has([.inserted, .deleted]) else { return }
        object.dropRestoredOrders()
        guard !SaveOperation.differs(object), tracker.transients.isEmpty || !tracker.transients.differ(object) else {
            return
        }
        tracker.unmark(object, .updated)
        state.revertUnchanged()
    }
}

/// A weak reference that a notification block may hold; the observer is removed before the object goes.
private struct Unowned: @unchecked Sendable {
    @Unretained var object: NSManagedObjectContext?
    init(_ object: NSManagedObjectContext) { self.object = object }
}

extension GraphChange {
    /// Does the opposite of what was logged. Deleted objects are back already.
    func revert(in context: NSManagedObjectContext) {
        guard !subject.isLost else { return }
        switch self {
        case .existence(let object, let appeared):
            if appeared { context.undoInsertion(object) }
        case .revival(let object): context.remove(object)
        case .attribute(let object, let slot, let old):
            // Where it came back in this same walk, the value that goes is logged all the same.
            object._state.clear(.fresh)
            object.restore(old, at: Int(slot))
        case .target(let object, let slot, let old):
            // With its other side, which is mostly so already: a refresh may have changed one of the two since.
            object.setTarget(Int(slot), old.flatMap { $0.isLost ? nil : $0 })
        case .link(let object, let index, let member, let added):
            guard added || !member.isLost, object.isMember(member, at: Int(index)) == added else { return }
            object.writeLink(Int(index), member, added: !added)
            if !added { context.noticeLink(object, member) }
        case .position(let object, let index, let member, let place):
            object.move(member, toMany: Int(index), to: place)
        case .order(let object, let index, let old):
            object.arrangeAgain(Int(index), old)
        }
    }
}

extension NSManagedObjectContext {
    /// Undoes an insertion: an unsaved object leaves, a saved one is deleted. What it was related to is parted from it whatever the
    /// delete rules say, as it was before there was the object.
    ///
    /// A redo takes away what was deleted once, and has come as a new row since: the delete rules have their say again.
    fileprivate func undoInsertion(_ object: NSManagedObject) {
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
    fileprivate func undelete(_ object: NSManagedObject, _ returning: [ObjectKey: NSManagedObject]) {
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
    fileprivate func forgetLostTargets() {
        guard let overlay = _state.overlay else { return }
        for slot in 0..<_state.info.layout.slotCount where kind(slot) == .toOne && overlay.isPresent(slot) {
            if overlay.object(slot)?.isLost == true { overlay.setNull(slot, .toOne) }
        }
    }

    /// Forgets the order of an ordered to-many that has the saved members in the saved order again.
    fileprivate func dropRestoredOrders() {
        forEachToMany { index, members in
            guard let order = members.order, members.added.isEmpty, members.removed.isEmpty else { return }
            // Keys tell it where they are known and no context above replaces them.
            let isStored =
                members.isFault || managedObjectContext?.isChild == true
                ? order.elementsEqual(committedMembers(at: index), by: ===)
                : members.baseCount == order.count
                    && zip(members.storedKeys(in: _state.pointee.store), order.keys).allSatisfy { $0.isSame(as: $1) }
            if isStored { members.order = nil }
        }
    }

    /// Puts the members that are there into a former order. An object that came and went within the event is
    /// not among them: its links were not logged.
    fileprivate func arrangeAgain(_ index: Int, _ old: ContiguousArray<NSManagedObject>) {
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

extension UnsafeMutablePointer<ObjectState> {
    /// Drops an overlay that says what the row says, but keeps transient values.
    func revertUnchanged() {
        forEachMember { index, members in
            if !info.hasTransientToMany || !info.toManyRelationships[index].description.isTransient { members.revert() }
        }
        guard let overlay else { return }
        let slots = info.entity.slots
        var kept = false
        for slot in slots.indices where overlay.isPresent(slot) {
            if slots[slot].isTransient { kept = true } else { overlay.remove(slot, slots[slot].kind) }
        }
        if !kept { dropOverlay() }
    }

    func forEachMember(_ body: (Int, ToMany) -> Void) {
        guard let toMany = pointee.toMany else { return }
        for index in 0..<info.entity.toMany.count {
            if let members = toMany[index] { body(index, Unmanaged<ToMany>.fromOpaque(members).takeUnretainedValue()) }
        }
    }
}
