// Gives a to-one its target after a merge, and updates the inverses.

import CoreDataValues
import Foundation

/// The outcome of a merge for one to-one of one object.
struct ToOneMerge {
    let slot: Int
    /// The target in the row that the context read.
    let read: ObjectKey?
    /// The target in the row that the store has.
    let stored: ObjectKey?
    /// The target before the merge.
    let former: NSManagedObject?
    /// The target afterwards.
    let target: NSManagedObject?

    /// *write this side · update the inverses*. The object already has the store's row.
    func apply(to object: NSManagedObject, in context: NSManagedObjectContext) {
        let state = object._state
        if target?._state.key.row == stored?.row, target == nil || target?._state.has(.persistent) == true {
            state.overlay?.remove(slot, .toOne)
        } else if let target {
            state.makeOverlay().set(slot, target as AnyObject)
        } else {
            state.makeOverlay().setNull(slot, .toOne)
        }
        guard let inverse = state.info.slotInverses[slot] else { return }
        // Neither the other writer nor the merge changed the target.
        let isUnmoved = read?.row == stored?.row && former === target
        switch inverse.place {
        case .toMany(let index): if !isUnmoved { updateMembers(object, index, context) }
        // Also if the target was changed here: the other end may predate the other writer's change.
        case .slot(let opposite):
            if !isUnmoved || target?._state.key.row != stored?.row { updateOpposite(object, opposite, context) }
        case .fetched: break
        }
    }

    private func involved(_ context: NSManagedObjectContext) -> [NSManagedObject] {
        var found: [NSManagedObject] = []
        let candidates = [
            read.flatMap { context.registered($0) }, stored.flatMap { context.registered($0) }, former, target,
        ]
        for case let other? in candidates where !found.contains(where: { $0 === other }) { found.append(other) }
        return found
    }

    // MARK: To-many inverses

    private func updateMembers(_ object: NSManagedObject, _ index: Int, _ context: NSManagedObjectContext) {
        for owner in involved(context) where !owner._state.has(.detached) {
            let isStored = stored.map { $0 == owner._state.key } ?? false
            let isPresent = owner === target
            if owner.toManyState(index) == nil, isStored == isPresent { continue }
            // The other writer's change of its members raised its version.
            if read?.row != stored?.row { owner.forgetRowIfClean() }
            owner.merge(object, toMany: index, isStored: isStored, isPresent: isPresent)
        }
    }

    // MARK: To-one inverses

    private func updateOpposite(_ object: NSManagedObject, _ opposite: Int, _ context: NSManagedObjectContext) {
        for other in involved(context) where !other._state.has(.detached) { other.refaultOrCompare() }
        if let target, target.isInaccessible { return object.fixup.writeTarget(slot, nil) }
        for other in [former, read.flatMap { context.registered($0) }] {
            guard let other, other !== target, !other._state.has(.detached) else { continue }
            if other.target(at: opposite) === object { other.fixup.writeTarget(opposite, nil) }
            other.leaveSaveIfClean()
        }
        if let stored, target?._state.key.row != stored.row {
            let other = context.object(for: stored)
            if other.target(at: opposite) === object { other.fixup.writeTarget(opposite, nil) }
        }
        guard let target, target.target(at: opposite) !== object else { return }
        if let rival = target.target(at: opposite), rival !== object {
            // `rival` may predate the other writer's change; refresh it.
            rival.refaultOrCompare()
            if rival.target(at: slot) === target { rival.fixup.writeTarget(slot, nil) }
        }
        target.fixup.writeTarget(opposite, object)
    }
}

extension NSManagedObject {
    /// Whether the row is gone. Reads the row of a fault.
    fileprivate final var isInaccessible: Bool {
        if _state.isFault { fire() }
        return _state.has(.inaccessible)
    }
}
