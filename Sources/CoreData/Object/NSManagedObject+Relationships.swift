// Reading relationships: targets and members.

import CoreDataValues
import Foundation

extension NSManagedObject {
    final func place(of key: String) -> PropertyPlace? { _state.info.entity.places[key] }

    /// The to-one relationship that a slot belongs to.
    final func relationship(at slot: Int) -> ResolvedRelationship {
        guard let relationship = _state.info.slotRelationships[slot] else {
            misuse("\(_state.info.entity.slots[slot].name) of \(entity.name ?? "") is no to-one relationship.")
        }
        return relationship
    }

    final func relationship(toMany index: Int) -> ResolvedRelationship {
        _state.info.toManyRelationships[index]
    }

    // MARK: To-one

    /// The present target of a to-one; a fault if it is not in memory.
    final func target(at slot: Int) -> NSManagedObject? {
        let state = _state
        if let overlay = state.overlay, overlay.isPresent(slot) {
            return overlay.reference(slot) as? NSManagedObject
        }
        if let targets = state.pointee.targets, let cached = targets[slot] {
            return Unmanaged<NSManagedObject>.fromOpaque(cached).takeUnretainedValue()
        }
        return committedTarget(at: slot)
    }

    /// The target as last read or saved.
    final func committedTarget(at slot: Int) -> NSManagedObject? {
        guard _state.has(.persistent) || _state.pointee.row != nil,
            let key = committedTargetKey(at: slot), let context = _state.registry?.context
        else { return nil }
        let target = context.object(for: key)
        if context.runtime.isAcyclic(relationship(at: slot).index) { cache(target, at: slot) }
        return target
    }

    final func committedTargetKey(at slot: Int) -> ObjectKey? {
        guard case .row(let row, _) = committedSource(slot) else { return nil }
        let relationship = relationship(at: slot)
        var entity = relationship.destination
        if relationship.hasEntityTag, row.isPresent(slot + 1), row[slot + 1] > 0,
            row[slot + 1] <= UInt64(_state.info.schema.entities.count)
        {
            entity = EntityIndex(Int(row[slot + 1]) - 1)
        }
        return ObjectKey(number: Int64(bitPattern: row[slot]), entity: entity, store: _state.pointee.store)
    }

    /// Keeps a target alive with its source: only along relationships that cannot form a cycle (I-4).
    private func cache(_ target: NSManagedObject, at slot: Int) {
        let state = _state
        let targets: UnsafeMutablePointer<UnsafeRawPointer?>
        if let existing = state.pointee.targets {
            targets = existing
        } else {
            let count = state.info.layout.slotCount
            targets = .allocate(capacity: count)
            targets.initialize(repeating: nil, count: count)
            state.pointee.targets = targets
        }
        let retained = UnsafeRawPointer(Unmanaged.passRetained(target).toOpaque())
        let former = targets[slot]
        targets[slot] = retained
        if let former { Unmanaged<NSManagedObject>.fromOpaque(former).release() }
    }

    // MARK: To-many

    /// What is known of a to-many, nil when nothing is.
    final func toManyState(_ index: Int) -> ToMany? {
        guard let members = _state.pointee.toMany?[index] else { return nil }
        return Unmanaged<ToMany>.fromOpaque(members).takeUnretainedValue()
    }

    final func makeToManyState(_ index: Int) -> ToMany {
        if let existing = toManyState(index) { return existing }
        let state = _state
        if state.pointee.toMany == nil {
            let count = max(1, state.info.entity.toMany.count)
            let memory = UnsafeMutablePointer<UnsafeRawPointer?>.allocate(capacity: count)
            memory.initialize(repeating: nil, count: count)
            state.pointee.toMany = memory
        }
        let made = ToMany(base: state.has(.persistent) ? .fault : .keys([]))
        state.pointee.toMany?[index] = UnsafeRawPointer(Unmanaged.passRetained(made).toOpaque())
        return made
    }

    /// All to-many states that exist.
    final func forEachToMany(_ body: (Int, ToMany) -> Void) {
        guard let toMany = _state.pointee.toMany else { return }
        for index in 0..<_state.info.entity.toMany.count {
            if let members = toMany[index] { body(index, Unmanaged<ToMany>.fromOpaque(members).takeUnretainedValue()) }
        }
    }

    final func hasChangedToMany() -> Bool {
        var changed = false
        forEachToMany { _, members in changed = changed || members.isChanged }
        return changed
    }

    /// The present members of a to-many, in order if the relationship is ordered.
    final func members(at index: Int) -> [NSManagedObject] {
        let members = makeToManyState(index)
        if let order = members.order { return Array(order) }
        let base = committedMembers(at: index)
        guard members.isChanged else { return base }
        var present = members.removed.isEmpty ? base : base.filter { !members.hasRemoved($0) }
        present.append(contentsOf: members.added.objects)
        return present
    }

    /// The members as last read or saved; reads them if they are a fault.
    final func committedMembers(at index: Int) -> [NSManagedObject] {
        let members = makeToManyState(index)
        guard let context = _state.registry?.context else { return [] }
        members.dropOldRows(context.rowTime, store: _state.pointee.store)
        if members.isFault { context.fire(self, toMany: index, members) }
        switch members.base {
        case .fault: return []
        case .rows(let batches): return context.materialize(batches, store: _state.pointee.store)
        case .keys(let keys): return keys.map { context.object(for: $0) }
        }
    }

    /// Whether an object is a member now. Reads the members only if both rows exist already.
    final func isMember(_ object: NSManagedObject, at index: Int) -> Bool {
        let members = makeToManyState(index)
        if let order = members.order { return order.contains { $0 === object } }
        if members.hasAdded(object) { return true }
        if members.hasRemoved(object) { return false }
        guard _state.has(.persistent), object._state.has(.persistent) else { return false }
        return committedMembers(at: index).contains { $0 === object }
    }
}
