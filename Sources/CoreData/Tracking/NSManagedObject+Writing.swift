// The door through which every change of a value goes: user writes, inverses, delete rules, undo and redo.

import CoreDataFoundation
import CoreDataValues
import Foundation

extension NSManagedObject {
    /// Prepares a write to an attribute slot and answers the overlay to write to.
    ///
    /// Reads the row of a fault first, logs the former value for an undo, and marks the object updated. An object
    /// without a context is only written.
    final func willWrite(_ slot: Int) -> Overlay {
        let state = _state
        // A new object of the open event is listed already, and undoing its insertion takes its values back too.
        if state.pointee.flags & ObjectFlags.quietMask == ObjectFlags.fresh.rawValue, let overlay = state.overlay {
            return overlay
        }
        return willWriteTracked(slot)
    }

    private final func willWriteTracked(_ slot: Int) -> Overlay {
        let state = _state
        // Nobody saves what is written to an object whose context is gone.
        guard !state.has(.gone), let context = state.identityMap?.context else { return state.makeOverlay() }
        if state.isFault { fireUnseen(writing: slot) }
        if state.info.hasTransientSlots { context.tracker.noteTransient(self, slot) }
        context.tracker.willWrite(self, slot)
        return state.makeOverlay()
    }

    /// Marks the object updated after a change of one of its relationships.
    final func didChangeRelationship() {
        // Listed already, in the open event too. Before an undo the open event ends, so an undo does not miss its first
        // change of an object.
        if _state.pointee.flags & ObjectFlags.knownMask == ObjectFlags([.updated, .eventUpdated]).rawValue { return }
        guard !_state.has(.gone), let context = _state.identityMap?.context else { return }
        if _state.isFault { fireUnseen() }
        context.tracker.touch(self)
    }
}
