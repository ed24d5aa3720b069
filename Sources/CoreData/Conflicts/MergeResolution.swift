// How the built-in policies resolve conflicts over rows that another writer changed or deleted.

import CoreDataValues
import Foundation

/// Resolves merge conflicts according to a policy's type. Each object has the store's current row afterwards, so that
/// the next commit expects that version.
struct MergeResolution {
    private let type: NSMergePolicyType
    init(_ type: NSMergePolicyType) { self.type = type }

    func resolve(_ conflicts: [NSMergeConflict]) throws {
        if type == .errorMergePolicyType { throw ConflictError.error(conflicts) }
        let again = Set(conflicts.filter { $0.isRowGone && isWrittenAgain($0.sourceObject) }.map(\.sourceObject))
        // Rows that are gone come first: another object must not be rebased while it still points at one of them.
        for conflict in conflicts.filter({ $0.isRowGone }) + conflicts.filter({ !$0.isRowGone }) {
            let object = conflict.sourceObject
            guard !object._state.has(.detached), let context = object.managedObjectContext else { continue }
            let found = try conflict.found ?? readAgain(object, in: context)
            context.saveMemory?.rememberMerged(object)
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

    /// Whether an object whose row is gone is inserted again. Under objectTrump one that is listed by `detectConflicts`
    /// alone is not: it has no changed property.
    private func isWrittenAgain(_ object: NSManagedObject) -> Bool {
        switch type {
        case .mergeByPropertyStoreTrumpMergePolicyType, .rollbackMergePolicyType, .errorMergePolicyType: false
        case .mergeByPropertyObjectTrumpMergePolicyType: !object.isDeleted && object.countsAsChanged
        case .overwriteMergePolicyType: !object.isDeleted
        }
    }

    private func readAgain(_ object: NSManagedObject, in context: NSManagedObjectContext) throws -> StoredRow {
        guard let store = context.reader(of: object._state.pointee.store) else { return .gone }
        let key = object._state.key.row
        return try StoredRows([key], in: store)[key]
    }

    // MARK: Deleted here

    private func resolveDeletion(
        of object: NSManagedObject, _ found: StoredRow, _ context: NSManagedObjectContext
    ) throws {
        guard case .row(let row) = found else {
            // Deleted on both sides.
            object._state.set([.inaccessible, .rulesApplied])
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
    /// Drops an object whose row is gone, and clears all relationships to it.
    fileprivate func drop(_ object: NSManagedObject) {
        object.fixup.tearDownRelationships()
        if runtime.hasOneWayRelationships { forget([object]) }
        tracker.unmark(object, .updated)
        tracker.mark(object, .deleted)
        object._state.set([.inaccessible, .rulesApplied])
        tracker.addToEvent(object, .eventDeleted)
    }
}

extension NSMergeConflict {
    fileprivate var isRowGone: Bool { if case .gone? = found { true } else { false } }
}
