// Which version a row must have that a save writes, removes or relies on.

import CoreDataValues

extension NSManagedObject {
    /// The version that this object's row must have in the store when it is written or removed: another one is a conflict.
    ///
    /// It is the one that the changes were made on: a child's base, else the one that the program has last read, also if it has let
    /// the object go since and the row was read again for a delete rule, a write or the save.
    final var comparedVersion: Int32 { _state.has([.based, .unseen]) ? rememberedVersion : _state.version }

    @inline(never)
    private final var rememberedVersion: Int32 {
        guard _state.has(.based) else { return _state.identityMap?.version(_state.key) ?? _state.version }
        let base = standing?.version ?? _state.version
        // The older of the two, as the row may have been read again from a cache that did not know of the latest save yet.
        return _state.pointee.row == nil ? base : min(base, _state.version)
    }
}
