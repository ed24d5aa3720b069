// Live values, which are kept as objects, in parent and child contexts.

import CoreDataValues

extension NSManagedObject {
    /// Copies the parent's value of a transient attribute that has no bytes and so no cell in a row; then kept here.
    final func parentLive(at slot: Int) -> LiveValue? {
        guard _state.info.entity.slots[slot].isTransient, _state.has(.persistent), let context = managedObjectContext
        else { return nil }
        return context.link.live(of: self, at: slot, context)
    }

    final func heldLive(at slot: Int) -> LiveValue? {
        if let overlay = _state.overlay, overlay.isPresent(slot) { return overlay.live(slot) }
        return cachedBesideRow(slot) as? LiveValue ?? parentLive(at: slot)
    }
}
