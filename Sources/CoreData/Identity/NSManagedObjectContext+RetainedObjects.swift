// Which objects a context retains.

import CoreDataValues
import Foundation

extension NSManagedObjectContext {
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
