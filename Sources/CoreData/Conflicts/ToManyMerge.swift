// Merges a to-many: the members added and removed here, on top of the stored ones.

import CoreDataValues
import Foundation

/// The merge of one to-many of one object.
///
/// The members are a fault afterwards with the pending changes on top: the store is only asked about changed pairs. An
/// order that was changed here is read whole.
/// Pairs that were added or removed here stay so whatever another writer did (6.3); a rollback drops them. Where the
/// inverse is a to-one, the pair belongs to the member and is merged with it.
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
        let stored = StoredState(object)
        stored.forgetOrder(of: members)
        stored.forget(members)
        if !belongsToMember { mergePairs(object, opposite?.toManyIndex, context) }
        if relationship.isOrdered, let order { merge(order, object) }
    }

    /// Whether the order has changes other than removals and appends.
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
        // A store that cannot answer for one pair reads all members.
        return context.isStored(member, in: object, toMany: index)
            ?? object.committedMembers(at: index).contains { $0 === member }
    }

    /// Keeps the changed order under objectTrump and overwrite, with other members last; else takes the store's.
    private func merge(_ order: ContiguousArray<NSManagedObject>, _ object: NSManagedObject) {
        let stored = StoredState(object)
        stored.forgetOrder(of: members)
        let isMembershipChanged = !members.added.isEmpty || !members.removed.isEmpty
        let present = ContiguousArray(object.members(at: index))
        switch type {
        case .mergeByPropertyObjectTrumpMergePolicyType, .overwriteMergePolicyType:
            let there = Set(present)
            let known = Set(order)
            stored.setOrder(order.filter { there.contains($0) } + present.filter { !known.contains($0) }, of: members)
        case .mergeByPropertyStoreTrumpMergePolicyType, .rollbackMergePolicyType, .errorMergePolicyType:
            stored.setOrder(isMembershipChanged ? present : nil, of: members)
        }
    }
}
