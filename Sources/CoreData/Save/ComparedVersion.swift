// Which version a row must have that a save writes, removes or relies on.

import CoreDataValues

extension NSManagedObject {
    /// The version that this object's row must have in the store when it is written or removed: another one is a conflict.
    final var comparedVersion: Int32 { _state.has(.based) ? baseVersion : _state.version }

    /// The older of the two, as the row may have been read again from a cache that did not know of the latest save yet.
    @inline(never)
    private final var baseVersion: Int32 {
        let base = standing?.version ?? _state.version
        return _state.pointee.row == nil ? base : min(base, _state.version)
    }
}
