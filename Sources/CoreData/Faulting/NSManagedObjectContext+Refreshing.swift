// Bringing objects up to date: one, all, or those that a fetch finds again.

import CoreDataValues
import Foundation

extension NSManagedObjectContext {
    /// Brings an object up to date: with `mergeChanges` its changes stay on top of the row read anew, without it they are dropped
    /// and the object becomes a fault. An object that was never saved stays as it is.
    ///
    /// What is dropped are the object's own values and targets; their other sides follow. That objects joined or left a to-many
    /// which has an inverse is their change as well and stays. Where the row leads to an object whose deletion is pending, the
    /// delete rule is applied anew when pending changes are processed, so that nothing saved leads nowhere.
    ///
    /// A row that the coordinator knows counts as up to date unless it is older than `stalenessInterval`.
    public final func refresh(_ object: NSManagedObject, mergeChanges: Bool) {
        checkQueue()
        let state = object._state
        guard state.identityMap === requiredIdentityMap, state.has(.persistent), !state.has(.gone) else { return }
        rowTime += 1
        closeSets()
        if mergeChanges, state.has(.dirty) {
            renewBelowChanges([object])
        } else {
            turnIntoFault(object, keepsTransients: mergeChanges)
            tracker.addToEvent(object, .eventRefreshed)
        }
    }

    /// Puts the changes of objects on rows read anew; a pending deletion applies its rules to what leads there now.
    private func renewBelowChanges(_ objects: ContiguousArray<NSManagedObject>) {
        readRowsAgain(objects.filter { !$0._state.has(.deleted) })
        renewDeletions(of: objects.filter { $0._state.has(.deleted) && !$0.isLost })
        for object in objects {
            if !object._state.has(.deleted) { object.forgetUnchangedMembers() }
            wakeRefreshed(object)
            tracker.addToEvent(object, .eventRefreshed)
        }
    }

    /// Reads the rows of objects anew, below their changes. All let go of theirs first, so that they are read together.
    final func readRowsAgain(_ objects: ContiguousArray<NSManagedObject>) {
        let former = objects.map { object in
            defer {
                object.forgetInOwners()
                object._state.detachRow()
                joinOthers(object)
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
        joinOthers(object)
        if wasDirty { keepChangesOfOthers(object, lost) }
        if state.info.transientDefaults != nil { state.leaveTransientDefaults() }
        if !wasFault { object.didTurnIntoFault() }
    }

    /// Refreshes every object, keeping changes: changed ones stay loaded, all others become faults. One notification tells of
    /// them all, after one that tells of the changes which were still to be processed.
    public final func refreshAllObjects() {
        checkQueue()
        processChanges()
        var changed: ContiguousArray<NSManagedObject> = []
        for object in allObjects {
            let state = object._state
            if state.info.hasTransientSlots { object.resetTransients() }
            if state.has(.dirty), state.has(.persistent), !state.has(.gone) {
                changed.append(object)
            } else {
                refresh(object, mergeChanges: false)
            }
        }
        rowTime += 1
        identityMap?.forgetVersions()
        renewBelowChanges(changed)
        processChanges()
    }

    /// Tells an object that its changes lie on another row now; what it writes then is no change.
    final func wakeRefreshed(_ object: NSManagedObject) {
        guard !object._state.isFault, !object._state.has(.inaccessible) else { return }
        writing(as: .waking) { object.awake(fromSnapshotEvents: .refresh) }
    }

    // MARK: Objects that a fetch finds again

    /// Gives objects that were here before the rows of a fetch (`shouldRefreshRefetchedObjects`).
    final func renew(_ batch: RowBatch, store: UInt16) {
        for chunk in batch.chunks {
            for index in 0..<chunk.count {
                let row = chunk.row(index)
                let number = row.key(chunk.layout)
                guard number > 0, store != 0,
                    let object = requiredIdentityMap.object(
                        number: number, entity: chunk.layout.entity.rawValue, store: store)
                else { continue }
                renew(object, RowSnapshot(chunk: chunk, row: row))
            }
        }
    }

    /// Puts an object on another row, below its changes.
    final func renew(_ object: NSManagedObject, _ fresh: RowSnapshot) {
        let state = object._state
        guard !state.has([.deleted, .gone]), let read = object.lastRead else { return }
        guard !read.agrees(with: fresh) else { return state.clear([.unasked, .unseen]) }
        let fault = state.pointee.slow & SlowReason.anyFault
        rowTime += 1
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
    /// Reads to-manys without changes anew when they are asked for. Rows tell when they were read, bare keys do not.
    fileprivate final func forgetUnchangedMembers() {
        forEachStoredToMany { _, members in if !members.isChanged { members.becomeFault() } }
    }

    /// Takes this object away from targets that the new row brings and its changes have left behind: as its changes lie on top,
    /// it is from there that it was moved. No change of the program's: an undo of the move leaves it in none of them.
    final func leaveNewTargets(since former: RowSnapshot) {
        guard let overlay = _state.overlay, !_state.isFault, !_state.has([.deleted, .inaccessible]),
            let context = managedObjectContext
        else { return }
        context.writing(as: .refresh) {
            for (slot, inverse) in _state.info.slotInverses.enumerated() where overlay.isPresent(slot) {
                guard let inverse, let left = committedTarget(at: slot), left !== target(at: slot),
                    left._state.key.row != targetKey(at: slot, of: former)?.row
                else { continue }
                switch inverse.place {
                case .slot(let opposite): left.leaves(self, opposite)
                case .toMany(let index): if left.isMember(self, at: index) { left.unlink(self, toMany: index) }
                case .fetched: break
                }
            }
        }
    }
}
