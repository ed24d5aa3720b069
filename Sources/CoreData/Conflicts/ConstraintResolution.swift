// How the built-in policies resolve broken uniqueness constraints.

import CoreDataValues
import Foundation

/// Merges objects that claim the same values into one. The survivor is the object with the existing row, else the
/// first; it keeps its ID and what points at it. The policy's type decides whose values it has afterwards.
///
/// | type | values of the survivor | relationships to the other object |
/// |---|---|---|
/// | objectTrump | those of the new object that are not nil, the rest its own | move to the survivor |
/// | overwrite | all of the new object | move |
/// | storeTrump | its own | move |
/// | rollback | its own | are cleared, as by a deletion |
///
/// A saved object that was given another row's values loses that change under storeTrump and rollback. Under
/// objectTrump and overwrite it survives, and the other row is deleted after the relationships to it were moved.
struct ConstraintResolution {
    private let type: NSMergePolicyType
    init(_ type: NSMergePolicyType) { self.type = type }

    func resolve(_ conflicts: [NSConstraintConflict]) throws {
        if type == .errorMergePolicyType { throw ConflictError.error(conflicts) }
        for conflict in conflicts {
            var claimants = conflict.conflictingObjects.filter(conflict.isClaimed)
            let existing: NSManagedObject
            if let row = conflict.databaseObject {
                existing = row
            } else {
                let place = claimants.firstIndex { !$0._state.has(.inserted) } ?? 0
                guard claimants.count > 1 else { continue }
                existing = claimants.remove(at: place)
            }
            for claimant in claimants where claimant !== existing {
                guard let context = claimant.managedObjectContext, !claimant.isDeleted, !existing.isDeleted else {
                    continue
                }
                context.saveMemory?.rememberMerged(claimant)
                context.saveMemory?.rememberMerged(existing)
                existing.refaultOtherEnds()
                try resolve(claimant, existing, conflict.constraint, context)
            }
        }
    }

    /// Whether the survivor gets the values of a new object.
    private var takesNewValues: Bool {
        switch type {
        case .mergeByPropertyObjectTrumpMergePolicyType, .overwriteMergePolicyType: true
        case .errorMergePolicyType, .mergeByPropertyStoreTrumpMergePolicyType, .rollbackMergePolicyType: false
        }
    }

    private func resolve(
        _ claimant: NSManagedObject, _ existing: NSManagedObject, _ constraint: [String],
        _ context: NSManagedObjectContext
    ) throws {
        let isNew = claimant._state.has(.inserted)
        if isNew { context.saveReport?.note(claimant, became: existing, takesNewValues ? .updated : .kept) }
        let merger = ObjectMerger(context)
        switch type {
        case .errorMergePolicyType: break
        case .mergeByPropertyObjectTrumpMergePolicyType where isNew:
            merger.copyValues(of: claimant, to: existing, nils: false)
            merger.moveLinks(of: claimant, to: existing)
            merger.remove(claimant)
        case .overwriteMergePolicyType where isNew:
            merger.copyValues(of: claimant, to: existing, nils: true)
            merger.moveLinks(of: claimant, to: existing)
            merger.remove(claimant)
        case .mergeByPropertyStoreTrumpMergePolicyType where isNew:
            merger.moveLinks(of: claimant, to: existing)
            merger.remove(claimant)
        case .rollbackMergePolicyType where isNew:
            merger.remove(claimant)
        case .mergeByPropertyObjectTrumpMergePolicyType, .overwriteMergePolicyType:
            merger.moveLinks(of: existing, to: claimant)
            merger.remove(existing)
        case .mergeByPropertyStoreTrumpMergePolicyType:
            merger.revert(constraint, of: claimant)
        case .rollbackMergePolicyType:
            guard let read = claimant.lastRead else { return }
            try Rebase(claimant, onto: read, .rollbackMergePolicyType, context).run()
        }
    }
}

/// Merges one object into another.
private struct ObjectMerger {
    private let context: NSManagedObjectContext
    init(_ context: NSManagedObjectContext) { self.context = context }

    /// Copies attributes and to-ones that both entities have.
    func copyValues(of source: NSManagedObject, to target: NSManagedObject, nils: Bool) {
        if target._state.isFault { target.fire() }
        for (slot, property) in source._state.info.entity.slots.enumerated()
        where !property.isTransient && property.kind != .entityTag {
            guard case .slot(let place)? = target.place(of: property.name), target.kind(place) == property.kind else {
                continue
            }
            if property.kind == .toOne {
                let new = source.target(at: slot)
                guard new != nil || nils, new !== target.target(at: place) else { continue }
                target.fixup.setTarget(place, new)
            } else {
                let new = source.value(at: slot)
                guard nils || !new.isNull, new != target.value(at: place) else { continue }
                target.setValue(new, at: place)
            }
        }
        awake(target)
    }

    /// Moves the members of all to-manys, and with them the inverses that point at the source.
    func moveLinks(of source: NSManagedObject, to target: NSManagedObject) {
        for relationship in source._state.info.toManyRelationships {
            guard let index = relationship.toManyIndex, case .toMany(let place)? = target.place(of: relationship.name)
            else {
                continue
            }
            for member in source.members(at: index) where member !== target {
                source.fixup.removeMember(index, member)
                target.fixup.addMember(place, member)
            }
        }
    }

    /// Deletes an object by the rules of its relationships.
    func remove(_ object: NSManagedObject) { context.remove(object) }

    /// Drops the changes of some attributes.
    func revert(_ names: [String], of object: NSManagedObject) {
        let state = object._state
        for name in names {
            guard case .slot(let slot)? = object.place(of: name), object.kind(slot) != .toOne else { continue }
            state.overlay?.remove(slot, object.kind(slot))
        }
        context.tracker.addToEvent(object, .eventRefreshed)
        object.leaveSaveIfClean()
        awake(object)
    }

    private func awake(_ object: NSManagedObject) {
        context.writing(as: .waking) { object.awake(fromSnapshotEvents: .mergePolicy) }
    }
}
