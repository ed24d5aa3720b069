// Ordered to-manys as ordered sets: live sets, copies, and the writes of generated classes.

import CoreDataValues
import Foundation

extension NSManagedObject {
    final func mutableOrderedSet(_ key: String) -> NSMutableOrderedSet {
        guard case .toMany(let index) = requirePlace(key), relationship(toMany: index).isOrdered else {
            misuse(
                "\(entity.name ?? "").\(key) is no ordered to-many relationship; mutableOrderedSetValue(forKey:) needs one."
            )
        }
        return openOrderedSet(index)
    }

    /// For generated classes: the live ordered set of an ordered to-many.
    public final func _mutableOrderedSet(_ index: Int) -> NSMutableOrderedSet { openOrderedSet(ownToMany(index)) }

    private final func openOrderedSet(_ index: Int) -> NSMutableOrderedSet {
        checkQueue()
        if let open = _state.identityMap?.context?.openSet(of: self, index) { return open }
        // The caller may want to write only: what is read here counts as read by the program once it asks the set for
        // members.
        if _state.isFault { fireUnseen() }
        let made = MutableOrderedMembers(of: self, index)
        made.follow()
        return made
    }

    /// For generated classes: a copy of the members of an ordered to-many, which later changes leave alone.
    public final func _orderedSet(_ index: Int) -> NSOrderedSet {
        NSOrderedSet(array: shownMembers(at: ownToMany(index)))
    }

    /// Inserts members into an ordered to-many from a place on. Objects that are members already stay where they are.
    public final func _insert(_ objects: some Sequence<some NSManagedObject>, toMany index: Int, at place: Int) {
        let index = ownToMany(index)
        var new: ContiguousArray<NSManagedObject> = []
        for object in objects {
            if isMember(object, at: index) { fixup.addMember(index, object) } else { new.append(object) }
        }
        if new.count == 1 { return fixup.insertMember(index, new[0], at: place) }
        var order = ContiguousArray(membersToWrite(at: index))
        order.insert(contentsOf: new, at: min(place, order.count))
        fixup.setMembers(index, order)
    }

    /// Removes the member at a place from an ordered to-many.
    public final func _remove(at place: Int, toMany index: Int) {
        let index = ownToMany(index)
        fixup.removeMember(index, toManyState(index)?.order?[place] ?? membersToWrite(at: index)[place])
    }

    /// Replaces the member at a place by another object.
    public final func _replace(at place: Int, toMany index: Int, with object: NSManagedObject) {
        let index = ownToMany(index)
        var members = ContiguousArray(membersToWrite(at: index))
        members[place] = object
        fixup.setMembers(index, members)
    }
}
