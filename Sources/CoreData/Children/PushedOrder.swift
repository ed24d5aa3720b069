// Pushes the order of a to-many to the parent when a child saves.

import CoreDataValues

/// The order of one to-many of a child's object and of its counterpart in the parent.
///
/// The counterpart's members were added and removed before, new ones at the end. That mostly is the child's order, and
/// the last members alone tell so. Otherwise the orders are compared by keys, and the members that the child moved are
/// moved. Only if both contexts changed the order are all members arranged again.
struct PushedOrder {
    private let object: NSManagedObject
    private let counterpart: NSManagedObject
    private let index: Int
    private let members: ToMany
    private let counterpartOf: (NSManagedObject) -> NSManagedObject?

    init(
        _ object: NSManagedObject, _ counterpart: NSManagedObject, _ index: Int, _ members: ToMany,
        counterpartOf: @escaping (NSManagedObject) -> NSManagedObject?
    ) {
        self.object = object
        self.counterpart = counterpart
        self.index = index
        self.members = members
        self.counterpartOf = counterpartOf
    }

    /// - Parameter new: the members that the counterpart did not have, if the child has not read the others.
    func push(new: ContiguousArray<NSManagedObject>?) {
        if !members.hasOrder, isTail(new ?? members.added.objects) { return }
        if let new { return append(new) }
        if arrangeMoved() { return }
        counterpart.fixup.arrange(
            index, present, as: ContiguousArray(object.members(at: index).compactMap(counterpartOf)))
    }

    private var present: ContiguousArray<NSManagedObject> { ContiguousArray(counterpart.members(at: index)) }

    /// Whether the counterparts of some objects are the counterpart's last members, in this order.
    private func isTail(_ added: ContiguousArray<NSManagedObject>) -> Bool {
        guard let members = counterpart.toManyState(index) else { return added.isEmpty }
        let last = (members.order ?? members.added.objects).suffix(added.count)
        return last.count == added.count && zip(last, added).allSatisfy { $0 === counterpartOf($1) }
    }

    /// Moves new members to the end, in the child's order.
    private func append(_ new: ContiguousArray<NSManagedObject>) {
        let last = ContiguousArray(new.compactMap(counterpartOf))
        let isLast = Set(last.map(ObjectIdentifier.init))
        let present = present
        counterpart.fixup.arrange(index, present, as: present.filter { !isLast.contains(ObjectIdentifier($0)) } + last)
    }

    // MARK: By keys

    /// Moves the members that the child moved. Returns whether the counterpart then has the child's order.
    private func arrangeMoved() -> Bool {
        guard let wanted = object.memberKeys(toMany: index), let known = counterpart.memberKeys(toMany: index),
            wanted.count == known.count
        else { return false }
        if known.isSame(as: wanted, without: []) { return true }
        guard let places = movedPlaces(of: wanted.count),
            known.isSame(as: wanted, without: Set(places.map { wanted[$0] }))
        else {
            return false
        }
        let first = wanted.count - members.added.count
        let moved = places.compactMap { place in
            counterpartOf(members.order?[place] ?? members.added.objects[place - first]).map {
                (place: place, member: $0)
            }
        }
        guard moved.count == places.count else { return false }
        if moved.count == 1 {
            counterpart.fixup.move(moved[0].member, toMany: index, to: moved[0].place)
        } else {
            counterpart.rearrange(index, moved)
        }
        return true
    }

    /// The indexes of members added or moved in the child; nil if that is most of them.
    private func movedPlaces(of count: Int) -> [Int]? {
        guard let order = members.order else { return Array(count - members.added.count..<count) }
        return MovedMembers(in: order, members, store: object._state.pointee.store)?.places
    }
}

extension ContiguousArray<ObjectKey> {
    /// Whether two lists of keys are equal when some keys are left out of both.
    fileprivate func isSame(as other: Self, without moved: Set<ObjectKey>) -> Bool {
        withUnsafeBufferPointer { mine in
            other.withUnsafeBufferPointer { theirs in
                var (a, b) = (0, 0)
                while true {
                    while a < mine.count, b < theirs.count, mine[a].isSame(as: theirs[b]) { (a, b) = (a + 1, b + 1) }
                    if a < mine.count, moved.contains(mine[a]) {
                        a += 1
                    } else if b < theirs.count, moved.contains(theirs[b]) {
                        b += 1
                    } else {
                        return a == mine.count && b == theirs.count
                    }
                }
            }
        }
    }
}

extension NSManagedObject {
    /// The keys of the present members in order, without making objects; reads the members of a fault. nil if they
    /// cannot be read.
    fileprivate final func memberKeys(toMany index: Int) -> ContiguousArray<ObjectKey>? {
        let (members, store) = (makeToManyState(index), _state.pointee.store)
        if let order = members.order { return order.keys }
        guard let context = readMembers(members, index), !members.isFault else { return nil }
        compare(members, context)
        var keys = members.storedKeys(in: store)
        if !members.removed.isEmpty { keys.remove(members.removed.objects.keys) }
        keys += members.added.objects.keys
        return keys
    }

    /// Moves a few members of an ordered to-many to ascending places; the others keep their order.
    fileprivate final func rearrange(_ index: Int, _ moved: [(place: Int, member: NSManagedObject)]) {
        let present = ContiguousArray(members(at: index))
        let moving = Set(moved.map { ObjectIdentifier($0.member) })
        var order = present
        order.removeAll { moving.contains(ObjectIdentifier($0)) }
        for (place, member) in moved { order.insert(member, at: min(place, order.count)) }
        log { .order(self, toMany: Int32(index), old: present) }
        makeToManyState(index).setOrder(order)
        didChangeRelationship()
    }
}
