// Fetch requests of a model: as descriptions keep them, and as values for the schema.

import CoreDataFoundation
import CoreDataValues
import Foundation

extension NSFetchRequest {
    /// Takes over everything but the entity.
    func copyProperties<Other>(of other: NSFetchRequest<Other>) {
        predicate = other.predicate
        sortDescriptors = other.sortDescriptors
        fetchLimit = other.fetchLimit
        fetchOffset = other.fetchOffset
        fetchBatchSize = other.fetchBatchSize
        resultType = other.resultType
        includesSubentities = other.includesSubentities
        includesPropertyValues = other.includesPropertyValues
        includesPendingChanges = other.includesPendingChanges
        returnsObjectsAsFaults = other.returnsObjectsAsFaults
        refusesFaults = other.refusesFaults
        affectedStores = other.affectedStores
        relationshipKeyPathsForPrefetching = other.relationshipKeyPathsForPrefetching
        shouldRefreshRefetchedObjects = other.shouldRefreshRefetchedObjects
        propertiesToFetch = other.propertiesToFetch
        propertiesToGroupBy = other.propertiesToGroupBy
        havingPredicate = other.havingPredicate
        returnsDistinctResults = other.returnsDistinctResults
    }

    /// The same for another model, which has an entity of its own under the name.
    func byName() -> NSFetchRequest<ResultType> {
        guard let entityName else { return duplicate() }
        let copy = NSFetchRequest<ResultType>(entityName: entityName)
        copy.copyProperties(of: self)
        return copy
    }

    /// A request of its own that asks the same.
    func duplicate() -> NSFetchRequest<ResultType> {
        let copy = entityName.map { NSFetchRequest<ResultType>(entityName: $0) } ?? NSFetchRequest<ResultType>()
        if let entity { copy.entity = entity }
        copy.copyProperties(of: self)
        return copy
    }
}

extension FetchTemplate {
    /// What a request made by a program says, without its predicate and sort order, which have no text.
    ///
    /// - Throws: `SchemaError` for a request without an entity.
    init(_ request: NSFetchRequest<any NSFetchRequestResult>, name: String) throws(SchemaError) {
        guard let entity = request.entityName else {
            throw SchemaError(
                "The fetch request of \(name) names no entity. Use NSFetchRequest(entityName:).", property: name)
        }
        self.init(name: name, entityName: entity)
        resultType = Int(request.resultType.rawValue)
        fetchLimit = request.fetchLimit
        fetchBatchSize = request.fetchBatchSize
        returnsDistinctResults = request.returnsDistinctResults
        includesSubentities = request.includesSubentities
        includesPropertyValues = request.includesPropertyValues
        includesPendingChanges = request.includesPendingChanges
        returnsObjectsAsFaults = request.returnsObjectsAsFaults
    }

    /// The request that a model file describes.
    ///
    /// - Throws: 134060 for a predicate text that cannot be read.
    func request(in model: NSManagedObjectModel?) throws -> NSFetchRequest<any NSFetchRequestResult> {
        let request = NSFetchRequest<any NSFetchRequestResult>(entityName: entityName)
        if let entity = model?.entitiesByName[entityName] { request.entity = entity }
        do {
            request.predicate = try predicate.map { try NSPredicate(parsing: $0) }
        } catch {
            throw CocoaError.coreData(134060, "The predicate of the fetch request \(name) cannot be read: \(error)")
        }
        request.resultType = NSFetchRequestResultType(rawValue: UInt(resultType))
        request.fetchLimit = fetchLimit
        request.fetchBatchSize = fetchBatchSize
        request.returnsDistinctResults = returnsDistinctResults
        request.includesSubentities = includesSubentities
        request.includesPropertyValues = includesPropertyValues
        request.includesPendingChanges = includesPendingChanges
        request.returnsObjectsAsFaults = returnsObjectsAsFaults
        return request
    }
}
