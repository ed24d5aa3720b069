// Fulfils faults in advance, where a read can still throw.

import CoreDataValues
import Foundation

extension NSManagedObjectContext {
    /// Reads the rows of all faults among the objects, so that their getters cannot fail.
    ///
    /// Takes one statement for each store and root entity. Objects that are no faults cost nothing. Missing rows are
    /// handled by `shouldDeleteInaccessibleFaults`. Ours, beside Core Data's API: a Swift getter cannot throw.
    /// - Throws: the store's error; 134060 with the cause (133000) for a missing row if
    ///   `shouldDeleteInaccessibleFaults` is false.
    public final func fulfill(_ objects: some Sequence<NSManagedObject>) throws {
        checkQueue()
        try faulting.fulfill(objects)
    }
}

extension Faulting {
    func fulfill(_ objects: some Sequence<NSManagedObject>) throws {
        try throwReadError()
        var groups: [FaultGroup: ContiguousArray<NSManagedObject>] = [:]
        for object in objects where object._state.isFault {
            let state = object._state
            if state.pointee.row != nil {
                object.fire()
            } else if state.identityMap === context.requiredIdentityMap, !state.has(.detached) {
                groups[FaultGroup(store: state.pointee.store, root: state.info.entity.root), default: []].append(object)
            }
        }
        for (group, faults) in groups { try fulfill(faults, group) }
        try throwReadError()
    }

    /// The store and root entity of faults that one statement can read.
    private struct FaultGroup: Hashable {
        let store: UInt16
        let root: EntityIndex
    }

    private func fulfill(_ faults: ContiguousArray<NSManagedObject>, _ group: FaultGroup) throws {
        guard let store = try context.requiredReader(of: group.store) else { return }
        let numbers = Set(faults.map { $0._state.pointee.number }).sorted()
        let cache = context.rowCache
        let ticket = cache?.ticket ?? 0
        do {
            try store.rows(for: numbers, in: group.root, .latest) { batch in
                cache?.add(batch, store: group.store, since: ticket)
                _ = materialize([batch], store: group.store, asFaults: false)
                return .more
            }
        } catch { throw CocoaError.reading(error) }
        for object in faults where object._state.isFault { handleMissingRow(of: object) }
    }
}
