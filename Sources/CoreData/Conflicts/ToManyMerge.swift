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
        if belongsToMember {
            members.base = .fault
        } else if members.isChanged || !members.isFault {
            mergePairs(object, opposite?.toManyIndex, context)
        }
        if relationship.isOrdered, let order { merge(order, object) }
    }

    private func mergePairs(_ object: NSManagedObject, _ opposite: Int?, _ context: NSManagedObjectContext) {
        let known = Set(members.storedKeys(in: object._state.pointee.store))
        members.order = nil
        members.base = .fault
        let stored = Set(object.committedMembers(at: index))
        if let opposite {
            for key in known.symmetricDifference(stored.map { $0._state.key }) {
                guard let other = context.registered(key), let others = other.toManyState(opposite) else { continue }
                context.saveMemory?.remember(other)
                others.setStored(object._state.key, !known.contains(key))
            }
        }
        let drops = type == .rollbackMergePolicyType
        for member in members.added.objects + members.removed.objects {
            let isStored = stored.contains(member)
            let isPresent = drops ? isStored : members.hasAdded(member)
            members.settle(member, isStored: isStored, isPresent: isPresent)
            guard let opposite else { continue }
            context.saveMemory?.remember(member)
            let others = member.makeToManyState(opposite)
            others.setStored(object._state.key, isStored)
            others.settle(object, isStored: isStored, isPresent: isPresent)
            member.placeInOrder(object, isPresent: isPresent, opposite, member.relationship(toMany: opposite))
            member.leaveSaveIfClean()
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

extension ToMany {
    /// Makes what is pending for one member follow from whether it is stored and whether it is a member now.
    func settle(_ member: NSManagedObject, isStored: Bool, isPresent: Bool) {
        if hasAdded(member) { unlink(member) } else if hasRemoved(member) { link(member) }
        if isPresent, !isStored { link(member) }
        if isStored, !isPresent { unlink(member) }
    }

    /// Makes what is known of the stored members say whether one is among them. Members that were not read stay unread.
    func setStored(_ member: ObjectKey, _ isStored: Bool) {
        guard !isFault else { return }
        let known = storedKeys(in: member.store)
        guard known.contains(member) != isStored else { return }
        base = .keys(isStored ? known + [member] : known.filter { $0 != member })
    }

    /// The stored members as far as they were read.
    func storedKeys(in store: UInt16) -> ContiguousArray<ObjectKey> {
        switch base {
        case .fault: []
        case .keys(let keys): keys
        case .rows(let batches): ContiguousArray(batches.flatMap { $0.keys(inStore: store) })
        case .slices(let slices): slices.keys(inStore: store)
        }
    }
}
