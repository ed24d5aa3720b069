// Carrying out a batch request: in the stores, past the context.

import CoreDataFoundation
import CoreDataValues
import Foundation

/// What every batch request has in common: which stores it goes to, how it is done there, and what the context learns of it.
struct BatchRun {
    let context: NSManagedObjectContext
    let info: EntityInfo
    private let affected: [NSPersistentStore]?

    /// - Throws: 134060 for an entity that the model lacks.
    init(_ request: NSPersistentStoreRequest, entity name: String, in context: NSManagedObjectContext) throws {
        guard let index = context.runtime.schema.index(ofEntity: name) else {
            throw CocoaError.coreData(134060, "The model has no entity \(name), which a batch request names.")
        }
        self.context = context
        info = context.runtime.infos[index.value]
        affected = request.affectedStores
    }

    /// The affected stores that have the entity.
    var stores: [NumberedStore] {
        let fetch = BoundFetch(
            info: info, plan: FetchPlan(entity: info.entity.index), includesPendingChanges: false, asFaults: true,
            stores: affected)
        return context.requiredCoordinator.stores(for: fetch)
    }

    /// Where new rows go: the first affected store that has the entity and may be written to.
    func storeForNew() throws -> NumberedStore {
        guard affected != nil else { return try context.requiredCoordinator.store(for: info) }
        guard let store = stores.first(where: { !$0.store.isReadOnly }) else {
            throw CocoaError.coreData(
                134070, "No writable store among affectedStores has the entity \(info.entity.name); name another one.")
        }
        return store
    }

    /// One transaction in one store. The context's author and name stand in the store's history.
    func apply(
        _ kind: SetChange.Kind, _ answer: SetChange.Answer, _ uniqueness: SetChange.Uniqueness = .fail,
        in store: NumberedStore
    ) throws
        -> SetOutcome
    {
        var change = SetChange(asked(kind, store))
        change.answer = answer
        change.uniqueness = uniqueness
        change.note = HistoryNote(author: context.transactionAuthor, contextName: context.name, relationships: [:])
        return try context.requiredCoordinator.apply(change, store: store.number)
    }

    /// Objects of other stores are no rows of this one.
    private func asked(_ kind: SetChange.Kind, _ store: NumberedStore) -> SetChange.Kind {
        guard !store.isOnlyOne else { return kind }
        switch kind {
        case .update(let plan, let assignments):
            return .update(store.asked(plan), assignments.map { .init($0.property, $0.value.asked(of: store.number)) })
        case .delete(let plan): return .delete(store.asked(plan))
        case .stream: return kind
        }
    }

    func id(_ key: RowKey, in store: NumberedStore) -> NSManagedObjectID {
        NSManagedObjectID(
            key: ObjectKey(number: key.number, entity: key.entity, store: store.number), identity: context.identities,
            info: context.runtime.infos[key.entity.value])
    }

    func ids(_ keys: [RowKey], in store: NumberedStore) -> [NSManagedObjectID] { keys.map { id($0, in: store) } }

    /// Has objects of the context take over what was done.
    func tell(inserted: [NSManagedObjectID] = [], updated: [NSManagedObjectID] = [], deleted: [NSManagedObjectID] = [])
    {
        let changes = [
            NSInsertedObjectIDsKey: inserted, NSUpdatedObjectIDsKey: updated, NSDeletedObjectIDsKey: deleted,
        ]
        NSManagedObjectContext.mergeChanges(fromRemoteContextSave: changes, into: [context])
    }
}
