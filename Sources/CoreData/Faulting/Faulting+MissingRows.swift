// Faults whose row is gone: what reading one does.

import CoreDataValues
import Foundation

extension Faulting {
    /// Handles a fault whose row is gone: the object reads as empty and is deleted by the next save (4.12), or it stays
    /// a fault and every read of it is an error.
    func handleMissingRow(of object: NSManagedObject, reading slot: Int? = nil) {
        let property = slot.flatMap { object._state.info.description(ofSlot: $0) }
        guard context.shouldHandleInaccessibleFault(object, for: object.objectID, triggeredByProperty: property) else {
            return recordReadError(
                CocoaError.unread(object, reading: slot, cause: CocoaError.missingObject(object.objectID)))
        }
        let state = object._state
        state.pointee.slow &= ~SlowReason.anyFault
        state.pointee.slow |= SlowReason.overlay
        state.set(.inaccessible)
        context.tracker.mark(object, .deleted)
        context.tracker.deletePropagation.add(object)
    }
}
