// How the ready-made policies settle rows that another writer changed or deleted.

import CoreDataValues
import Foundation

/// Settles merge conflicts as a policy's type says. Afterwards each object stands on the row that the store has now, so that the
/// next commit expects it.
struct MergeResolution {
    private let type: NSMergePolicyType
    init(_ type: NSMergePolicyType) { self.type = type }

    func resolve(_ conflicts: [NSMergeConflict]) throws {
        if type == .errorMergePolicyType { throw ConflictError.error(conflicts) }
        let again = Set(conflicts.filter { $0.isRowGone && isWrittenAgain($0.sourceObject) }.map(\.sourceObject))
        // Rows that are gone first: what points at them must not be put on top of a row that does not.
        for conflict in conflicts.filter({ $0.isRowGone }) + conflicts.filter({ !$0.isRowGone }) {
            let object = conflict.sourceObject
            guard !object._state.has(.gone), let context = object.managedObjectContext else { continue }
            let found = try conflict.found ?? readAgain(object, in: context)
            context.saveMemory?.renew(object)
            if object.isDeleted {
                try resolveDeletion(of: object, found, context)
            } else if case .row(let row) = found {
                context.saveMemory?.forgetReinsertion(of: object)
                try Rebase(object, onto: row, type, context).run()
            } else if again.contains(object) || conflict.found == nil && isWrittenAgain(object) {
                try Reinsertion(object, with: again, context).run()
                context.saveMemory?.reinsert(object)
                if !object._state.has(.updated) { context.tracker.touch(object) }
            } else {
                context.drop(object)
            }
        }
    }

    /// Whether an object whose row is gone is put there again. One that is only looked at, by `detectConflicts`, has no property of
    /// which it has a say.
    private func isWrittenAgain(_ object: NSManagedObject) -> Bool {
        switch type {
        case .mergeByPropertyStoreTrumpMergePolicyType, .rollbackMergePolicyType, .errorMergePolicyType: false
        case .mergeByPropertyObjectTrumpMergePolicyType: !object.isDeleted && SaveOperation.isChanged(object)
        case .overwriteMergePolicyType: !object.isDeleted
        }
    }

    private func readAgain(_ object: NSManagedObject, in context: NSManagedObjectContext) throws -> StoredRow {
        guard let store = context.rows(of: object._state.pointee.store) else { return .gone }
        let key = object._state.key.row
        return try StoredRows([key], in: store)[key]
    }

    // MARK: Deleted here

    private func resolveDeletion(
        of object: NSManagedObject, _ found: StoredRow, _ context: NSManagedObjectContext
    ) throws {
        guard case .row(let row) = found else {
            // Deleted on both sides.
            object._state.set([.inaccessible, .propagated])
            return
        }
        switch type {
        case .mergeByPropertyStoreTrumpMergePolicyType, .rollbackMergePolicyType, .errorMergePolicyType:
            context.undelete(of: object)
            try Rebase(object, onto: row, .rollbackMergePolicyType, context).run()
        case .mergeByPropertyObjectTrumpMergePolicyType, .overwriteMergePolicyType:
            context.deleteAgain(object, row)
        }
    }
}

extension NSManagedObjectContext {
    /// Lets an object go whose row is gone. Nothing points at it afterwards.
    fileprivate func drop(_ object: NSManagedObject) {
        object.tearDownRelationships()
        if runtime.hasOneWayRelationships { forget([object]) }
        tracker.unmark(object, .updated)
        tracker.mark(object, .deleted)
        object._state.set([.inaccessible, .propagated])
        tracker.addToEvent(object, .eventDeleted)
    }
}

extension NSMergeConflict {
    fileprivate var isRowGone: Bool { if case .gone? = found { true } else { false } }
}
