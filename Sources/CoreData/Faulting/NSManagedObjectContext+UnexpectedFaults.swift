// Refusing faults: unexpected reads are answered and reported.

import CoreDataValues
import Foundation

extension NSManagedObjectContext {
    /// Whether every fired fault is unexpected: answered, and reported to `unexpectedFaultHandler`. False by default.
    ///
    /// A fault with a row in memory reads nothing and is not reported. See also `NSFetchRequest.refusesFaults`.
    public final var refusesFaults: Bool {
        get { faultWatch?.refusesAll ?? false }
        set {
            requiredFaultWatch.refusesAll = newValue
            lookWhetherTracing()
        }
    }

    /// Called for each unexpected fault, on the context's queue, before the read. Without it a warning is printed.
    public final var unexpectedFaultHandler: ((UnexpectedFault) -> Void)? {
        get { faultWatch?.handler }
        set { requiredFaultWatch.handler = newValue }
    }

    /// Runs a block in which no fault should fire. Faults are answered all the same.
    ///
    /// Marks the registered objects when it begins and ends, a pass over all of them.
    ///
    /// - Throws: what the block throws; else, if faults fired, one 134060 with all of them under
    ///   `UnexpectedFaultsErrorKey` (`CocoaError.unexpectedFaults`).
    public final func withoutFaulting<Result>(_ body: () throws -> Result) throws -> Result {
        let watch = requiredFaultWatch
        watch.blocks.append([])
        lookWhetherTracing()
        defer { lookWhetherTracing() }
        let result: Result
        do {
            result = try body()
        } catch {
            watch.blocks.removeLast()
            throw error
        }
        let faults = watch.blocks.removeLast()
        guard faults.isEmpty else { throw CocoaError.unexpected(faults) }
        return result
    }

    /// Starts or stops tracing as the watch needs it. Marks all registered objects, so that reads are noted.
    final func lookWhetherTracing() {
        let wasTracing = isTracing
        isTracing = faultWatch?.traces ?? false
        guard isTracing != wasTracing else { return }
        for object in identityMap?.all() ?? [] {
            let state = object._state
            if isTracing { state.set(.traced) } else { state.clear(.traced) }
            if !state.has(.watched) { state.clear(.placed) }
        }
    }

    final var requiredFaultWatch: FaultWatch {
        if let faultWatch { return faultWatch }
        let made = FaultWatch()
        faultWatch = made
        return made
    }

    /// Marks objects whose faults are unexpected from now on.
    final func watch(_ objects: [NSManagedObject]) {
        for object in objects {
            object._state.set(.watched)
            faultWatch?.begin(at: object)
        }
    }

    /// Marks objects that a request returned while all objects are traced: paths start at them.
    final func trace(_ objects: [NSManagedObject]) {
        faultWatch?.beginCounting(from: objects)
        for object in objects where !object._state.has(.watched) {
            object._state.set(.traced)
            faultWatch?.begin(at: object)
        }
    }

    /// Marks an object reached from a watched one, or from any while all are traced, and notes the relationship.
    ///
    /// While tracing, an object that is noted already keeps its path or start unless it has no row.
    final func noteReach(_ object: NSManagedObject, from source: NSManagedObject, by relationship: ResolvedRelationship)
    {
        if source._state.has(.watched) {
            guard !object._state.has(.watched) else { return }
            object._state.set(.watched)
        } else {
            guard isTracing, object.lacksRow || !object._state.has([.watched, .placed]) else { return }
            source._state.set(.traced)
            object._state.set(.traced)
        }
        requiredFaultWatch.note(object, from: source, by: relationship.name)
    }

    /// Reports a read of an object's row, or of the members of a to-many, if it is unexpected.
    ///
    /// Faults that the handler itself fires in this context are not reported.
    final func noteFault(of object: NSManagedObject, toMany index: Int? = nil) {
        let isWatched = object._state.has(.watched)
        guard faultWatch != nil || isWatched else { return }
        let watch = requiredFaultWatch
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
    private func pathToFault(of object: NSManagedObject, _ relationship: String?) -> FaultPath? {
        let watch = requiredFaultWatch
        if let relationship { return watch.path(to: object).step(relationship) }
        return watch.pathFollowed(to: object)
            ?? object.origin.map { FaultPath(entity: $0.entity.name).step($0.slot.name) }
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
