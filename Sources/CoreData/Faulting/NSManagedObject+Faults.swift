// Fires the fault of one object for a property, and finds out which properties still are faults.

import CoreDataValues

extension NSManagedObject {
    /// Fires the fault for one slot, whose name an error carries.
    final func fire(reading slot: Int) {
        if _state.pointee.slow == SlowReason.dormant {
            if _state.has(.unasked) { noteUnseen() }
            _state.pointee.slow = 0
            return
        }
        guard _state.isFault, let context = managedObjectContext else {
            if _state.pointee.slow & SlowReason.standsIn != 0 { standIn(at: slot) }
            return
        }
        context.faulting.fire(self, reading: slot)
    }

    /// Whether a to-one's target, or this object itself, still is a fault. Reads nothing.
    final func hasFault(at slot: Int) -> Bool {
        let state = _state
        guard kind(slot) == .toOne else { return state.isFault }
        if let overlay = state.overlay, overlay.isPresent(slot) { return overlay.object(slot)?.lacksRow ?? false }
        guard let row = state.pointee.row, let identityMap = state.identityMap else { return state.isFault }
        guard row.isPresent(slot) else { return false }
        let entity = EntityIndex(rawValue: targetEntity(at: slot, row))
        let key = ObjectKey(number: Int64(bitPattern: row[slot]), entity: entity, store: state.pointee.store)
        guard key.number <= 0 || key.store == 0 else {
            return identityMap.object(number: key.number, entity: entity.rawValue, store: key.store)?.lacksRow ?? true
        }
        guard let context = identityMap.context else { return true }
        return context.registered(context.currentKey(key, of: self, slot))?.lacksRow ?? true
    }
}
