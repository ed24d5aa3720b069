// A to-many after a merge: what was added and removed here, on top of what the store has.

import CoreDataValues
import Foundation

/// What a merge makes of one to-many of one object.
///
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

    func settle(_ object: NSManagedObject, _ context: NSManagedObjectContext) {
        let opposite = relationship.inverse.map { object._state.info.schema[$0] }
        let belongsToMember = opposite.map { !$0.isToMany } ?? false
        let order = members.order
        members.order = nil
        members.base = .fault
        if !belongsToMember { mergePairs(object, opposite?.toManyIndex) }
        if relationship.isOrdered, let order { merge(order, object) }
    }

    private func mergePairs(_ object: NSManagedObject, _ opposite: Int?) {
        guard members.isChanged else { return }
        let stored = Set(object.committedMembers(at: index))
        let drops = type == .rollbackMergePolicyType
        for member in members.added.objects + members.removed.objects {
            let isStored = stored.contains(member)
            let isPresent = drops ? isStored : members.hasAdded(member)
            object.settle(member, toMany: index, isStored: isStored, isPresent: isPresent)
            if let opposite { member.settle(object, toMany: opposite, isStored: isStored, isPresent: isPresent) }
        }
    }

    /// An order that was changed here: the object's own where it trumps, else the store's; members of the other side follow.
    private func merge(_ order: ContiguousArray<NSManagedObject>, _ object: NSManagedObject) {
        members.order = nil
        let isMembershipChanged = !members.added.isEmpty || !members.removed.isEmpty
        let present = ContiguousArray(object.members(at: index))
        switch type {
        case .mergeByPropertyObjectTrumpMergePolicyType, .overwriteMergePolicyType:
            let there = Set(present)
            let known = Set(order)
            members.order = order.filter { there.contains($0) } + present.filter { !known.contains($0) }
        case .mergeByPropertyStoreTrumpMergePolicyType, .rollbackMergePolicyType, .errorMergePolicyType:
            members.order = isMembershipChanged ? present : nil
        }
    }
}
