// Deleting rows in the stores, without objects.

import CoreDataValues
import enum CoreDataValues.Expression
import enum CoreDataValues.Predicate
import Foundation

/// What a batch deletion answers.
public enum NSBatchDeleteRequestResultType: UInt, Sendable {
    /// Whether it was done.
    case resultTypeStatusOnly = 0
    /// The IDs of all objects that are gone, those that went by a delete rule among them.
    case resultTypeObjectIDs = 1
    /// How many of those that were found are gone.
    case resultTypeCount = 2
}

/// A deletion of all rows that a fetch request finds, one transaction a store.
///
/// Delete rules hold: rows are deleted, let go of their owners or refuse the deletion (1600) as in a save; to-manys without an inverse too.
/// Unsaved changes, validation and hooks of objects play no part. Objects of contexts stay as they are unless
/// `refreshesRegisteredObjects` is set or the IDs are merged.
open class NSBatchDeleteRequest: NSPersistentStoreRequest {
    open var resultType: NSBatchDeleteRequestResultType = .resultTypeStatusOnly
    /// Which rows to delete; its order, limit and offset hold.
    public final let fetchRequest: NSFetchRequest<any NSFetchRequestResult>
    /// Whether the context that executes the request lets its objects of these rows go. Ours; costs an ID a row.
    open var refreshesRegisteredObjects = false
    /// Those of `fetchRequest`.
    open override var affectedStores: [NSPersistentStore]? {
        get { fetchRequest.affectedStores }
        set { fetchRequest.affectedStores = newValue }
    }
    private let ids: [NSManagedObjectID]?
    open override var requestType: NSPersistentStoreRequestType { .batchDeleteRequestType }

    public init(fetchRequest fetch: NSFetchRequest<any NSFetchRequestResult>) {
        fetchRequest = fetch.duplicate()
        ids = nil
        super.init()
    }

    /// - Parameter objects: IDs of saved objects, all of one entity or its sub-entities.
    public init(objectIDs objects: [NSManagedObjectID]) {
        fetchRequest = NSFetchRequest(entityName: objects.first?.entity.name ?? "")
        fetchRequest.predicate = NSPredicate(format: "SELF IN %@", objects)
        ids = objects
        super.init()
    }

    open override func copy(with zone: NSZone? = nil) -> Any {
        let copy = ids.map { NSBatchDeleteRequest(objectIDs: $0) } ?? NSBatchDeleteRequest(fetchRequest: fetchRequest)
        copy.fetchRequest.copyProperties(of: fetchRequest)
        copy.resultType = resultType
        copy.refreshesRegisteredObjects = refreshesRegisteredObjects
        copy.affectedStores = affectedStores
        return copy
    }

    override func executed(in context: NSManagedObjectContext) throws -> Any { try result(in: context) }

    override func result(in context: NSManagedObjectContext) throws -> NSPersistentStoreResult {
        guard ids?.isEmpty != true else { return NSBatchDeleteResult(resultType, [], 0) }
        let fetch = try context.bound(try requestToRun(context))
        let run = try BatchRun(self, entity: fetch.info.entity.name, in: context)
        let wantsIDs = resultType == .resultTypeObjectIDs || refreshesRegisteredObjects
        var (count, gone, changed): (Int, [NSManagedObjectID], [NSManagedObjectID]) = (0, [], [])
        for (store, plan) in try plans(fetch, run) {
            let outcome = try run.apply(.delete(plan), wantsIDs ? .keys : .count, in: store)
            count += outcome.count
            gone += run.ids(outcome.touched.deleted, in: store)
            changed += run.ids(outcome.touched.changed, in: store)
        }
        if refreshesRegisteredObjects { run.tell(updated: changed, deleted: gone) }
        return NSBatchDeleteResult(resultType, gone, count)
    }

    /// What each store deletes. A limit and an offset count over all of them, in the order of a fetch: the rows are found first.
    private func plans(_ fetch: BoundFetch, _ run: BatchRun) throws -> [(NumberedStore, FetchPlan)] {
        let stores = run.stores
        guard stores.count > 1, fetch.plan.limit > 0 || fetch.plan.offset > 0 else {
            return stores.map { ($0, fetch.plan) }
        }
        let finder = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        finder.persistentStoreCoordinator = run.context.requiredCoordinator
        var search = fetch
        search.plan.includesValues = false
        search.includesPendingChanges = false
        if let affectedStores { search.stores = affectedStores }
        let keys = try finder.hold { try finder.fetchObjects(search).map(\._state.key) }
        var rest = fetch.plan
        (rest.limit, rest.offset, rest.sort) = (0, 0, [])
        return stores.compactMap { store in
            let found = keys.filter { $0.store == store.number }
            guard !found.isEmpty else { return nil }
            var plan = rest
            let among = Predicate.comparison(Comparison(.this, .in, .list(found.map { .constant(.key($0)) })))
            // Still so when its turn comes.
            plan.predicate = rest.predicate.map { .and([$0, among]) } ?? among
            return (store, plan)
        }
    }

    /// IDs may be of sub-entities: the request is for the entity that all have in common.
    private func requestToRun(_ context: NSManagedObjectContext) throws -> NSFetchRequest<any NSFetchRequestResult> {
        guard let ids, let first = ids.first else { return fetchRequest }
        for id in ids {
            guard id.identity === context.requiredCoordinator.identities else {
                throw CocoaError.coreData(134060, "A batch deletion names \(id), an object of another coordinator.")
            }
        }
        var entity = context.runtime.schema[first.key.entity]
        for id in ids {
            while !context.runtime.schema[id.key.entity].isKind(of: entity) {
                guard let parent = entity.parent else {
                    throw CocoaError.coreData(
                        134060,
                        "A batch deletion names objects of \(first.entity.name ?? "") and of \(id.entity.name ?? ""), which have no entity in "
                            + "common; make a request for each.")
                }
                entity = context.runtime.schema[parent]
            }
        }
        let request = NSFetchRequest<any NSFetchRequestResult>(entityName: entity.name)
        request.predicate = fetchRequest.predicate
        return request
    }
}

/// What a batch deletion came to.
open class NSBatchDeleteResult: NSPersistentStoreResult {
    public final let resultType: NSBatchDeleteRequestResultType
    /// A boolean, an array of object IDs or a number, as the type says.
    public final let result: Any?

    init(_ type: NSBatchDeleteRequestResultType, _ ids: [NSManagedObjectID], _ count: Int) {
        resultType = type
        result =
            switch type {
            case .resultTypeStatusOnly: NSNumber(value: true)
            case .resultTypeObjectIDs: ids
            case .resultTypeCount: NSNumber(value: count)
            }
        super.init()
    }
}
