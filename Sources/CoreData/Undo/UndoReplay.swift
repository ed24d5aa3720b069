// One step of an undo or redo: takes the changes of an event back by the same code that made them.

import CoreDataValues

/// Takes back what the undo stack holds of one event.
struct UndoReplay {
    private let context: NSManagedObjectContext
    private let log: ContiguousArray<GraphChange>
    /// Whether the log has deletions, or insertions that were taken back.
    private let hasDeletions: Bool

    init(_ context: NSManagedObjectContext, _ log: ContiguousArray<GraphChange>, hasDeletions: Bool) {
        (self.context, self.log, self.hasDeletions) = (context, log, hasDeletions)
    }

    /// Takes logged changes back: *restores the objects that were deleted · then reverts all else, last first*.
    ///
    /// Objects that left the context since, because another writer deleted them, do not come back: to-ones that led to
    /// them become nil, and to-manys are restored without them.
    ///
    /// A deletion is logged when the program asks for it, but the object keeps its places among members until the
    /// delete rules remove it. So positions that were logged in between still count it; the same holds for the log that
    /// this replay writes for the redo.
    func run() {
        context.tracker.replayed = []
        context.writing(as: .undo) { revert() }
        context.propagateRedone()
        let touched = context.tracker.replayed ?? []
        context.tracker.replayed = nil
        for object in touched { context.revertIfRestored(object) }
        context.writing(as: .waking) { awake(touched) }
        context.processChanges()
    }

    private func revert() {
        if hasDeletions {
            let returning =
                context.runtime.keepsTargets || context.runtime.hasOneWayRelationships ? returningObjects() : [:]
            for case .existence(let object, appeared: false) in log.reversed() { context.undelete(object, returning) }
            for case .existence(let object, appeared: false) in log { object.forgetLostTargets() }
            if context.runtime.hasOneWayRelationships { context.replaceKeys(returning) }
        }
        for change in log.reversed() { change.revert(in: context) }
    }

    /// The objects that return into the context, by the keys of their former rows: they get other keys.
    private func returningObjects() -> [ObjectKey: NSManagedObject] {
        var returning: [ObjectKey: NSManagedObject] = [:]
        for case .existence(let object, appeared: false) in log
        where object._state.has(.detached) && object._state.pointee.row != nil {
            returning[object._state.key] = object
        }
        return returning
    }

    /// Tells objects that an undo or redo changed them; what they write then is no change.
    private func awake(_ touched: ContiguousArray<NSManagedObject>) {
        let isLifeChanged = log.contains { change in
            switch change {
            case .existence, .revival: true
            default: false
            }
        }
        guard isLifeChanged else { return tellUpdate(touched) }
        // Objects that came or went are told only that. They are marked while no code of the program runs.
        for case .existence(let object, _) in log { object._state.set(.present) }
        let updated = ContiguousArray(touched.lazy.filter { !$0._state.has(.present) })
        for case .existence(let object, _) in log { object._state.clear(.present) }
        for case .existence(let object, let appeared) in log {
            object.awake(fromSnapshotEvents: appeared ? .undoInsertion : .undoDeletion)
        }
        for case .revival(let object) in log { object.awake(fromSnapshotEvents: .undoInsertion) }
        tellUpdate(updated)
    }

    private func tellUpdate(_ objects: ContiguousArray<NSManagedObject>) {
        for object in objects where !object._state.has([.detached, .deleted]) {
            object.awake(fromSnapshotEvents: .undoUpdate)
        }
    }
}

extension GraphChange {
    /// Does the opposite of what was logged. Deleted objects were restored before.
    func revert(in context: NSManagedObjectContext) {
        guard !subject.isLost else { return }
        switch self {
        case .existence(let object, let appeared):
            if appeared { context.undoInsertion(object) }
        case .revival(let object): context.remove(object)
        case .attribute(let object, let slot, let old):
            // An object that came back in this same replay would skip the log, but the value that is replaced belongs
            // there.
            object._state.clear(.skipsLog)
            object.write(old, at: Int(slot))
        case .target(let object, let slot, let old):
            // Writes the inverse too. It mostly agrees already, but a refresh may have changed one of the two sides
            // since.
            object.fixup.setTarget(Int(slot), old.flatMap { $0.isLost ? nil : $0 })
        case .link(let object, let index, let member, let added):
            guard added || !member.isLost, object.isMember(member, at: Int(index)) == added else { return }
            object.fixup.writeLink(Int(index), member, added: !added)
            if !added { context.noticeLink(object, member) }
        case .position(let object, let index, let member, let place):
            object.fixup.move(member, toMany: Int(index), to: place)
        case .order(let object, let index, let old):
            object.restoreOrder(Int(index), old)
        }
    }
}
