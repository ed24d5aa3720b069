// The live ordered sets through which the open event was written.

import CoreDataValues

extension NSManagedObjectContext {
    /// How many of these sets are kept.
    private static let openSetLimit = 4

    /// A live set of an ordered to-many that was written through in the open event, for reuse: a program that asks for
    /// the set again for each member that it adds then fills one list, and not one for each member.
    ///
    /// A set is reused only if nobody else has it and it was used since it was handed out: otherwise a `for` loop may
    /// be running over it, which would see its list change.
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

    /// Keeps a set that was written through until the open event ends.
    final func keepOpen(_ set: MutableOrderedMembers) {
        if openSets.last === set { return }
        openSets.removeAll { $0.owner === set.owner && $0.index == set.index }
        // Without changes there is no event whose end would release the set.
        guard tracker.hasEvent else { return }
        if openSets.count == Self.openSetLimit { openSets.removeFirst() }
        openSets.append(set)
    }

    /// Releases the sets and with them their members.
    final func closeSets() {
        if !openSets.isEmpty { openSets = [] }
    }
}
