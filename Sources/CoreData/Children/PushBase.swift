// What the changes that a child has pushed were made on.

import CoreDataValues

/// The row that changes were made on.
///
/// With a child's changes its parent's object gets theirs, and keeps it as long as it has changes: neither a fetch nor a refresh that
/// merges moves it. The save into the store compares it, so that no other writer's change is overwritten unseen.
struct PushBase {
    /// 0 for a row that was in no store yet.
    let version: Int32
    let snapshot: RowSnapshot

    init(version: Int32, snapshot: RowSnapshot) {
        self.version = version
        self.snapshot = snapshot
    }

    init(_ snapshot: RowSnapshot) { self.init(version: snapshot.version, snapshot: snapshot) }
}

extension NSManagedObject {
    /// What this object's values were made on: the base that came with a child's changes, else the row that was read.
    final var standing: PushBase? {
        if _state.has(.based), let base = managedObjectContext?.tracker.base(of: self) { return base }
        return lastRead.map { read in
            // Read again for a write or a delete rule: what the program has read before counts.
            guard _state.has(.unseen), let version = _state.identityMap?.version(_state.key) else {
                return PushBase(read)
            }
            return PushBase(version: min(version, read.version), snapshot: read)
        }
    }

    /// Whether a value or an order of a saved object is changed, not merely who its members are.
    final var isRowChanged: Bool {
        let slots = _state.info.entity.slots
        if let overlay = _state.overlay,
            slots.indices.contains(where: { overlay.isPresent($0) && !slots[$0].isTransient && differs($0, overlay) })
        {
            return true
        }
        var isRearranged = false
        forEachStoredToMany { index, members in
            if members.hasOrder, addedAtEnd(index, members) == nil { isRearranged = true }
        }
        return isRearranged || _state.has(.based)
    }

    /// What is to be compared once the changes of a child's object are this object's: the older of what they and the changes
    /// that are here were made on. nil where no row is there to be compared. The caller holds all contexts above.
    final func base(with changes: NSManagedObject) -> PushBase? {
        guard _state.has(.persistent), !_state.has(.inserted), let context = managedObjectContext else { return nil }
        guard let base = changes.standing.map({ context.renewed($0, of: self) }) else { return nil }
        guard let own = ownStanding else { return base }
        // The same row; nothing unsaved is in this one.
        if own.version == base.version { return own }
        let isChanged = _state.has([.based, .deleted]) || _state.has(.updated) && SaveOperation.isChanged(self)
        return isChanged && own.version < base.version ? own : base
    }

    /// Whether this object has no changes and an older row than a child's object was read from.
    final func isBehind(_ object: NSManagedObject) -> Bool {
        guard !_state.has(.dirty), let context = managedObjectContext, let own = ownStanding,
            let other = object.standing
        else {
            return false
        }
        return own.version < context.renewed(other, of: self).version
    }

    /// What this object stands on now. Of a context without parent the rows are the store's.
    private final var ownStanding: PushBase? {
        guard let context = managedObjectContext, context.isChild else { return standing }
        return standing.map { context.renewed($0, of: self) }
    }
}

extension ChangeTracker {
    func base(of object: NSManagedObject) -> PushBase? { bases[ObjectIdentifier(object)] }

    /// Keeps the base of changes that a child has made to an object, until the object has none.
    mutating func keep(_ base: PushBase, for object: NSManagedObject) {
        // What was pushed is there already; as far as this context knows.
        if !object._state.has(.dirty), base.version < object._state.version { touch(object) }
        guard object._state.has(.dirty) else { return }
        bases[ObjectIdentifier(object)] = base
        object._state.set(.based)
    }

    /// The object has other values, or none that are its own.
    mutating func forgetBase(of object: NSManagedObject) {
        guard object._state.has(.based) else { return }
        bases[ObjectIdentifier(object)] = nil
        object._state.clear(.based)
    }
}
