// Ordered to-manys as ordered sets: live ones, copies, and what generated classes write.

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
        // It may be asked for in order to write: what is read now counts as read by the program once it asks the set.
        if _state.isFault { fireUnseen() }
        let made = MutableOrderedMembers(of: self, index)
        made.follow()
        return made
    }

    /// For generated classes: the members of an ordered to-many, which do not follow later changes.
    public final func _orderedSet(_ index: Int) -> NSOrderedSet {
        NSOrderedSet(array: shownMembers(at: ownToMany(index)))
    }

    /// Puts members into an ordered to-many, the first at a place. Objects that are members stay where they are.
    public final func _insert(_ objects: some Sequence<some NSManagedObject>, toMany index: Int, at place: Int) {
        let index = ownToMany(index)
        var new: ContiguousArray<NSManagedObject> = []
        for object in objects {
            if isMember(object, at: index) { addMember(index, object) } else { new.append(object) }
        }
        if new.count == 1 { return insertMember(index, new[0], at: place) }
        var order = ContiguousArray(membersToWrite(at: index))
        order.insert(contentsOf: new, at: min(place, order.count))
        setMembers(index, order)
    }

    /// Takes the member at a place out of an ordered to-many.
    public final func _remove(at place: Int, toMany index: Int) {
        let index = ownToMany(index)
        removeMember(index, toManyState(index)?.order?[place] ?? membersToWrite(at: index)[place])
    }

    /// Puts another member in the place of one.
    public final func _replace(at place: Int, toMany index: Int, with object: NSManagedObject) {
        let index = ownToMany(index)
        var members = ContiguousArray(membersToWrite(at: index))
        members[place] = object
        setMembers(index, members)
    }

    /// Takes a member in at a place.
    final func insertMember(_ index: Int, _ object: NSManagedObject, at place: Int) {
        addMember(index, object)
        if place < countOfMembers(at: index) - 1 { move(object, toMany: index, to: place) }
    }
}
