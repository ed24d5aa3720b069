// Bringing objects up to date: one, all, or those that a fetch finds again.

import CoreDataValues
import Foundation

extension NSManagedObjectContext {
    /// Brings an object up to date: with `mergeChanges` its changes stay on top of the row read anew, without it they are dropped
    /// and the object becomes a fault. An object that was never saved stays as it is.
    ///
    /// A row that the coordinator knows counts as up to date unless it is older than `stalenessInterval`.
    public final func refresh(_ object: NSManagedObject, mergeChanges: Bool) {
        checkQueue()
        let state = object._state
        guard state.registry === requiredRegistry, state.has(.persistent), !state.has(.gone) else { return }
        rowTime += 1
        if mergeChanges, state.has(.dirty) {
            renewBelowChanges([object])
        } else {
            turnIntoFault(object, keepsTransients: mergeChanges)
            tracker.enter(object, .eventRefreshed)
        }
    }

    /// Puts the changes of objects on rows read anew. All let go of their rows first, so that these are read together.
    private func renewBelowChanges(_ objects: ContiguousArray<NSManagedObject>) {
        for object in objects {
            object._state.detachRow()
            joinOthers(object)
        }
        for object in objects {
            object.fire()
            wakeRefreshed(object)
            tracker.enter(object, .eventRefreshed)
        }
    }

    private func turnIntoFault(_ object: NSManagedObject, keepsTransients: Bool) {
        let state = object._state
        let wasFault = state.isFault
        if state.has(.dirty) { tracker.discard(object) }
        if !wasFault { object.willTurnIntoFault() }
        if keepsTransients { state.revertUnchanged() } else { state.revert() }
        if keepsTransients { state.dropStoredRelationships() } else { state.dropRelationships() }
        state.detachRow()
        joinOthers(object)
        if state.info.transientDefaults != nil { state.leaveTransientDefaults() }
        if !wasFault { object.didTurnIntoFault() }
    }

    /// Refreshes every object, keeping changes: changed ones stay loaded, all others become faults. One notification tells of
    /// them all, after one that tells of the changes which were still to be processed.
    public final func refreshAllObjects() {
        checkQueue()
        settle()
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
        renewBelowChanges(changed)
        settle()
    }

    /// Tells an object that its changes lie on another row now; what it writes then is no change.
    final func wakeRefreshed(_ object: NSManagedObject) {
        guard !object._state.isFault, !object._state.has(.inaccessible) else { return }
        let wasSuspended = tracker.isSuspended
        tracker.isSuspended = true
        object.awake(fromSnapshotEvents: .refresh)
        tracker.isSuspended = wasSuspended
    }

    // MARK: Objects that a fetch finds again

    /// Gives objects that were here before the rows of a fetch (`shouldRefreshRefetchedObjects`).
    final func renew(_ batch: RowBatch, store: UInt16) {
        for chunk in batch.chunks {
            for index in 0..<chunk.count {
                let row = chunk.row(index)
                let number = row.key(chunk.layout)
                guard number > 0, store != 0,
                    let object = requiredRegistry.object(
                        number: number, entity: chunk.layout.entity.rawValue, store: store)
                else { continue }
                renew(object, RowSnapshot(chunk: chunk, row: row))
            }
        }
    }

    private func renew(_ object: NSManagedObject, _ fresh: RowSnapshot) {
        let state = object._state
        guard !state.has([.deleted, .gone]), let read = object.lastRead, !read.agrees(with: fresh) else { return }
        let fault = state.pointee.slow & SlowReason.anyFault
        rowTime += 1
        if !state.has(.dirty) { state.dropStoredRelationships() }
        state.attach(fresh.chunk, row: fresh.row)
        state.dropTargets()
        state.pointee.slow |= fault
        guard fault == 0 else { return }
        if state.has(.dirty) { object.renewToManys() }
        wakeRefreshed(object)
        tracker.enter(object, .eventRefreshed)
    }
}
