// Changed objects whose rows another writer had deleted already.

import CoreDataValues
import Foundation

extension NSManagedObject {
    /// Notes that a change found this object's row gone, so that the save refuses it.
    ///
    /// A fault whose row the program never read is dropped silently (4.12). If it was ever read, even by an object
    /// deallocated since, the change is a conflict, and so is a pair made with any missing row.
    @inline(never)
    final func recordMissingRow(isPair: Bool = false) {
        guard _state.has(.inaccessible), _state.pointee.number > 0, let context = managedObjectContext,
            isPair || _state.identityMap?.version(_state.key) != nil,
            !context.tracker.missingRows.contains(where: { $0 === self })
        else { return }
        context.tracker.missingRows.append(self)
    }
}

extension NSManagedObjectContext {
    /// - Throws: 133020 for changed objects whose rows were found gone, 133000 in a child context; nothing under a
    ///   policy that resolves conflicts: they stay deleted.
    final func refuseMissingRows() throws {
        let missing = tracker.missingRows.filter {
            $0._state.has(.inaccessible) && $0._state.has(.deleted) && !$0._state.has(.detached)
        }
        guard !missing.isEmpty, refusesConflicts else { return }
        throw link.error(ofMissing: missing, self)
    }

    /// 133020 for changed objects whose rows are gone.
    final func conflict(ofMissing objects: [NSManagedObject]) -> any Error {
        ConflictError.error(
            objects.map { object in
                NSMergeConflict(
                    source: object, newVersion: 0,
                    oldVersion: Int(object._state.identityMap?.version(object._state.key) ?? 0),
                    cachedSnapshot: nil, persistedSnapshot: nil)
            })
    }

    /// Whether the topmost context, which saves into stores, has a policy that resolves no conflicts.
    final var refusesConflicts: Bool { (topmost.chosenPolicy ?? .error).onlyThrows }
}

extension CocoaError {
    /// 133000 for a child's save.
    static func deletedAbove(_ object: NSManagedObject, _ cure: String) -> CocoaError {
        .coreData(
            133000, "\(object.objectID.uri) was deleted in the parent context; \(cure).",
            [NSAffectedObjectsErrorKey: [object]])
    }
}
