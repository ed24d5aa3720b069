// Saves into several stores, of which one refuses its batch.

import CoreDataValues
import Foundation

extension SaveOperation {
    func isCommitted(_ store: UInt16) -> Bool {
        !committed.isEmpty && committed.contains { $0.store.number == store }
    }

    /// Accepts the changes of the stores that have committed although another store failed the save: saved again, new
    /// objects would be inserted twice. The objects of the store that failed stay as they were.
    func acceptCommitted() {
        context.advanceGeneration()
        context.faulting.rowTime += 1
        var new: ContiguousArray<NSManagedObject> = []
        var changed: ContiguousArray<NSManagedObject> = []
        var gone: ContiguousArray<NSManagedObject> = []
        for batch in committed {
            if context.childCount.load(ordering: .relaxed) > 0 { context.noteVersions(of: batch.touched) }
            // Before the owners forget which members were added and removed.
            for touched in batch.touched { touched.accept() }
            for written in batch.written {
                written.object._withUnsafeGuaranteedRef { object in
                    if object._state.has(.inserted) { new.append(object) } else { changed.append(object) }
                    acceptCommitted(object, batch.store.number, written)
                }
            }
            for object in updated where object._state.pointee.store == batch.store.number && object._state.has(.updated)
            {
                acceptUnwritten(object)
                changed.append(object)
            }
            for object in deleted where object._state.pointee.store == batch.store.number && object._state.has(.deleted)
            {
                context.withdraw(object)
                gone.append(object)
            }
        }
        tell(ContextEvent(inserted: new, updated: changed, deleted: gone))
    }

    /// Calls `didSave` and posts the notification for the objects of the stores that committed.
    private func tell(_ event: ContextEvent) {
        context.lastEvent = nil
        for object in event.inserted + event.updated + event.deleted { object.didSave() }
        if !event.isEmpty { context.post(ContextNotice.didSave, event.savedInfo(of: context)) }
        if context.followers != nil, !event.inserted.isEmpty { context.tellFollowersOfPermanentIDs() }
    }

    private func acceptCommitted(_ object: NSManagedObject, _ store: UInt16, _ written: WrittenRow) {
        let state = object._state
        if state.has(.inserted) {
            let key = written.chunk._withUnsafeGuaranteedRef { $0.row(written.row).key($0.layout) }
            state.pointee.assigned = key
            state.pointee.assignedStore = store
            object.acceptAssignedKey()
            context.identityMap?.register(object)
        }
        if context.childCount.load(ordering: .relaxed) > 0 { context.noteVersions(of: CollectionOfOne(written)) }
        written.accept()
        object.acceptToManyChanges()
        context.tracker.unmark(object, .dirty)
    }

    /// Accepts an object whose row was not written: it keeps the row that it read and drops equal overlay values.
    private func acceptUnwritten(_ object: NSManagedObject) {
        object.acceptToManyChanges()
        if object._state.overlay != nil { object._state.revertUnchanged() }
        context.tracker.unmark(object, .dirty)
    }
}
