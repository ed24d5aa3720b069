// What predicates over a history mean in its tables.

import CoreDataFoundation
import CoreDataSQL
import CoreDataValues
import Foundation

/// Turns a fetch request over a history into a plan, for one store: an object ID is an entity and a number there, a token a number.
struct HistoryPredicate {
    let store: NSPersistentStore
    let schema: Schema
    let identities: StoreIdentities

    func search(_ request: NSFetchRequest<any NSFetchRequestResult>) throws -> HistoryQuery.Search {
        guard let history = HistoryModel.schema, let name = request.entityName,
            let entity = history.index(ofEntity: name)
        else {
            throw CocoaError.coreData(
                134060,
                "A history request was given a fetch request for \(request.entityName ?? "no entity"). Make it with "
                    + "NSPersistentHistoryTransaction.fetchRequest or NSPersistentHistoryChange.fetchRequest.")
        }
        var plan = FetchPlan(entity: entity)
        plan.limit = max(0, request.fetchLimit)
        plan.offset = max(0, request.fetchOffset)
        do {
            let comparisons = HistoryComparisons(store: store, schema: schema, root: name == HistorySchema.change)
            plan.predicate = try request.predicate.map {
                try comparisons.rewritten($0.tree(fetching: true, objects: value))
            }
            plan.sort = try (request.sortDescriptors ?? []).map { descriptor in
                try descriptor.term { _ in
                    throw CocoaError.unsupported("a sort descriptor with a key path over a history; give it a key")
                }
            }
        } catch { throw CocoaError.reading(error) }
        return HistoryQuery.Search(findsChanges: name == HistorySchema.change, plan: plan)
    }

    /// What stands for a constant that is an object; nil for what is none of ours.
    private func value(of object: Any) throws -> Value? {
        switch object {
        case let token as NSPersistentHistoryToken: .int(token.transactions[store.identifier] ?? 0)
        case let transaction as NSPersistentHistoryTransaction:
            .key(
                HistoryKind.transaction.key(
                    transaction.storeID == store.identifier ? transaction.transactionNumber : 0))
        case let change as NSPersistentHistoryChange:
            .key(HistoryKind.change.key(change.origin.storeID == store.identifier ? change.changeID : 0))
        case let entity as NSEntityDescription: .text(entity.name ?? "")
        case let type as NSPersistentHistoryChangeType: .int(Int64(type.rawValue))
        case let object as NSManagedObject: .key(try own(object.objectID))
        case let id as NSManagedObjectID: .key(try own(id))
        default: nil
        }
    }

    private func own(_ id: NSManagedObjectID) throws -> ObjectKey {
        guard id.identity === identities else { throw CocoaError.foreignID(id) }
        return id.key
    }
}
