// Refusing faults: reads that nobody expected are answered, and told.

import CoreDataValues
import Foundation

/// Who is told of unexpected faults in a context.
final class FaultWatch {
    var refusesAll = false
    var handler: ((UnexpectedFault) -> Void)?
    /// What the running blocks of `withoutFaulting` have found, the innermost last.
    var blocks: [[UnexpectedFault]] = []

    func tell(_ fault: UnexpectedFault) {
        handler?(fault)
        if !blocks.isEmpty {
            blocks[blocks.count - 1].append(fault)
        } else if handler == nil {
            FileHandle.standardError.write(Data("warning: \(fault)\n".utf8))
        }
    }
}

extension NSManagedObjectContext {
    /// Whether every fault that is fired is unexpected: it is answered, and told to `unexpectedFaultHandler`. False at first.
    ///
    /// A fault whose row is in memory reads nothing and is never told. For single requests see `NSFetchRequest.refusesFaults`.
    public final var refusesFaults: Bool {
        get { faultWatch?.refusesAll ?? false }
        set { requiredFaultWatch.refusesAll = newValue }
    }

    /// Told of each unexpected fault, on the context's queue, before it is read. Without one a warning goes to standard error.
    public final var unexpectedFaultHandler: ((UnexpectedFault) -> Void)? {
        get { faultWatch?.handler }
        set { requiredFaultWatch.handler = newValue }
    }

    /// Runs a block in which no fault should be fired. The reads are answered all the same.
    ///
    /// - Throws: what the block throws; else, if faults were fired, one 134060 with all of them under
    ///   `UnexpectedFaultsErrorKey` (`CocoaError.unexpectedFaults`).
    public final func withoutFaulting<Result>(_ body: () throws -> Result) throws -> Result {
        let watch = requiredFaultWatch
        watch.blocks.append([])
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

    private var requiredFaultWatch: FaultWatch {
        if let faultWatch { return faultWatch }
        let made = FaultWatch()
        faultWatch = made
        return made
    }

    /// Marks objects, whose faults are unexpected from now on.
    final func watch(_ objects: [NSManagedObject]) {
        for object in objects { object._state.set(.watched) }
    }

    /// Tells of a read of an object's row, or of the members of a to-many, if it is unexpected.
    ///
    /// Whatever the program asks of this context inside the handler is not told again.
    final func noteFault(of object: NSManagedObject, toMany index: Int? = nil) {
        let isWatched = object._state.has(.watched)
        guard faultWatch != nil || isWatched else { return }
        let watch = requiredFaultWatch
        guard isWatched || watch.refusesAll || !watch.blocks.isEmpty, !isTellingOfFault else { return }
        isTellingOfFault = true
        watch.tell(report(object, index))
        isTellingOfFault = false
    }

    private func report(_ object: NSManagedObject, _ index: Int?) -> UnexpectedFault {
        let entity = object._state.info.entity
        if let index {
            let name = object.relationship(toMany: index).name
            return UnexpectedFault(
                entityName: entity.name, objectID: object.objectID, relationshipName: name, prefetchKeyPath: name,
                prefetchEntityName: entity.name)
        }
        let origin = object.origin
        return UnexpectedFault(
            entityName: entity.name, objectID: object.objectID, relationshipName: nil,
            prefetchKeyPath: origin?.slot.name, prefetchEntityName: origin?.entity.name)
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
