// The version that the store must have of a row which a save writes, deletes or relies on.

import CoreDataValues

extension NSManagedObject {
    /// The version that this object's row must have in the store to be written or deleted: another one is a conflict.
    ///
    /// That is the version of the child's base, else the one that the program last read, even if it released the object
    /// since. Reads by delete rules, writes or the save do not count.
    final var comparedVersion: Int32 { _state.has([.childBase, .unseen]) ? rememberedVersion : _state.version }

    @inline(never)
    private final var rememberedVersion: Int32 {
        guard _state.has(.childBase) else { return _state.identityMap?.version(_state.key) ?? _state.version }
        let base = standing?.version ?? _state.version
        // Minimum: the cached row may be older than the latest save.
        return _state.pointee.row == nil ? base : min(base, _state.version)
    }
}

extension NSManagedObjectContext {
    /// Has the next save compare this object's row too, although nothing is changed here: if another writer has changed
    /// it, the policy resolves the conflict or the save fails.
    ///
    /// A save compares changed and deleted objects anyway. Reads the row if the object is a fault.
    public final func detectConflicts(for object: NSManagedObject) {
        checkQueue()
        let state = object._state
        guard state.identityMap === requiredIdentityMap else {
            misuse("detectConflicts(for:) was given an object of another context; use object(with: objectID) here.")
        }
        guard state.has(.persistent), !state.has(.detached) else { return }
        if state.isFault { object.fire() }
        if !checkedObjects.contains(where: { $0 === object }) { checkedObjects.append(object) }
    }
}

extension SaveOperation {
    /// Adds version checks for unchanged objects (`detectConflicts`).
    func addChecks(_ builders: inout BatchBuilders, without reinserted: ContiguousArray<NSManagedObject>) throws {
        for object in context.checkedObjects where !reinserted.contains(where: { $0 === object }) {
            guard !object._state.has([.detached, .inaccessible]), object.lastRead != nil else { continue }
            try builders.builder(for: object).check(object)
        }
    }
}
