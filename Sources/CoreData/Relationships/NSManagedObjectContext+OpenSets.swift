// The live ordered sets that the open event was written through.

import CoreDataValues

extension NSManagedObjectContext {
    /// So many of them are kept.
    private static let openSetLimit = 4

    /// A set of an ordered to-many that was written through in the open event, for another caller: a program that asks for it anew
    /// for each member that it adds fills one list and not one a member.
    ///
    /// Nobody else may have it, and it must have been used since it was handed out: another may be in the middle of a `for` loop,
    /// which would see its list change below it.
    final func openSet(of owner: NSManagedObject, _ index: Int) -> MutableOrderedMembers? {
        guard !openSets.isEmpty, let place = openSets.firstIndex(where: { $0.owner === owner && $0.index == index })
        else { return nil }
        guard openSets[place].wasUsed, isKnownUniquelyReferenced(&openSets[place]) else {
            openSets.remove(at: place)
            return nil
        }
        let set = openSets[place]
        set.handOut()
        return set
    }

    /// Keeps a set that was written through, until the open event ends.
    final func keepOpen(_ set: MutableOrderedMembers) {
        if openSets.last === set { return }
        openSets.removeAll { $0.owner === set.owner && $0.index == set.index }
        // Nothing else would end an event in which nothing changed.
        guard tracker.hasEvent else { return }
        if openSets.count == Self.openSetLimit { openSets.removeFirst() }
        openSets.append(set)
    }

    /// Lets go of the sets, and so of the members in them.
    final func closeSets() {
        if !openSets.isEmpty { openSets = [] }
    }
}
