// How a context uses the row cache, and which objects it retains.

import CCoreDataRuntime
import CoreDataValues
import Foundation

extension NSManagedObjectContext {
    /// The row cache for this context's reads; nil for a child context, whose rows come from its parent, and for a
    /// pinned one, whose rows may be old.
    final var rowCache: RowCache? { readsElsewhere ? nil : requiredCoordinator.rowCache }

    /// Returns the object of a cached row, nil if the store must be asked: the row is not cached or too old, or a merge
    /// is running, which needs the store's current rows.
    final func cachedObject(for key: ObjectKey) -> NSManagedObject? {
        guard stalenessInterval != 0, saveMemory == nil, let cache = rowCache,
            let found = cache.row(for: key, within: stalenessInterval)
        else { return nil }
        if coredata_is_observed() { tellCacheHit(key) }
        return materialize(found.chunk, found.chunk.row(found.row), store: key.store)
    }

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

extension NSPersistentStoreCoordinator {
    /// Drops cached rows that were changed elsewhere.
    final func forgetRows(of payload: ChangePayload) {
        if payload.invalidatesAll { return rowCache.removeAll() }
        rowCache.forget(payload.inserted + payload.updated + payload.deleted)
    }
}
