// Transient attributes and relationships: kept in memory only, and reset when an object is read anew.

import CoreDataValues

extension NSManagedObject {
    /// Gives transient attributes their defaults back. An object that nothing else changed is not changed any more.
    final func resetTransients() {
        let state = _state
        guard state.has(.persistent), !state.has(.gone), let overlay = state.overlay else { return }
        for (slot, property) in state.info.entity.slots.enumerated()
        where property.isTransient && overlay.isPresent(slot) {
            overlay.remove(slot, property.kind)
        }
        guard state.has(.updated), !state.has([.inserted, .deleted]), !SaveOperation.isChanged(self) else { return }
        state.identityMap?.context?.tracker.discard(self)
        state.dropOverlay()
        if state.info.transientDefaults != nil { state.leaveTransientDefaults() }
    }
}

extension UnsafeMutablePointer<ObjectState> {
    /// Keeps reads from going straight to the row, which has no defaults of transient attributes.
    func leaveTransientDefaults() {
        if info.classBinding.slots != nil { pointee.slow |= SlowReason.foreignSlots }
    }

    /// Lets go of relationships, but not of members that are nowhere but here.
    func dropStoredRelationships() {
        guard info.hasTransientToMany else { return dropRelationships() }
        dropRelationships(
            but: info.toManyRelationships.indices.filter { info.toManyRelationships[$0].description.isTransient })
    }

    /// Lets go of what is known of relationships, except for some to-manys.
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
