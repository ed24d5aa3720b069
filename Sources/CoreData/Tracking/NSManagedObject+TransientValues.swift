// Transient attributes and relationships: they are in memory only, and are reset when an object is read anew.

import CoreDataValues

extension NSManagedObject {
    /// Resets transient attributes to their defaults. An object without other changes is no longer updated.
    final func resetTransients() {
        let state = _state
        guard state.has(.persistent), !state.has(.detached), let overlay = state.overlay else { return }
        for (slot, property) in state.info.entity.slots.enumerated()
        where property.isTransient && overlay.isPresent(slot) {
            overlay.remove(slot, property.kind)
        }
        guard state.has(.updated), !state.has([.inserted, .deleted]), !countsAsChanged else { return }
        state.identityMap?.context?.tracker.discard(self)
        state.dropOverlay()
        if state.info.transientDefaults != nil { state.leaveTransientDefaults() }
    }
}

extension UnsafeMutablePointer<ObjectState> {
    /// Keeps reads off the fast path to the row, which lacks the defaults of transient attributes.
    func leaveTransientDefaults() {
        if info.classBinding.slots != nil { pointee.slow |= SlowReason.foreignSlots }
    }

    /// Drops what is known of stored relationships, but keeps transient to-manys, whose members no store has.
    func dropStoredRelationships() {
        guard info.hasTransientToMany else { return dropRelationships() }
        dropRelationships(
            but: info.toManyRelationships.indices.filter { info.toManyRelationships[$0].description.isTransient })
    }

    /// Drops what is known of relationships, except for some to-manys.
    func dropRelationships(but indexes: [Int]) {
        guard let toMany = pointee.toMany, !indexes.isEmpty else { return dropRelationships() }
        var kept: [(index: Int, members: UnsafeRawPointer)] = []
        for index in indexes {
            guard let members = toMany[index] else { continue }
            kept.append((index, members))
            toMany[index] = nil
        }
        dropRelationships()
        guard !kept.isEmpty else { return }
        let count = info.relationshipStateCount
        let memory = UnsafeMutablePointer<UnsafeRawPointer?>.allocate(capacity: count)
        memory.initialize(repeating: nil, count: count)
        for (index, members) in kept { memory[index] = members }
        pointee.toMany = memory
    }
}

extension EntityInfo {
    var hasTransientToMany: Bool { toManyRelationships.contains { $0.description.isTransient } }
}
