// Objects that a merge finds unchanged leave the save, and their rows are read again.

import CoreDataValues

extension NSManagedObject {
    /// Whether the running save writes a row for this object; not if it only touched the object without a change.
    final var isWritten: Bool {
        let state = _state
        guard state.has(.dirty), !state.has([.deleted, .detached]) else { return false }
        return state.has(.inserted) || countsAsChanged
            || managedObjectContext?.saveMemory?.isReinserted(self) == true
    }

    /// Whether the running save neither writes this object's row nor relies on it.
    private var isIdle: Bool { !isWritten && !statesTarget }

    /// Detaches the row and forgets the members of an object that has nothing to write, so that they are read again.
    final func forgetRowIfClean() {
        let state = _state
        guard state.has(.persistent), !state.has([.deleted, .detached]), state.pointee.row != nil, isIdle else {
            return
        }
        managedObjectContext?.saveMemory?.rememberMerged(self)
        StoredState(self).detachRow()
    }

    /// For an object whose row another writer may have changed: if it is unchanged, makes it a fault; else has the next
    /// attempt compare its version, since a save that only bumps the version would keep the old row.
    final func refaultOrCompare() {
        guard let context = managedObjectContext else { return }
        forgetRowIfClean()
        if _state.has(.updated) { context.detectConflicts(for: self) }
    }

    /// Takes an object out of the save if a merge has left it nothing to write.
    final func leaveSaveIfClean() {
        guard _state.has(.updated), !_state.has(.deleted), isIdle else { return }
        managedObjectContext?.tracker.unmark(self, .updated)
        managedObjectContext?.tracker.addToEvent(self, .eventRefreshed)
        _state.clear(.eventUpdated)
    }

    /// Refreshes unchanged objects in memory whose relationship to this one contradicts its row: they, or their
    /// members, become faults.
    final func refaultOtherEnds() {
        guard _state.has(.persistent), let context = managedObjectContext else { return }
        for relationship in _state.info.relationships where !relationship.description.isTransient {
            guard let inverse = relationship.inverse.map({ _state.info.schema[$0] }) else { continue }
            switch (relationship.place, inverse.place) {
            case (.slot(let slot), _): committedTarget(at: slot)?.refault(inverse, unlessRelatedTo: self)
            case (.toMany, .slot(let slot)): refaultMembers(of: relationship, slot, context)
            case (.toMany, .toMany):
                for other in others(of: relationship, context) { other.refault(inverse, unlessRelatedTo: self) }
            case (.fetched, _), (.toMany, .fetched): continue
            }
        }
    }

    /// The saved objects in memory that a to-many may contain.
    private func others(of relationship: ResolvedRelationship, _ context: NSManagedObjectContext) -> [NSManagedObject] {
        context.allObjects.filter {
            relationship.accepts($0._state.pointee.entity) && $0._state.has(.persistent)
                && !$0._state.has([.deleted, .detached])
                && $0._state.pointee.store == _state.pointee.store
        }
    }

    /// Detaches the rows of members in memory that point at this object in the store but not here.
    private func refaultMembers(of relationship: ResolvedRelationship, _ slot: Int, _ context: NSManagedObjectContext) {
        let others = others(of: relationship, context).filter {
            !$0._state.isFault && $0.lastRead != nil && $0.target(at: slot) !== self
        }
        guard !others.isEmpty, let rows = context.reader(of: _state.pointee.store) else { return }
        // If they cannot be read now, all become faults.
        let stored = try? StoredRows(others.map { $0._state.key.row }, in: rows)
        for other in others {
            let row = stored?[other._state.key.row].row
            if stored == nil || row.flatMap({ other.targetKey(at: slot, of: $0) })?.row == _state.key.row {
                other.forgetRowIfClean()
            }
        }
    }

    private func refault(_ relationship: ResolvedRelationship, unlessRelatedTo other: NSManagedObject) {
        switch relationship.place {
        case .slot(let slot): if !_state.isFault, target(at: slot) !== other { forgetRowIfClean() }
        case .toMany(let index):
            guard let members = toManyState(index), !members.isChanged, !members.isFault else { return }
            StoredState(self).forget(members)
        case .fetched: break
        }
    }
}
