// How a context uses the row cache, and which objects it retains.

import CoreDataValues
import Foundation

extension NSManagedObjectContext {
    /// The row cache for this context's reads; nil for a child context, whose rows come from its parent, and for a
    /// pinned one, whose rows may be old.
    final var rowCache: RowCache? { readsElsewhere ? nil : requiredCoordinator.rowCache }

    /// Whether the context retains every registered object; false by default.
    ///
    /// Otherwise it retains only objects with unsaved changes, and others are deallocated when nothing else retains
    /// them. Setting it to false, and `reset()`, release them at once.
    public final var retainsRegisteredObjects: Bool {
        get { keepsObjects }
        set {
            guard newValue != keepsObjects else { return }
            keepsObjects = newValue
            let former = identityMap?.kept
            identityMap?.kept = newValue ? Set(allObjects.filter { $0._state.has(.registered) }) : nil
            withExtendedLifetime(former) {}
        }
    }

    /// Stops retaining objects that have no rows any more.
    final func letGo(_ objects: ContiguousArray<NSManagedObject>) {
        for object in objects { identityMap?.kept?.remove(object) }
    }
}
