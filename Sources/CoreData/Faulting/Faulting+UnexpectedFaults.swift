// Follows how objects are reached, and reports the faults that nobody expected.

import CoreDataValues

extension Faulting {
    /// Starts or stops tracing as the watch needs it. Marks all registered objects, so that reads are noted.
    func lookWhetherTracing() {
        let wasTracing = isTracing
        isTracing = watch?.traces ?? false
        guard isTracing != wasTracing else { return }
        for object in context.identityMap?.all() ?? [] {
            let state = object._state
            if isTracing { state.set(.traced) } else { state.clear(.traced) }
            if !state.has(.watched) { state.clear(.pathKnown) }
        }
    }

    var requiredWatch: FaultWatch {
        if let watch { return watch }
        let made = FaultWatch()
        watch = made
        return made
    }

    /// Marks objects whose faults are unexpected from now on.
    func expectNoFaults(of objects: [NSManagedObject]) {
        for object in objects {
            object._state.set(.watched)
            watch?.begin(at: object)
        }
    }

    /// Marks objects that a request returned while all objects are traced: paths start at them.
    func trace(_ objects: [NSManagedObject]) {
        watch?.beginCounting(from: objects)
        for object in objects where !object._state.has(.watched) {
            object._state.set(.traced)
            watch?.begin(at: object)
        }
    }

    /// Marks an object reached from a watched one, or from any while all are traced, and notes the relationship.
    ///
    /// While tracing, an object that is noted already keeps its path or start unless it has no row.
    func noteReach(_ object: NSManagedObject, from source: NSManagedObject, by relationship: ResolvedRelationship) {
        if source._state.has(.watched) {
            guard !object._state.has(.watched) else { return }
            object._state.set(.watched)
        } else {
            guard isTracing, object.lacksRow || !object._state.has([.watched, .pathKnown]) else { return }
            source._state.set(.traced)
            object._state.set(.traced)
        }
        requiredWatch.note(object, from: source, by: relationship.name)
    }

    /// Reports a read of an object's row, or of the members of a to-many, if it is unexpected.
    ///
    /// Faults that the handler itself fires in this context are not reported.
    func noteFault(of object: NSManagedObject, toMany index: Int? = nil) {
        let isWatched = object._state.has(.watched)
        guard watch != nil || isWatched else { return }
        let watch = requiredWatch
        guard isWatched || watch.traces, !isTellingOfFault else { return }
        isTellingOfFault = true
        watch.use(object)
        let fault = report(object, index)
        if isWatched || watch.tellsAll { watch.tell(fault) }
        if watch.repeatHandler != nil { watch.count(fault) }
        watch.report?.add(fault)
        isTellingOfFault = false
    }

    private func report(_ object: NSManagedObject, _ index: Int?) -> UnexpectedFault {
        let entity = object._state.info.entity
        let relationship = index.map { object.relationship(toMany: $0).name }
        let path = pathToFault(of: object, relationship)
        return UnexpectedFault(
            entityName: entity.name, objectID: object.objectID, relationshipName: relationship,
            prefetchKeyPath: path?.keyPath,
            prefetchEntityName: path?.entity)
    }

    /// The path to prefetch; nil for the row of an object that no relationship led to.
    private func pathToFault(of object: NSManagedObject, _ relationship: String?) -> RelationshipTrace? {
        let watch = requiredWatch
        if let relationship { return watch.path(to: object).step(relationship) }
        return watch.pathFollowed(to: object)
            ?? object.origin.map { RelationshipTrace(entity: $0.entity.name).step($0.slot.name) }
    }
}

extension NSManagedObject {
    /// The to-one by which a fault was reached.
    fileprivate final var origin: (entity: Entity, slot: Slot)? {
        let state = _state
        guard state.pointee.row == nil, let layout = state.chunk?.layout, layout.slotCount > 0 else { return nil }
        let entity = state.info.schema[layout.entity]
        let slot = Int(state.pointee.targetSlot)
        return entity.slots.indices.contains(slot) ? (entity, entity.slots[slot]) : nil
    }
}
