// Objects that are in a save only because members came or went.

import CoreDataValues

extension NSManagedObjectContext {
    /// Whether a save compares every row that it names with the version that was read, as Core Data does, also the rows of which
    /// nothing changed but who is a member. False at first: several writers may add members to one owner at once.
    ///
    /// Always compared are deleted rows, rows with a changed attribute or to-one, owners whose order changed otherwise than by
    /// additions at its end, whose members came under a maximum or left under a minimum count, or whose class overrides
    /// `validateForUpdate()`, and what `detectConflicts(for:)` was given. Taken over by child contexts, of which the save that
    /// writes rows counts. Ours, beside Core Data's API.
    public final var comparesRelationshipOwners: Bool {
        get { comparesOwners }
        set { comparesOwners = newValue }
    }
}

extension NSManagedObject {
    /// Whether other writers may change this object, of which members came or went and no slot differs from the row.
    final func isOnlyTouched() -> Bool {
        // A to-one that was written as it was must be so still, and what a child has changed.
        if statesTarget || _state.has(.based) || _state.info.binding(of: Swift.type(of: self)).validatesUpdates {
            return false
        }
        var isTouched = true
        forEachToMany { index, members in
            let relationship = relationship(toMany: index)
            guard isTouched, members.isChanged, !relationship.description.isTransient else { return }
            isTouched = !isBounded(relationship, members) && (!members.hasOrder || addedAtEnd(index, members) != nil)
        }
        return isTouched
    }

    /// Whether another writer's members count against a limit that the change here may break with them.
    private func isBounded(_ relationship: ResolvedRelationship, _ members: ToMany) -> Bool {
        let description = relationship.description
        return description.maxCount > 1 && !members.added.isEmpty
            || description.minCount > 0 && !members.removed.isEmpty
    }

    /// The members that come last in an order of this object's own, if all others stand as the store has them; nil if they do not,
    /// or if the stored order is not known.
    final func addedAtEnd(_ index: Int, _ members: ToMany) -> ArraySlice<NSManagedObject>? {
        guard !members.isFault, let order = members.order else { return nil }
        compare(members, _state.identityMap?.context)
        let gone = members.removed.isEmpty ? [] : Set(members.removed.objects.keys)
        var place = 0
        for key in members.storedKeys(in: _state.pointee.store) where !gone.contains(key) {
            guard place < order.count, order[place]._state.key.isSame(as: key) else { return nil }
            place += 1
        }
        let last = order[place...]
        return last.count == members.added.count && last.allSatisfy(members.hasAdded) ? last : nil
    }

    /// Whether a pair is added to a to-many that is stored.
    final var gainsMembers: Bool {
        var gains = false
        forEachToMany { index, members in
            gains = gains || !members.added.isEmpty && !relationship(toMany: index).description.isTransient
        }
        return gains
    }
}
