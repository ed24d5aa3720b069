// A to-many after a merge: what was added and removed here, on top of what the store has.

import CoreDataValues
import Foundation

/// What a merge makes of one to-many of one object.
///
/// The members are unread afterwards, with what was changed here on top: the store is asked only about the pairs that were. An order
/// that was changed here is read whole.
/// Pairs that were added or removed here stay so whatever another writer did (6.3); a rollback drops them. Where the other side is a
/// to-one, the pair belongs to the member and is settled with it.
struct ToManyMerge {
    private let index: Int
    private let relationship: ResolvedRelationship
    private let members: ToMany
    private let type: NSMergePolicyType

    init(index: Int, relationship: ResolvedRelationship, _ members: ToMany, _ type: NSMergePolicyType) {
        self.index = index
        self.relationship = relationship
        self.members = members
        self.type = type
    }

    func apply(to object: NSManagedObject, in context: NSManagedObjectContext) {
        let opposite = relationship.inverse.map { object._state.info.schema[$0] }
        let belongsToMember = opposite.map { !$0.isToMany } ?? false
        let order = hasOrderOfItsOwn(object) ? members.order : nil
        members.dropOrder()
        members.becomeFault()
        if !belongsToMember { mergePairs(object, opposite?.toManyIndex, context) }
        if relationship.isOrdered, let order { merge(order, object) }
    }

    /// Whether the order says more than that members went, or came last.
    private func hasOrderOfItsOwn(_ object: NSManagedObject) -> Bool {
        guard members.hasOrder else { return false }
        return object.addedAtEnd(index, members).map { !$0.elementsEqual(members.added.objects, by: ===) } ?? true
    }

    private func mergePairs(_ object: NSManagedObject, _ opposite: Int?, _ context: NSManagedObjectContext) {
        guard members.isChanged else { return }
        let drops = type == .rollbackMergePolicyType
        for member in members.added.objects + members.removed.objects {
            let isStored = isStored(member, in: object, context)
            let isPresent = drops ? isStored : members.hasAdded(member)
            object.merge(member, toMany: index, isStored: isStored, isPresent: isPresent)
            if let opposite { member.merge(object, toMany: opposite, isStored: isStored, isPresent: isPresent) }
        }
    }

    private func isStored(_ member: NSManagedObject, in object: NSManagedObject, _ context: NSManagedObjectContext)
        -> Bool
    {
        guard member._state.has(.persistent) else { return false }
        // A store that cannot tell names all members.
        return context.isStored(member, in: object, toMany: index)
            ?? object.committedMembers(at: index).contains { $0 === member }
    }

    /// An order that was changed here: the object's own where it trumps, else the store's; members of the other side follow.
    private func merge(_ order: ContiguousArray<NSManagedObject>, _ object: NSManagedObject) {
        members.dropOrder()
        let isMembershipChanged = !members.added.isEmpty || !members.removed.isEmpty
        let present = ContiguousArray(object.members(at: index))
        switch type {
        case .mergeByPropertyObjectTrumpMergePolicyType, .overwriteMergePolicyType:
            let there = Set(present)
            let known = Set(order)
            members.setOrder(order.filter { there.contains($0) } + present.filter { !known.contains($0) })
        case .mergeByPropertyStoreTrumpMergePolicyType, .rollbackMergePolicyType, .errorMergePolicyType:
            members.setOrder(isMembershipChanged ? present : nil)
        }
    }
}
