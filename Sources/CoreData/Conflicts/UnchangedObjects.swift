// Objects that a merge finds unchanged: they leave the save, and their rows are read anew.

import CoreDataValues

extension NSManagedObject {
    /// Whether the running save writes a row for this object: a touch that changed nothing does not.
    final var isWritten: Bool {
        let state = _state
        guard state.has(.dirty), !state.has([.deleted, .gone]) else { return false }
        return state.has(.inserted) || SaveOperation.isChanged(self) || managedObjectContext?.saveMemory?.isReinserted(self) == true
    }

    /// Whether the running save has nothing to do with this object's row.
    private var isIdle: Bool { !isWritten && !statesTarget }

    /// Lets the row and the members of an object go that has nothing to write, so that they are read anew.
    final func forgetRowIfClean() {
        let state = _state
        guard state.has(.persistent), !state.has([.deleted, .gone]), state.pointee.row != nil, isIdle else { return }
        managedObjectContext?.saveMemory?.renew(self)
        // What says the same as the old row must not hide the new one.
        state.revertUnchanged()
        forEachStoredToMany { _, members in members.base = .fault }
        state.detachRow()
    }

    /// Has the row of an object read anew that another writer may have changed, or compared by the next attempt: one that the save
    /// only touches would stay on an old row.
    final func renewOrCompare() {
        guard let context = managedObjectContext else { return }
        context.saveMemory?.remember(self)
        forgetRowIfClean()
        if _state.has(.updated) { context.detectConflicts(for: self) }
    }

    /// Takes an object out of the save that a merge has left nothing to write.
    final func leaveSaveIfClean() {
        guard _state.has(.updated), !_state.has(.deleted), isIdle else { return }
        managedObjectContext?.tracker.unmark(self, .updated)
        managedObjectContext?.tracker.enter(self, .eventRefreshed)
        _state.clear(.eventUpdated)
    }

    /// Makes what this object's row leads to say the same, where it was read earlier and is unchanged.
    final func renewOtherEnds() {
        guard _state.has(.persistent) else { return }
        for relationship in _state.info.relationships where !relationship.description.isTransient {
            guard let inverse = relationship.inverse.map({ _state.info.schema[$0] }) else { continue }
            switch relationship.place {
            case .slot(let slot): committedTarget(at: slot)?.renew(inverse, to: self)
            case .toMany(let index): for member in committedMembers(at: index) { member.renew(inverse, to: self) }
            case .fetched: continue
            }
        }
    }

    private func renew(_ relationship: ResolvedRelationship, to other: NSManagedObject) {
        switch relationship.place {
        case .slot(let slot): if !_state.isFault, target(at: slot) !== other { forgetRowIfClean() }
        case .toMany(let index):
            guard let members = toManyState(index), !members.isChanged, !members.isFault else { return }
            managedObjectContext?.saveMemory?.remember(self)
            members.base = .fault
        case .fetched: break
        }
    }
}
