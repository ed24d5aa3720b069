// Objects that are deleted here and changed by another writer.

import CoreDataValues
import Foundation

extension NSManagedObjectContext {
    /// Deletes the current row; applying the delete rules again finds what points at it by now.
    func deleteAgain(_ object: NSManagedObject, _ row: RowSnapshot) {
        let read = object.lastRead
        StoredState(object).attach(row)
        object._state.dropTargets()
        tracker.forgetBase(of: object)
        reopenRules(of: object, row, formerly: read)
    }

    /// Has the delete rules of a deleted object applied again after its row was replaced.
    func reopenRules(of object: NSManagedObject, _ row: RowSnapshot, formerly read: RowSnapshot?) {
        let state = object._state
        for (slot, inverse) in state.info.slotInverses.enumerated() {
            guard let inverse, let key = object.targetKey(at: slot, of: row) else { continue }
            // The owner's to-many has already lost the object, unless the new row names another owner.
            if inverse.isToMany, key == read.flatMap({ object.targetKey(at: slot, of: $0) }) { continue }
            state.overlay?.remove(slot, .toOne)
            object.committedTarget(at: slot)?.forgetRowIfClean()
        }
        object.forEachStoredToMany { index, members in
            let stored = StoredState(object)
            stored.forgetOrder(of: members)
            stored.forget(members)
            for member in object.committedMembers(at: index) { member.forgetRowIfClean() }
        }
        state.clear(.rulesApplied)
        tracker.deletePropagation.add(object)
    }

    /// Restores an object that was deleted here, and the objects that its cascade rules deleted.
    func undelete(of object: NSManagedObject) {
        guard object._state.has(.deleted), !object._state.has([.detached, .inaccessible]) else { return }
        cancelDeletion(object)
        for relationship in object._state.info.relationships {
            switch relationship.place {
            case .slot(let slot):
                guard let target = object.committedTarget(at: slot) else { continue }
                undeleteCascaded(target, along: relationship)
                if object.target(at: slot) == nil, !target._state.has([.deleted, .detached]) {
                    object.fixup.setTarget(slot, target)
                }
            case .toMany(let index):
                let removed = object.toManyState(index)?.removed.objects ?? []
                for member in removed { undeleteCascaded(member, along: relationship) }
                for member in removed where !member._state.has([.deleted, .detached]) {
                    if isFree(member, for: relationship) { object.fixup.addMember(index, member) }
                }
            case .fetched: continue
            }
        }
    }

    private func undeleteCascaded(_ object: NSManagedObject, along relationship: ResolvedRelationship) {
        guard relationship.description.deleteRule == .cascade, object._state.has(.persistent) else { return }
        undelete(of: object)
    }

    /// Whether a former member has not been given to another owner.
    private func isFree(_ member: NSManagedObject, for relationship: ResolvedRelationship) -> Bool {
        guard let inverse = relationship.inverse, let slot = runtime.schema[inverse].slot else { return true }
        return member.target(at: slot) == nil
    }
}
