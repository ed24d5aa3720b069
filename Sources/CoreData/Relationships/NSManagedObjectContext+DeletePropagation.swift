// Delete rules: what the deletion of an object does to those at the other ends of its relationships.

import CoreDataValues
import Foundation

extension NSManagedObjectContext {
    /// Applies the delete rules of deleted objects until no new deletion follows.
    final func propagateDeletes() {
        if !tracker.reopened.isEmpty { propagateAnew() }
        while !tracker.unpropagated.isEmpty {
            let batch = tracker.unpropagated
            tracker.unpropagated = []
            var unread: ContiguousArray<NSManagedObject> = []
            var lost: Set<NSManagedObject> = []
            batch.borrowEach { object in
                guard object._state.has(.deleted), !object._state.has(.propagated) else { return }
                object._state.set(.propagated)
                // The row of an inaccessible object is gone and the program did not delete it, so there is nothing to
                // undo.
                if object._state.has(.inaccessible) {
                    writing(as: .deleteRule) { object.leavePendingPairs() }
                } else {
                    unseen { object.applyDeleteRules() }
                }
                if readError != nil {
                    // What could not be read may be incomplete: the rules are applied again once the error was thrown.
                    object._state.clear(.propagated)
                    return unread.append(object)
                }
                if object._state.has(.inserted) { withdraw(object) }
                if object._state.has(.inaccessible), runtime.hasOneWayRelationships { lost.insert(object) }
            }
            if !lost.isEmpty { forget(lost) }
            guard unread.isEmpty else { return tracker.unpropagated.append(contentsOf: unread) }
        }
    }

    /// Applies the delete rules again of deleted objects to which a refresh has restored relationships.
    ///
    /// Not logged: the undo of the deletion has what the rules did first.
    final func propagateAnew() {
        writing(as: .deleteRule) {
            let reopened = tracker.reopened
            tracker.reopened = []
            let waiting = tracker.unpropagated
            tracker.unpropagated = reopened.filter { $0._state.has(.deleted) }
            propagateDeletes()
            tracker.unpropagated.append(contentsOf: waiting)
        }
    }

    /// Applies the delete rules of deletions from former events. An undo takes their writes back together with the
    /// deletions.
    final func propagatePostponed() {
        let (recent, logs) = (tracker.unpropagated, tracker.deletionLogs)
        var last: [NSManagedObject: Int] = [:]
        for (place, log) in logs.enumerated() { for object in log.deleted { last[object] = place } }
        let postponed = Dictionary(grouping: tracker.postponed) { last[$0] ?? -1 }
        tracker.postponed = []
        for (place, log) in logs.enumerated() {
            guard let objects = postponed[place] else { continue }
            tracker.unpropagated = ContiguousArray(objects)
            log.append(propagateBelowLog())
            // Objects that could not be read keep waiting.
            tracker.postpone()
        }
        tracker.unpropagated = ContiguousArray(postponed[-1] ?? []) + recent
    }

    /// Applies delete rules without an undo step of their own: the undo and redo stacks stay as they are.
    final func propagateBelowLog() -> ContiguousArray<GraphChange> {
        let (undoManager, hadDeletions) = (tracker.undoManager, tracker.logsDeletions)
        let former = tracker.endLog()
        tracker.undoManager = nil
        propagateDeletes()
        let further = tracker.endLog()
        tracker.undoManager = undoManager
        tracker.log = former
        tracker.logsDeletions = hadDeletions
        return further
    }
}

extension NSManagedObject {
    /// Applies each relationship's delete rule to the other end.
    fileprivate func applyDeleteRules() {
        for relationship in _state.info.relationships {
            switch relationship.description.deleteRule {
            // Nothing may lead to an object that never had a row. One with a row keeps its relationships under these
            // rules.
            case .noAction, .deny: if _state.has(.inserted) { clear(relationship) }
            case .nullify: clear(relationship)
            case .cascade:
                // Before the inverse is cleared, so that `prepareForDeletion` of the target still sees this object
                // (1.6).
                for target in presentTargets(of: relationship) { managedObjectContext?.delete(target) }
                clear(relationship)
            }
        }
    }

    /// The targets of a relationship that still belong to this object. If a member's to-one says otherwise, the members
    /// were read earlier than it, and they are read again.
    private func presentTargets(of relationship: ResolvedRelationship) -> [NSManagedObject] {
        let found = targets(of: relationship)
        guard let index = relationship.toManyIndex, let members = toManyState(index), !members.isFault,
            let inverse = relationship.inverse, let slot = _state.info.schema[inverse].slot,
            found.contains(where: { $0.target(at: slot) !== self })
        else { return found }
        if members.isChanged { renewMembers(at: index, members) } else { members.becomeFault() }
        return targets(of: relationship)
    }

    /// The targets of a relationship, to-one or to-many.
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
        case .toMany(let index): setMembers(index, [])
        case .fetched: break
        }
    }
}
