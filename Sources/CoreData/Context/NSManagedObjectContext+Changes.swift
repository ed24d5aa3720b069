// Processing pending changes: delete rules, undo groups, notifications. And dropping them: rollback, reset.

import CoreDataFoundation
import CoreDataValues
import Foundation

extension NSManagedObjectContext {
    /// Ends the open event: *apply delete rules · hand the log to the undo manager · tell what changed*.
    ///
    /// Closes the event's undo group also when a checkpoint (`canRedo`) has registered the changes before.
    public final func processPendingChanges() {
        settle()
        undoManager?.endEvent()
    }

    final func settle() {
        guard !isSettling, tracker.hasEvent || !tracker.log.isEmpty else { return }
        isSettling = true
        if propagatesDeletesAtEndOfEvent || isSaving { propagateDeletes() }
        let event = ContextEvent(taking: &tracker)
        registerUndo()
        isSettling = false
        tracker.compact()
        post(event)
    }

    /// Applies the delete rules of deleted objects until no new deletion follows.
    private func propagateDeletes() {
        while !tracker.unpropagated.isEmpty {
            let batch = tracker.unpropagated
            tracker.unpropagated = []
            batch.borrowEach { object in
                guard object._state.has(.deleted), !object._state.has(.propagated) else { return }
                object._state.set(.propagated)
                object.applyDeleteRules()
                if object._state.has(.inserted) { withdraw(object) }
            }
        }
    }

    final func post(_ event: ContextEvent) {
        guard !event.isEmpty else { return }
        lastEvent = tracker.dirtyCount > 0 ? event : nil
        eventsSinceSave += 1
        NotificationCenter.default.post(
            name: .NSManagedObjectContextObjectsDidChange, object: self, userInfo: event.userInfo)
    }

    // MARK: Dropping

    /// Drops all pending changes and the undo stack; values return to what was last read or saved, without reading again.
    public final func rollback() {
        undoManager?.removeAllActions(withTarget: self)
        let logging = tracker.isLogging
        tracker.isLogging = false
        readError = nil
        let inserted = tracker.objects(.inserted)
        let changed = tracker.objects([.updated, .deleted], without: .inserted)
        for object in changed { object._state.revert() }
        for object in inserted { withdraw(object) }
        _ = tracker.clear()
        tracker.isLogging = logging
        undoManager?.endEvent()
        post(ContextEvent(deleted: inserted, refreshed: changed))
    }

    /// Forgets every object. Objects that are still held belong to no context any more.
    public final func reset() {
        undoManager?.removeAllActions(withTarget: self)
        readError = nil
        let all = allObjects
        _ = tracker.clear()
        undoManager?.endEvent()
        for object in all {
            withdraw(object)
            object._state.breakCycles()
        }
        guard !all.isEmpty else { return }
        NotificationCenter.default.post(
            name: .NSManagedObjectContextObjectsDidChange, object: self,
            userInfo: [NSInvalidatedAllObjectsKey: all.map(\.objectID)])
    }

    /// Brings an object up to date: with `mergeChanges` its changes stay on top of the row read anew, without it they are dropped
    /// and the object becomes a fault. An object that was never saved stays as it is.
    public final func refresh(_ object: NSManagedObject, mergeChanges: Bool) {
        let state = object._state
        guard state.registry === requiredRegistry, state.has(.persistent), !state.has(.gone) else { return }
        rowTime += 1
        if mergeChanges, state.has(.dirty) {
            state.detachRow()
            object.fire()
        } else {
            if state.has(.dirty) { tracker.discard(object) }
            object.willTurnIntoFault()
            state.revert()
            state.dropRelationships()
            state.detachRow()
            object.didTurnIntoFault()
        }
        tracker.enter(object, .eventRefreshed)
    }

    /// Refreshes every object, keeping changes.
    public final func refreshAllObjects() {
        for object in allObjects { refresh(object, mergeChanges: object.hasChanges) }
        settle()
    }
}

extension NSManagedObject {
    /// Applies each relationship's delete rule to the other end.
    fileprivate func applyDeleteRules() {
        for relationship in _state.info.relationships {
            switch relationship.description.deleteRule {
            case .noAction, .deny: continue
            case .nullify: clear(relationship)
            case .cascade:
                let targets = self.targets(of: relationship)
                clear(relationship)
                for target in targets { managedObjectContext?.delete(target) }
            }
        }
    }

    /// The objects at the other end of a relationship, to-one or to-many.
    final func targets(of relationship: ResolvedRelationship) -> [NSManagedObject] {
        switch relationship.place {
        case .slot(let slot): target(at: slot).map { [$0] } ?? []
        case .toMany(let index): members(at: index)
        case .fetched: []
        }
    }

    final func clear(_ relationship: ResolvedRelationship) {
        switch relationship.place {
        case .slot(let slot): if let target = target(at: slot) { replaceTarget(slot, target, nil) }
        case .toMany(let index): for member in members(at: index) { removeMember(index, member) }
        case .fetched: break
        }
    }
}

extension UnsafeMutablePointer<ObjectState> {
    /// Drops changed values and relationships; the row holds again.
    func revert() {
        if pointee.overlay != nil { dropOverlay() }
        guard let toMany = pointee.toMany else { return }
        for index in 0..<info.entity.toMany.count {
            if let members = toMany[index] { Unmanaged<ToMany>.fromOpaque(members).takeUnretainedValue().revert() }
        }
    }
}
