// References to objects whose rows are gone, in the unsaved relationships of others.

import CoreDataValues

extension NSManagedObjectContext {
    /// Removes objects whose rows are gone from unsaved relationships, which would otherwise be saved leading nowhere.
    final func forget(_ gone: Set<NSManagedObject>) {
        for object in tracker.dirty where object._state.has(.dirty) && !gone.contains(object) { object.forget(gone) }
    }
}

extension NSManagedObject {
    /// Removes objects whose rows are gone from this object's unsaved relationships.
    fileprivate func forget(_ gone: Set<NSManagedObject>) {
        _state.forEachPresentToOne { slot, overlay in
            if let target = overlay.object(slot), gone.contains(target) { overlay.setNull(slot, .toOne) }
        }
        forEachToMany { index, members in
            let isOrdered = relationship(toMany: index).isOrdered
            for member in members.added.objects + members.removed.objects where gone.contains(member) {
                if members.hasAdded(member) {
                    members.unlink(member, isOrdered: isOrdered)
                } else {
                    members.link(member)
                }
            }
            members.removeFromOrder { gone.contains($0) }
        }
    }
}
