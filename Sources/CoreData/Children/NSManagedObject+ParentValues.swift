// Live values, which are kept as objects, in parent and child contexts.

import CoreDataValues

extension NSManagedObject {
    /// Copies the parent's value of a transient attribute that has no bytes and so no cell in a row; then kept here.
    final func parentLive(at slot: Int) -> LiveValue? {
        guard _state.info.entity.slots[slot].isTransient, _state.has(.persistent), let context = managedObjectContext
        else { return nil }
        return context.link.live(of: self, at: slot, context)
    }

    /// Copies values of a deleted object that only the parent's object has, before that is deleted too: for an undo.
    final func keepParentValues() {
        let state = _state
        guard state.info.hasTransientSlots, !state.has(.inaccessible) else { return }
        for (slot, property) in state.info.entity.slots.enumerated()
        where property.isTransient && property.kind == .transformable && state.overlay?.isPresent(slot) != true {
            if let live = heldLive(at: slot) { state.makeOverlay().set(slot, live as AnyObject) }
        }
    }

    final func heldLive(at slot: Int) -> LiveValue? {
        if let overlay = _state.overlay, overlay.isPresent(slot) { return overlay.live(slot) }
        return cachedBesideRow(slot) as? LiveValue ?? parentLive(at: slot)
    }

    /// Sets the value that the object of the same key in another context has.
    final func copyLive(_ slot: Int, from other: NSManagedObject) {
        let value = other.formerValue(slot)
        guard case .reference(let object) = value, let live = object as? LiveValue else {
            return restore(value, at: slot)
        }
        restore(.reference(live.copied), at: slot)
    }
}
