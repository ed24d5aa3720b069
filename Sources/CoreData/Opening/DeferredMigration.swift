// What a lightweight migration has left to do.

import Foundation

extension NSPersistentStoreCoordinator {
    /// Does what lightweight migrations of the coordinator's stores have put off.
    ///
    /// Nothing is put off here: a migration under `NSPersistentStoreDeferredLightweightMigrationOptionKey` does all of its work in its one
    /// transaction, so that this finds nothing to do, whatever the stores are.
    public final func finishDeferredLightweightMigration() throws {}

    /// Does one step of what `finishDeferredLightweightMigration()` does: none.
    public final func finishDeferredLightweightMigrationTask() throws {}
}
