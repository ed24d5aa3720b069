// To-ones that were set here, on top of rows that another writer has saved since: the other sides follow the pending value (I-3).

import CoreDataValues

/// The pending to-ones of objects whose rows a merge reads anew.
struct PendingTargets {
    private var targets: [(object: NSManagedObject, slot: Int, read: ObjectKey?)] = []

    /// Keeps what the row says before it is read anew.
    mutating func note(_ object: NSManagedObject) {
        guard let overlay = object._state.overlay, object.lastRead != nil else { return }
        for slot in 0..<object._state.info.layout.slotCount
        where overlay.isPresent(slot) && object._state.info.slotInverses[slot] != nil {
            targets.append((object, slot, object.committedTargetKey(at: slot)))
        }
    }

    /// Makes the other sides of those that another writer has moved as well say what is pending. No step of its own for undo.
    func apply(in context: NSManagedObjectContext) {
        context.writing(as: .merge) {
            for (object, slot, read) in targets where !object._state.has([.gone, .deleted]) {
                guard object._state.overlay?.isPresent(slot) == true, object.lastRead != nil else { continue }
                let stored = object.committedTargetKey(at: slot)
                guard read?.row != stored?.row else { continue }
                let former = object.target(at: slot)
                let target = former.flatMap { $0._state.has([.gone, .deleted]) ? nil : $0 }
                TargetMove(slot: slot, read: read, stored: stored, former: former, target: target).apply(
                    to: object, in: context)
            }
        }
    }
}
