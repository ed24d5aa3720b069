// Objects that are in a save only because members came or went.

import CoreDataValues

extension NSManagedObjectContext {
    /// Whether a save compares the version of every row in it, as Core Data does, also of rows of which only the
    /// members changed. False by default, so that several writers can add members to one owner at once.
    ///
    /// Rows are always compared if they are deleted, if an attribute or to-one changed, if their order changed other
    /// than by additions at its end, if a to-many with a maximum count gained or one with a minimum count lost members,
    /// if the class overrides `validateForUpdate()`, or after `detectConflicts(for:)`. Child contexts take over the
    /// value; the topmost context's counts. Ours, beside Core Data's API.
    public final var comparesRelationshipOwners: Bool {
        get { comparesOwners }
        set { comparesOwners = newValue }
    }
}

extension NSManagedObject {
    /// Whether this object's row need not be compared: only members changed, and no limit or order depends on them.
    final func isOnlyTouched() -> Bool {
        // Compared: an inverse depends on a to-one set here, a child has changed it, or its class validates updates.
        if statesTarget || _state.has(.childBase) || _state.info.binding(of: Swift.type(of: self)).validatesUpdates {
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

    /// Whether a concurrent change, together with this one, could break the count limit.
    private func isBounded(_ relationship: ResolvedRelationship, _ members: ToMany) -> Bool {
        let description = relationship.description
        return description.maxCount > 1 && !members.added.isEmpty
            || description.minCount > 0 && !members.removed.isEmpty
    }

    /// The members at the end of this object's own order that were added, if all others are in the stored order; nil if
    /// they are not, or if the stored order is not known.
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

    /// Whether the object gains members of a to-many that is not transient.
    final var gainsMembers: Bool {
        var gains = false
        forEachToMany { index, members in
            gains = gains || !members.added.isEmpty && !relationship(toMany: index).description.isTransient
        }
        return gains
    }
}
