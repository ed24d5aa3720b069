// How the parent takes over the order of a to-many from a child that saves.

import CoreDataValues

/// The order of one to-many of a child's object and of its twin, the parent's object.
///
/// The twin has taken in and let go of members already; those that came stand last. Mostly that is the child's order, which is seen
/// from the last members alone. Else the orders are compared by keys, and what the child has moved is put into its places. Only
/// where the two contexts have changed the same order are the members put in order anew, all of them.
struct PushedOrder {
    private let object: NSManagedObject
    private let twin: NSManagedObject
    private let index: Int
    private let members: ToMany
    private let twinOf: (NSManagedObject) -> NSManagedObject?

    init(
        _ object: NSManagedObject, _ twin: NSManagedObject, _ index: Int, _ members: ToMany,
        twinOf: @escaping (NSManagedObject) -> NSManagedObject?
    ) {
        self.object = object
        self.twin = twin
        self.index = index
        self.members = members
        self.twinOf = twinOf
    }

    /// - Parameter new: the members that the twin did not have, if the child has not read the others.
    func push(new: ContiguousArray<NSManagedObject>?) {
        if !members.hasOrder, isTail(new ?? members.added.objects) { return }
        if let new { return append(new) }
        if arrangeMoved() { return }
        twin.arrange(index, present, as: ContiguousArray(object.members(at: index).compactMap(twinOf)))
    }

    private var present: ContiguousArray<NSManagedObject> { ContiguousArray(twin.members(at: index)) }

    /// Whether the twins of some objects are the last members of the twin, in this order.
    private func isTail(_ added: ContiguousArray<NSManagedObject>) -> Bool {
        guard let members = twin.toManyState(index) else { return added.isEmpty }
        let last = (members.order ?? members.added.objects).suffix(added.count)
        return last.count == added.count && zip(last, added).allSatisfy { $0 === twinOf($1) }
    }

    /// Puts new members behind the others, in the child's order.
    private func append(_ new: ContiguousArray<NSManagedObject>) {
        let last = ContiguousArray(new.compactMap(twinOf))
        let isLast = Set(last.map(ObjectIdentifier.init))
        let present = present
        twin.arrange(index, present, as: present.filter { !isLast.contains(ObjectIdentifier($0)) } + last)
    }

    // MARK: By keys

    /// Moves what the child has moved. Answers whether the twin has the child's order then.
    private func arrangeMoved() -> Bool {
        guard let wanted = object.memberKeys(toMany: index), let known = twin.memberKeys(toMany: index),
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
            twinOf(members.order?[place] ?? members.added.objects[place - first]).map { (place: place, member: $0) }
        }
        guard moved.count == places.count else { return false }
        if moved.count == 1 {
            twin.move(moved[0].member, toMany: index, to: moved[0].place)
        } else {
            twin.rearrange(index, moved)
        }
        return true
    }

    /// Where the members stand that came or moved in the child; nil when those are most.
    private func movedPlaces(of count: Int) -> [Int]? {
        guard let order = members.order else { return Array(count - members.added.count..<count) }
        return MovedMembers(in: order, members, store: object._state.pointee.store)?.places
    }
}

extension ContiguousArray<ObjectKey> {
    /// Whether two lists of the same keys are in the same order when some keys are left out of both.
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
    /// The keys of the present members, in order, without an object made of any; reads the members if they are a fault. nil when
    /// they cannot be read.
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

    /// Puts a few members of an ordered to-many into their places, which ascend; the others stay in order.
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
