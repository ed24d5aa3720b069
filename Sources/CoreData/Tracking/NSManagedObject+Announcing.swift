// Access and change announced by custom accessors: `willAccessValue` … `didChangeValue`.
//
// A custom accessor writes primitive values between the two calls of a pair. What a plain setter does besides, logging
// for an undo, marking the object changed and writing the inverse, is done here.

import CoreDataValues
import Foundation

/// A change of a relationship that was announced and is not complete yet.
struct OpenChange {
    let object: NSManagedObject
    let key: String
    /// The targets before the change; of a union or a difference only those among its objects.
    let before: ContiguousArray<NSManagedObject>
    /// The objects of a union or a difference; nil when any target may change.
    let candidates: ContiguousArray<NSManagedObject>?
}

extension NSManagedObject {
    final func announceAccess(_ key: String?) {
        checkQueue()
        guard _state.isFault else { return }
        if case .slot(let slot)? = key.flatMap(place(of:)) { fire(reading: slot) } else { fire() }
    }

    /// Logs an attribute's former value and marks the object at once; for a relationship, keeps the targets until the
    /// change is complete.
    final func announceChange(_ key: String, candidates: ContiguousArray<NSManagedObject>? = nil) {
        checkQueue()
        if let composite = compositePlace(of: key) { return composite.slots.forEach { _ = willWrite($0) } }
        switch place(of: key) {
        case .slot(let slot) where kind(slot) != .toOne: _ = willWrite(slot)
        case .slot(let slot): open(key, target(at: slot).map { [$0] } ?? [], nil)
        case .toMany(let index):
            let candidates = relationship(toMany: index).isOrdered ? nil : candidates
            let before = candidates.map { $0.filter { isMember($0, at: index) } } ?? ContiguousArray(members(at: index))
            open(key, before, candidates)
        case .fetched, nil: return
        }
    }

    final func announceChange(_ key: String, _ kind: NSKeyValueSetMutationKind, _ objects: Set<AnyHashable>) {
        switch kind {
        case .union, .minus:
            announceChange(key, candidates: ContiguousArray(objects.compactMap { $0.base as? NSManagedObject }))
        case .intersect, .set: announceChange(key)
        }
    }

    private func open(
        _ key: String, _ before: ContiguousArray<NSManagedObject>, _ candidates: ContiguousArray<NSManagedObject>?
    ) {
        guard !_state.has(.detached), let context = _state.identityMap?.context else { return }
        context.openChanges.append(OpenChange(object: self, key: key, before: before, candidates: candidates))
    }

    /// Takes back what primitive setters did to a relationship and does it again by the tracked setters, which write
    /// the inverse and the log.
    final func completeChange(_ key: String) {
        checkQueue()
        guard let context = _state.identityMap?.context,
            let position = context.openChanges.lastIndex(where: { $0.object === self && $0.key == key })
        else { return }
        let change = context.openChanges.remove(at: position)
        switch place(of: key) {
        case .slot(let slot): complete(change, target: slot)
        case .toMany(let index):
            if let candidates = change.candidates {
                complete(change, among: candidates, index)
            } else {
                let after = ContiguousArray(members(at: index))
                fixup.setMembersSilently(index, change.before)
                fixup.setMembers(index, after)
            }
        case .fetched, nil: return
        }
    }

    private func complete(_ change: OpenChange, target slot: Int) {
        let after = target(at: slot)
        setTargetSilently(slot, change.before.first)
        fixup.setTarget(slot, after)
    }

    private func complete(_ change: OpenChange, among candidates: ContiguousArray<NSManagedObject>, _ index: Int) {
        let before = objectSet(change.before)
        let members = makeToManyState(index)
        for member in candidates {
            switch (before.contains(member), isMember(member, at: index)) {
            case (false, true):
                members.unlink(member, isOrdered: relationship(toMany: index).isOrdered)
                fixup.addMember(index, member)
            case (true, false):
                members.link(member)
                fixup.removeMember(index, member)
            case (true, true), (false, false): continue
            }
        }
    }

    /// Writes a to-one on this side only, without undo and change tracking.
    final func setTargetSilently(_ slot: Int, _ target: NSManagedObject?) {
        if let target { check(target, fits: relationship(at: slot)) }
        if _state.isFault { fire(reading: slot) }
        let overlay = _state.makeOverlay()
        if let target { overlay.set(slot, target as AnyObject) } else { overlay.setNull(slot, .toOne) }
    }
}
