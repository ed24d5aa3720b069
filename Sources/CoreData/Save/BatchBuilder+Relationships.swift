// Adds relationship changes to the batch that have no cell in the object's own row.

import CoreDataValues

extension BatchBuilder {
    /// Adds many-to-many pairs, orders and members of to-manys without inverse.
    ///
    /// - Parameter isTouched: true if the row's version is not compared; others may have appended members meanwhile.
    func addRelationships(of object: NSManagedObject, isTouched: Bool = false) throws {
        var failure: (any Error)?
        object.forEachToMany { index, members in
            guard members.isChanged else { return }
            let relationship = object.relationship(toMany: index)
            guard !relationship.description.isTransient else { return }
            let inverse = relationship.inverse.map { runtime.schema[$0] }
            if inverse == nil {
                do { try adopt(members) } catch { failure = error }
                batch.adoptions.append(
                    AdoptionChange(
                        relationship: relationship.index, owner: object.savedKey,
                        added: members.added.objects.map(\.savedKey),
                        removed: members.removed.objects.filter { $0._state.has(.persistent) }.map(\.savedKey)))
            } else if let inverse, inverse.isToMany {
                addLinks(object, relationship, inverse, members)
            }
            if relationship.isOrdered, !object._state.has(.deleted) {
                addOrder(object, relationship, members, isTouched ? object.addedAtEnd(index, members) : nil)
            }
        }
        if let failure { throw failure }
    }

    /// - Parameter last: the members added at the end, if all others are in the stored order.
    private func addOrder(
        _ object: NSManagedObject, _ relationship: ResolvedRelationship, _ members: ToMany,
        _ last: ArraySlice<NSManagedObject>?
    ) {
        let order = last == nil ? members.order : nil
        let added = last.map { ContiguousArray($0) } ?? members.added.objects
        guard order != nil || !added.isEmpty else { return }
        let moved = order.flatMap { MovedMembers(in: $0, members, store: object._state.pointee.store)?.places }
        batch.orders.append(
            OrderChange(
                relationship: relationship.index, owner: object.savedKey, members: (order ?? added).savedKeys,
                isTail: order == nil, moved: moved))
    }

    /// Adds each pair from one side only: the side declared first, or the smaller key in a self-inverse.
    private func addLinks(
        _ object: NSManagedObject, _ relationship: ResolvedRelationship, _ inverse: ResolvedRelationship,
        _ members: ToMany
    ) {
        guard relationship.index.rawValue <= inverse.index.rawValue else { return }
        let own = object.savedKey
        let isSelfInverse = relationship.index == inverse.index
        func named(_ other: NSManagedObject) -> Bool { !isSelfInverse || own.number <= other.savedKey.number }
        let added = members.added.objects.filter(named).map(\.savedKey)
        let removed = members.removed.objects.filter { named($0) && $0._state.has(.persistent) }.map(\.savedKey)
        guard !added.isEmpty || !removed.isEmpty else { return }
        batch.links.append(LinkChange(relationship: relationship.index, owner: own, added: added, removed: removed))
    }
}

extension ContiguousArray<NSManagedObject> {
    /// The keys that the save gives these objects, 15 instructions each.
    fileprivate var savedKeys: [RowKey] {
        // With a capacity of zero the count would be written to the shared empty array.
        guard !isEmpty else { return [] }
        return [RowKey](unsafeUninitializedCapacity: count) { keys, made in
            borrowEach { object in
                keys.initializeElement(at: made, to: object.savedKey)
                made += 1
            }
        }
    }
}
