// Pending to-ones on rows that another writer saved since: their inverses follow the pending value (I-3).

import CoreDataValues

/// The pending to-ones of objects whose rows a merge reads again.
struct PendingToOnes {
    private var targets: [(object: NSManagedObject, slot: Int, read: ObjectKey?)] = []

    /// Notes the targets in an object's row before it is read again.
    mutating func note(_ object: NSManagedObject) {
        guard object._state.pointee.overlay != nil, object.lastRead != nil else { return }
        object._state.forEachPresentToOne { slot, _ in
            guard object._state.info.slotInverses[slot] != nil else { return }
            targets.append((object, slot, object.committedTargetKey(at: slot)))
        }
    }

    /// Makes inverses follow the pending value of those to-ones that another writer has changed too. An undo does not
    /// take this back.
    func apply(in context: NSManagedObjectContext) {
        context.writing(as: .merge) {
            for (object, slot, read) in targets where !object._state.has([.detached, .deleted]) {
                guard object._state.overlay?.isPresent(slot) == true, object.lastRead != nil else { continue }
                let stored = object.committedTargetKey(at: slot)
                guard read?.row != stored?.row else { continue }
                let former = object.target(at: slot)
                let target = former.flatMap { $0._state.has([.detached, .deleted]) ? nil : $0 }
                ToOneMerge(slot: slot, read: read, stored: stored, former: former, target: target).apply(
                    to: object, in: context)
            }
        }
    }
}
