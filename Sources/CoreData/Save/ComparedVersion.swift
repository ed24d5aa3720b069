// Which version a row must have that a save writes, removes or relies on.

import CoreDataValues

extension NSManagedObject {
    /// The version that this object's row must have in the store when it is written or removed: another one is a conflict.
    final var comparedVersion: Int32 { _state.version }
}
