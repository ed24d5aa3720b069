// What parent and child contexts hand each other of values that are kept as objects.

import CoreDataValues

extension NSManagedObject {
    /// The parent context's value of a transient attribute that has no bytes and so no place in a row; read once, then kept.
    final func parentLive(at slot: Int) -> LiveValue? {
        guard _state.info.entity.slots[slot].isTransient, _state.has(.persistent), let context = managedObjectContext,
            context.isChild
        else { return nil }
        return context.withParent { parent in
            let key = parent.currentKey(_state.key)
            let twin = parent.registered(key) ?? (parent.isChild ? parent.object(for: key) : nil)
            return twin?.heldLive(at: slot)?.copied
        }
    }

    /// Takes what the parent alone has of a deleted object, before the parent's object goes as well: an undo wants it back.
    final func keepParentValues() {
        let state = _state
        guard state.info.hasTransientSlots, !state.has(.inaccessible) else { return }
        for (slot, property) in state.info.entity.slots.enumerated()
        where property.isTransient && property.kind == .transformable && state.overlay?.isPresent(slot) != true {
            if let live = heldLive(at: slot) { state.makeOverlay().set(slot, live as AnyObject) }
        }
    }

    private func heldLive(at slot: Int) -> LiveValue? {
        if let overlay = _state.overlay, overlay.isPresent(slot) { return overlay.live(slot) }
        return cachedBesideRow(slot) as? LiveValue ?? parentLive(at: slot)
    }

    /// Takes over the present value of the object of the same key in another context.
    final func copyLive(_ slot: Int, from other: NSManagedObject) {
        let value = other.formerValue(slot)
        guard case .reference(let object) = value, let live = object as? LiveValue else {
            return restore(value, at: slot)
        }
        restore(.reference(live.copied), at: slot)
    }
}
