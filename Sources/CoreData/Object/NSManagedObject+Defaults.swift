// The default values of a new object.

import CoreDataValues

extension NSManagedObject {
    /// Sets the entity's default values where the overlay has none.
    final func setDefaults() {
        let overlay = _state.makeOverlay()
        for (slot, value) in _state.info.defaults where !overlay.isPresent(slot) { store(value, in: overlay, slot) }
    }
}
