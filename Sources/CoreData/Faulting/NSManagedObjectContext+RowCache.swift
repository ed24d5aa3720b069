// What a context asks of its coordinator's row cache, and which objects it keeps.

import CCoreDataRuntime
import CoreDataValues
import Foundation

extension NSManagedObjectContext {
    /// The cache that this context's reads fill and ask; nil for a child context, whose rows come from its parent, and for a pinned one,
    /// whose rows may be old.
    final var rowCache: RowCache? { readsElsewhere ? nil : requiredCoordinator.rowCache }

    /// The object of a row that the coordinator knows; nil when the store must be asked: the row is not known, or too old, or
    /// a merge is going on, which looks at what the store has now.
    final func cachedObject(for key: ObjectKey) -> NSManagedObject? {
        guard stalenessInterval != 0, saveMemory == nil, let cache = rowCache,
            let found = cache.row(for: key, within: stalenessInterval)
        else { return nil }
        if coredata_is_observed() { tellCacheHit(key) }
        return materialize(found.chunk, found.chunk.row(found.row), store: key.store)
    }

    /// Whether the context retains every object that it has; false at first.
    ///
    /// Otherwise it retains only objects with unsaved changes, and all others are let go when nobody else holds them. Turning it
    /// off, and `reset()`, let them go at once.
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

    /// Objects that have no row any more are not retained.
    final func letGo(_ objects: ContiguousArray<NSManagedObject>) {
        for object in objects { identityMap?.kept?.remove(object) }
    }
}

extension NSPersistentStoreCoordinator {
    /// Rows that were changed elsewhere are read anew.
    final func forgetRows(of payload: ChangePayload) {
        if payload.invalidatesAll { return rowCache.removeAll() }
        rowCache.forget(payload.inserted + payload.updated + payload.deleted)
    }
}
