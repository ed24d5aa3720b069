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
        for conflict in conflicts {
            let object = conflict.sourceObject
            guard !object._state.has(.gone), let context = object.managedObjectContext else { continue }
            let found = try conflict.found ?? readAgain(object, in: context)
            context.saveMemory?.remember(object)
            if object.isDeleted {
                settleDeletion(of: object, found, context)
            } else {
                try settle(object, found, context)
            }
        }
    }

    private func readAgain(_ object: NSManagedObject, in context: NSManagedObjectContext) throws -> StoredRow {
        guard let store = context.rows(of: object._state.pointee.store) else { return .gone }
        let key = object._state.key.row
        return try StoredRows([key], in: store)[key]
    }

    // MARK: Changed here

    private func settle(_ object: NSManagedObject, _ found: StoredRow, _ context: NSManagedObjectContext) throws {
        switch found {
        case .row(let row):
            Rebase(object, onto: row, type, context).run()
        case .gone:
            switch type {
            case .mergeByPropertyStoreTrumpMergePolicyType, .rollbackMergePolicyType, .errorMergePolicyType:
                context.drop(object)
            case .mergeByPropertyObjectTrumpMergePolicyType, .overwriteMergePolicyType:
                try Reinsertion(object, context).run()
                context.saveMemory?.reinsert(object)
                if !object._state.has(.updated) { context.tracker.touch(object) }
            }
        }
    }

    // MARK: Deleted here

    private func settleDeletion(of object: NSManagedObject, _ found: StoredRow, _ context: NSManagedObjectContext) {
        guard case .row(let row) = found else {
            // Deleted on both sides.
            object._state.set([.inaccessible, .propagated])
            return
        }
        switch type {
        case .mergeByPropertyStoreTrumpMergePolicyType, .rollbackMergePolicyType, .errorMergePolicyType:
            context.takeBackDeletion(of: object)
            Rebase(object, onto: row, .rollbackMergePolicyType, context).run()
        case .mergeByPropertyObjectTrumpMergePolicyType, .overwriteMergePolicyType:
            context.deleteAgain(object, row)
        }
    }
}

extension NSManagedObjectContext {
    /// Lets an object go whose row is gone. Nothing points at it afterwards.
    fileprivate func drop(_ object: NSManagedObject) {
        object.tearDownRelationships()
        tracker.unmark(object, .updated)
        tracker.mark(object, .deleted)
        object._state.set([.inaccessible, .propagated])
        tracker.enter(object, .eventDeleted)
    }

    /// Deletes the row that is there now; what has come to point at it since is found by the delete rules.
    fileprivate func deleteAgain(_ object: NSManagedObject, _ row: RowSnapshot) {
        object._state.attach(row.chunk, row: row.row)
        object._state.dropTargets()
        object.forEachToMany { _, members in members.base = .fault }
        object._state.clear(.propagated)
        tracker.unpropagated.append(object)
    }

    /// Brings an object back that was deleted here, with what its delete rules took along.
    fileprivate func takeBackDeletion(of object: NSManagedObject) {
        guard object._state.has(.deleted), !object._state.has(.gone) else { return }
        saveMemory?.remember(object)
        revive(object)
        for relationship in object._state.info.relationships {
            switch relationship.place {
            case .slot(let slot):
                guard let target = object.committedTarget(at: slot) else { continue }
                bringBack(target, along: relationship)
                if object.target(at: slot) == nil, !target._state.has([.deleted, .gone]) { object.setTarget(slot, target) }
            case .toMany(let index):
                let removed = object.toManyState(index)?.removed.objects ?? []
                for member in removed { bringBack(member, along: relationship) }
                for member in removed where !member._state.has([.deleted, .gone]) {
                    saveMemory?.remember(member)
                    if isFree(member, for: relationship) { object.addMember(index, member) }
                }
            case .fetched: continue
            }
        }
    }

    private func bringBack(_ object: NSManagedObject, along relationship: ResolvedRelationship) {
        guard relationship.description.deleteRule == .cascade, object._state.has(.persistent) else { return }
        takeBackDeletion(of: object)
    }

    /// Whether a former member was only released, and not given to another owner.
    private func isFree(_ member: NSManagedObject, for relationship: ResolvedRelationship) -> Bool {
        guard let inverse = relationship.inverse, let slot = runtime.schema[inverse].slot else { return true }
        return member.target(at: slot) == nil
    }
}
