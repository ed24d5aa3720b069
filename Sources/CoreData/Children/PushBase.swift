// The row that changes are based on, which a child pushes with them.

import CoreDataValues

/// The row that changes are based on.
///
/// A child's push gives it to the parent's object, which keeps it as long as it has changes, also through fetches and
/// merging refreshes. The save into the store compares it, so that no other writer's change is overwritten unnoticed.
struct PushBase {
    /// The row's version; 0 if no store had the row.
    let version: Int32
    let snapshot: RowSnapshot

    init(version: Int32, snapshot: RowSnapshot) {
        self.version = version
        self.snapshot = snapshot
    }

    init(_ snapshot: RowSnapshot) { self.init(version: snapshot.version, snapshot: snapshot) }
}

extension NSManagedObject {
    /// The row that this object's values are based on: the one pushed by a child, else the one that was read.
    final var standing: PushBase? {
        if _state.has(.childBase), let base = managedObjectContext?.tracker.base(of: self) { return base }
        return lastRead.map { read in
            // Read again for a write or a delete rule: the version that the program has seen counts.
            guard _state.has(.unseen), let version = _state.identityMap?.version(_state.key) else {
                return PushBase(read)
            }
            return PushBase(version: min(version, read.version), snapshot: read)
        }
    }

    /// Whether a value or an order of a saved object is changed, not only its members.
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
        return isRearranged || _state.has(.childBase)
    }

    /// The row to compare once a child's changes are pushed to this object: the older of their base and that of the
    /// changes here. nil if no row can be compared. The caller holds all ancestors.
    final func base(with changes: NSManagedObject) -> PushBase? {
        guard _state.has(.persistent), !_state.has(.inserted), let context = managedObjectContext else { return nil }
        guard let base = changes.standing.map({ context.raised($0, of: self) }) else { return nil }
        guard let own = ownStanding else { return base }
        // The same version: the child's base adds nothing.
        if own.version == base.version { return own }
        let isChanged = _state.has([.childBase, .deleted]) || _state.has(.updated) && countsAsChanged
        return isChanged && own.version < base.version ? own : base
    }

    /// Whether this object has no changes and an older row than the child's object is based on.
    final func isBehind(_ object: NSManagedObject) -> Bool {
        guard !_state.has(.dirty), let context = managedObjectContext, let own = ownStanding,
            let other = object.standing
        else {
            return false
        }
        return own.version < context.raised(other, of: self).version
    }

    /// The row that this object is based on, with the version that saves have given it since where it is not the store's own.
    private final var ownStanding: PushBase? {
        guard let context = managedObjectContext, context.link.givesUnsavedRows else { return standing }
        return standing.map { context.raised($0, of: self) }
    }
}

extension NSManagedObjectContext {
    /// Raises a base's version past the saves of the topmost context. The caller holds that context.
    final func raised(_ base: PushBase, of object: NSManagedObject) -> PushBase {
        guard let versions = topmost.savedVersions else { return base }
        return PushBase(version: versions.present(base.version, of: object._state.key), snapshot: base.snapshot)
    }
}

extension ChangeTracker {
    func base(of object: NSManagedObject) -> PushBase? { bases[ObjectIdentifier(object)] }

    /// Sets the base of a child's changes, which stays as long as the object has changes.
    mutating func setBase(_ base: PushBase, for object: NSManagedObject) {
        // The pushed values equal the row that this context knows, which need not be the store's latest.
        if !object._state.has(.dirty), base.version < object._state.version { touch(object) }
        guard object._state.has(.dirty) else { return }
        bases[ObjectIdentifier(object)] = base
        object._state.set(.childBase)
    }

    /// Drops the base, as the changes based on it are gone.
    mutating func forgetBase(of object: NSManagedObject) {
        guard object._state.has(.childBase) else { return }
        bases[ObjectIdentifier(object)] = nil
        object._state.clear(.childBase)
    }
}
