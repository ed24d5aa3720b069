// Processing pending changes (delete rules, undo groups, notifications) and dropping them (rollback, reset).

import CoreDataFoundation
import CCoreDataRuntime
import CoreDataValues
import Dispatch
import Foundation

extension NSManagedObjectContext {
    /// Ends the open event: *apply delete rules · hand the log to the undo manager · tell what changed*.
    ///
    /// Closes the event's undo group even if a checkpoint (`canRedo`) has registered its changes before.
    public final func processPendingChanges() {
        checkQueue()
        closeSets()
        processChanges()
        tracker.undoManager?.endEvent()
        coredata_note_changes(listPlace, Int64(tracker.dirtyCount))
    }

    /// Schedules the end of the open event on the main queue, as Core Data leaves it to the run loop. False if the
    /// caller runs elsewhere: its changes must not be processed from another thread.
    ///
    /// If nothing serves the main queue, as in a plain script, the block never runs, which costs nothing more.
    final func endEventWithTurn() -> Bool {
        guard MainQueue.isMainActor else { return false }
        DispatchQueue.main.async { [weak self] in
            guard let self else { return }
            self.tracker.awaitsTurn = true
            self.holding { self.processPendingChanges() }
        }
        return true
    }

    final func processChanges() {
        guard !isProcessingChanges, tracker.hasEvent || !tracker.log.isEmpty else { return }
        isProcessingChanges = true
        if propagatesDeletesAtEndOfEvent || isSaving {
            if !tracker.postponed.isEmpty { propagatePostponed() }
            propagateDeletes()
        } else if !tracker.unpropagated.isEmpty {
            tracker.postpone()
        }
        let event = ContextEvent(taking: &tracker)
        let (isLogged, hasDeletions) = (tracker.isLogging, tracker.logsDeletions)
        let log = tracker.endLog()
        registerUndo(log, hasDeletions: hasDeletions)
        isProcessingChanges = false
        tracker.compact()
        guard ContextNotice.didChange.name.ifAwaited != nil else { return post(event) }
        let outer = toldEvent
        toldEvent = ToldEvent(event: event, log: isLogged ? log : nil)
        post(event)
        toldEvent = outer
        // From now on the values before the next event can be logged.
        tracker.keepsLog = true
    }

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

    /// - Parameter others: objects that fetched results controllers have to look at too.
    final func post(_ event: ContextEvent, followersOnly others: [NSManagedObject] = []) {
        guard !event.isEmpty else { return others.isEmpty ? () : tellFollowers(of: others) }
        // Kept for the save that may follow. An event with refreshed objects is not kept: it would keep clean objects
        // alive.
        lastEvent = tracker.dirtyCount > 0 && event.refreshed.isEmpty ? event : nil
        eventsSinceSave += 1
        post(ContextNotice.didChange, event.userInfo)
        if followers != nil {
            tellFollowers(of: event.inserted + event.updated + event.deleted + event.refreshed + others)
        }
    }

    /// Ends the event in which a merge policy changed objects, once their save is done.
    final func tellResolvedConflicts() {
        post(ContextEvent(taking: &tracker))
        lastEvent = nil
    }

    // MARK: Dropping

    /// Drops all pending changes and the undo stack. Values return to what was last read or saved, without another
    /// read.
    public final func rollback() {
        checkQueue()
        undoManager?.removeAllActions(withTarget: self)
        readError = nil
        checkedObjects = []
        expectations = []
        closeSets()
        let inserted = tracker.objects(.inserted)
        let changed = tracker.objects([.updated, .deleted], without: .inserted)
        writing(as: .rollback) {
            for object in changed {
                object._state.revert()
                object._state.leaveUnseenRow()
            }
            for object in inserted {
                withdraw(object)
                object._state.breakCycles()
            }
            tracker.clear()
            writing(as: .waking) { for object in changed { object.awake(fromSnapshotEvents: .rollback) } }
        }
        undoManager?.endEvent()
        post(ContextEvent(deleted: inserted, refreshed: changed))
    }

    /// Forgets every object. Objects that the program still holds belong to no context any more.
    public final func reset() {
        checkQueue()
        advanceGeneration()
        undoManager?.removeAllActions(withTarget: self)
        readError = nil
        checkedObjects = []
        expectations = []
        waitingRows = []
        openSiblings = []
        closeSets()
        faultWatch?.forgetPaths()
        lastEvent = nil
        let all = allObjects
        tracker.clear()
        undoManager?.endEvent()
        for object in all {
            withdraw(object)
            object._state.breakCycles()
        }
        if keepsObjects { identityMap?.kept = [] }
        identityMap?.forgetVersions()
        guard !all.isEmpty else { return }
        post(ContextNotice.didChange, [NSInvalidatedAllObjectsKey: all.map(\.objectID)])
        if followers != nil { tellFollowersOfReset() }
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

extension UnsafeMutablePointer<ObjectState> {
    /// Drops changed values and relationships, so that the values of the row count again.
    func revert() {
        if pointee.overlay != nil { dropOverlay() }
        guard let toMany = pointee.toMany else { return }
        for index in 0..<info.entity.toMany.count {
            if let members = toMany[index] { Unmanaged<ToMany>.fromOpaque(members).takeUnretainedValue().revert() }
        }
    }
}
