// Pending deletions whose rows another writer has changed.

import CoreDataValues

extension NSManagedObjectContext {
    /// Reads the rows of pending deletions again, so that the save deletes what is there now, and applies the delete
    /// rules to objects that lead there since. An undo of a deletion takes all of that back.
    final func renewDeletions(of objects: some Sequence<NSManagedObject>) {
        var reopened: [NSManagedObject] = []
        var formerly: [NSManagedObject: RowSnapshot] = [:]
        let untouched = ContiguousArray(objects.filter { !$0._state.has(.rulesApplied) })
        readRowsAgain(untouched)
        for object in untouched { object.renewToManys() }
        // All are read before the rules are applied to any, since two of them may be related by now. All detach their
        // rows first, so that they are read together.
        let ruled = objects.filter { $0._state.has(.rulesApplied) }
        let former = ruled.map { object in
            defer {
                object._state.detachRow()
                faulting.joinOthers(object)
            }
            return object.lastRead
        }
        for (object, read) in zip(ruled, former) {
            object.fire()
            guard let row = object.lastRead else { continue }
            reopenRules(of: object, row, formerly: read)
            reopened.append(object)
            formerly[object] = read
        }
        for object in reopened {
            let log = tracker.deletionLogs.last { $0.deletes(object) }
            object.forEachPartedMember { log?.dropRemoval(object, $0, from: $1) }
            // Without a log of it the deletion is not undone: its rules are applied with the others.
            guard let log else {
                tracker.deletePropagation.add(object)
                continue
            }
            let further = DeletePropagation.belowLog(in: self) { DeletePropagation.run(for: [object], in: self) }
            log.amend(by: further, formerly: formerly)
        }
    }
}

extension NSManagedObject {
    /// Calls `body` with each member that was removed from a to-many and is missing from it as last read.
    fileprivate final func forEachPartedMember(_ body: (Int, NSManagedObject) -> Void) {
        forEachStoredToMany { index, members in
            for member in members.removed.objects where !members.held(member._state.key, store: _state.pointee.store) {
                body(index, member)
            }
        }
    }
}
