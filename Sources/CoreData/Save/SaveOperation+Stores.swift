// Saves over several stores, which are one transaction each.

import CoreDataValues
import Foundation

extension SaveOperation {
    /// One store of several has its changes: its objects are clean at once, whatever the other stores say.
    mutating func adoptFirst(_ batch: StoreBatch) {
        let number = batch.store.number
        guard written.insert(number).inserted else { return }
        context.rowTime += 1
        let new: ContiguousArray<NSManagedObject> = inserted.filter {
            $0._state.pointee.assigned != 0 && $0._state.pointee.assignedStore == number
        }
        for object in new { object.takeAssignedKey() }
        context.registry?.register(new)
        for row in batch.written { row.adopt() }
        for object in objects(of: number, in: inserted) + objects(of: number, in: updated) {
            object._state.settleToMany()
            context.tracker.unmark(object, .dirty)
        }
        for object in objects(of: number, in: deleted) { context.withdraw(object) }
    }

    private func objects(
        of store: UInt16, in objects: ContiguousArray<NSManagedObject>
    ) -> ContiguousArray<NSManagedObject> {
        objects.filter { $0._state.pointee.assigned == 0 && $0._state.pointee.store == store }
    }

    /// The objects of stores that are still to be adopted.
    func unwritten(_ objects: ContiguousArray<NSManagedObject>) -> ContiguousArray<NSManagedObject> {
        objects.filter { !written.contains($0._state.pointee.store) }
    }

    /// A later store failed: tells of what the earlier ones have saved.
    func finishWritten() {
        func saved(_ objects: ContiguousArray<NSManagedObject>) -> ContiguousArray<NSManagedObject> {
            objects.filter { written.contains($0._state.pointee.store) }
        }
        let event = ContextEvent(inserted: saved(inserted), updated: saved(updated), deleted: saved(deleted))
        context.lastEvent = nil
        for object in event.inserted + event.updated + event.deleted { object.didSave() }
        if !event.isEmpty { post(.NSManagedObjectContextDidSave, event.userInfo) }
    }
}
