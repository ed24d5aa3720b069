// Refreshes one object, all objects, or those that a fetch finds again.

import CoreDataValues
import Foundation

extension NSManagedObjectContext {
    /// Refreshes an object: with `mergeChanges` its row is read again below its changes, without it the changes are
    /// dropped and the object becomes a fault. Objects that were never saved stay as they are.
    ///
    /// The object's own values and targets are dropped, with the inverses. A to-many with an inverse keeps added and
    /// removed members, which are the members' changes too. Where the row points at an object whose deletion is
    /// pending, processing pending changes applies the delete rule again, so that no saved row points at a missing one.
    ///
    /// A row in the row cache counts as current unless it is older than `stalenessInterval`.
    public final func refresh(_ object: NSManagedObject, mergeChanges: Bool) {
        checkQueue()
        let state = object._state
        guard state.identityMap === requiredIdentityMap, state.has(.persistent), !state.has(.detached) else { return }
        faulting.rowTime += 1
        closeSets()
        if mergeChanges, state.has(.dirty) {
            refreshBelowChanges([object])
        } else {
            turnIntoFault(object, keepsTransients: mergeChanges)
            tracker.addToEvent(object, .eventRefreshed)
        }
    }

    /// Reads the rows of changed objects again; pending deletions apply their rules to what points at the objects now.
    private func refreshBelowChanges(_ objects: ContiguousArray<NSManagedObject>) {
        readRowsAgain(objects.filter { !$0._state.has(.deleted) })
        renewDeletions(of: objects.filter { $0._state.has(.deleted) && !$0.isLost })
        for object in objects {
            if !object._state.has(.deleted) { object.forgetUnchangedMembers() }
            wakeRefreshed(object)
            tracker.addToEvent(object, .eventRefreshed)
        }
    }

    /// Reads the rows of objects again, below their changes. Detaches all rows first, so that one statement reads them.
    final func readRowsAgain(_ objects: ContiguousArray<NSManagedObject>) {
        let former = objects.map { object in
            defer {
                object.forgetInOwners()
                object._state.detachRow()
                faulting.joinOthers(object)
            }
            return object.lastRead
        }
        for (object, former) in zip(objects, former) {
            object.fire()
            if let former { object.leaveNewTargets(since: former) }
        }
    }

    private func turnIntoFault(_ object: NSManagedObject, keepsTransients: Bool) {
        let state = object._state
        let wasFault = state.isFault
        let wasDirty = state.has(.dirty)
        let dropsTransients = !keepsTransients && state.info.hasTransientSlots
        let lost = wasDirty || dropsTransients ? revertTargets(of: object) : []
        if wasDirty { tracker.discard(object) }
        if !wasFault { object.willTurnIntoFault() }
        if keepsTransients {
            state.revertUnchanged()
            state.dropStoredRelationships()
        } else {
            state.dropOverlay()
            state.dropRelationships(but: wasDirty || state.info.hasTransientToMany ? object.sharedToManys() : [])
        }
        object.forgetInOwners()
        state.detachRow()
        faulting.joinOthers(object)
        if wasDirty { keepChangesOfOthers(object, lost) }
        if state.info.transientDefaults != nil { state.leaveTransientDefaults() }
        if !wasFault { object.didTurnIntoFault() }
    }

    /// Refreshes all objects and keeps changes: changed objects stay loaded, all others become faults. Posts one
    /// notification for all of them, after one for changes that were still to be processed.
    public final func refreshAllObjects() {
        checkQueue()
        processChanges()
        var changed: ContiguousArray<NSManagedObject> = []
        for object in allObjects {
            let state = object._state
            if state.info.hasTransientSlots { object.resetTransients() }
            if state.has(.dirty), state.has(.persistent), !state.has(.detached) {
                changed.append(object)
            } else {
                refresh(object, mergeChanges: false)
            }
        }
        faulting.rowTime += 1
        identityMap?.forgetVersions()
        refreshBelowChanges(changed)
        processChanges()
    }

    /// Calls `awake(fromSnapshotEvents:)` on an object whose row was replaced, without tracking changes.
    final func wakeRefreshed(_ object: NSManagedObject) {
        guard !object._state.isFault, !object._state.has(.inaccessible) else { return }
        writing(as: .waking) { object.awake(fromSnapshotEvents: .refresh) }
    }

    // MARK: Objects that a fetch finds again

    /// Gives the rows of a fetch to objects that were registered before (`shouldRefreshRefetchedObjects`).
    final func refreshObjects(with batch: RowBatch, store: UInt16) {
        for chunk in batch.chunks {
            for index in 0..<chunk.count {
                let row = chunk.row(index)
                let number = row.key(chunk.layout)
                guard number > 0, store != 0,
                    let object = requiredIdentityMap.object(
                        number: number, entity: chunk.layout.entity.rawValue, store: store)
                else { continue }
                refresh(object, with: RowSnapshot(chunk: chunk, row: row))
            }
        }
    }

    /// Replaces the row of an object below its changes.
    final func refresh(_ object: NSManagedObject, with fresh: RowSnapshot) {
        let state = object._state
        guard !state.has([.deleted, .detached]), let read = object.lastRead else { return }
        guard !read.agrees(with: fresh) else { return state.clear([.readIncidentally, .unseen]) }
        let fault = state.pointee.slow & SlowReason.anyFault
        faulting.rowTime += 1
        if !state.has(.dirty) { state.dropStoredRelationships() }
        object.forgetInOwners()
        state.attach(fresh.chunk, row: fresh.row)
        state.dropTargets()
        state.pointee.slow |= fault
        guard fault == 0 else { return }
        if state.has(.dirty) {
            object.leaveNewTargets(since: read)
            object.renewToManys()
        }
        wakeRefreshed(object)
        tracker.addToEvent(object, .eventRefreshed)
    }
}

extension NSManagedObject {
    /// Makes unchanged to-manys faults. Rows know when they were read, bare keys do not.
    fileprivate final func forgetUnchangedMembers() {
        forEachStoredToMany { _, members in if !members.isChanged { members.becomeFault() } }
    }

    /// Removes this object from the inverses of targets that the new row brings but its changes replace: it was moved
    /// away from there. This is no change by the program: undoing the move does not restore these inverses.
    final func leaveNewTargets(since former: RowSnapshot) {
        guard _state.pointee.overlay != nil, !_state.isFault, !_state.has([.deleted, .inaccessible]),
            let context = managedObjectContext
        else { return }
        context.writing(as: .refresh) {
            _state.forEachPresentToOne { slot, _ in
                guard let inverse = _state.info.slotInverses[slot], let left = committedTarget(at: slot),
                    left !== target(at: slot), left._state.key.row != targetKey(at: slot, of: former)?.row
                else { return }
                switch inverse.place {
                case .slot(let opposite): left.fixup.leaves(self, opposite)
                case .toMany(let index): if left.isMember(self, at: index) { left.fixup.unlink(self, toMany: index) }
                case .fetched: break
                }
            }
        }
    }
}
