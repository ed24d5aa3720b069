// Rolling back (drops changes) and resetting (drops objects).

import CoreDataFoundation
import CoreDataValues
import Foundation

extension NSManagedObjectContext {
    /// Drops all pending changes and the undo stack. Values return to what was last read or saved, without another
    /// read.
    public final func rollback() {
        checkQueue()
        undoManager?.removeAllActions(withTarget: self)
        faulting.readError = nil
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
        faulting.reset()
        checkedObjects = []
        expectations = []
        closeSets()
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

extension UnsafeMutablePointer<ObjectState> {
    /// Drops changed values and relationships, so that the values of the row count again.
    func revert() {
        if pointee.overlay != nil { dropOverlay() }
        forEachToMany { $1.revert() }
    }
}
