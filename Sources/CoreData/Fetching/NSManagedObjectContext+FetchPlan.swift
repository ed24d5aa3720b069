// Makes the plan for stores of a fetch request.

import CoreDataFoundation
import CoreDataValues
import enum CoreDataValues.Expression
import enum CoreDataValues.Predicate
import Foundation

extension NSManagedObjectContext {
    /// Converts the entity, predicate and sort order of a request to values, once.
    ///
    /// - Throws: 134060 for an entity that the model lacks and for an invalid predicate, sort key or key path.
    final func bound<T>(_ request: NSFetchRequest<T>) throws -> BoundFetch {
        let info = try entityInfo(of: request)
        if let type = T.self as? NSManagedObject.Type { info.bind(type) }
        var plan = FetchPlan(entity: info.entity.index)
        plan.includesSubentities = request.includesSubentities
        plan.condition = try condition(of: request, on: info.entity.index)
        plan.sort = try sort(of: request, info)
        plan.limit = max(0, request.fetchLimit)
        plan.offset = max(0, request.fetchOffset)
        plan.includesValues = request.includesPropertyValues
        let batchSize = batchSize(of: request)
        if batchSize != nil { plan.includesValues = false }
        var prefetch: [PrefetchStep] = []
        if let keyPaths = request.relationshipKeyPathsForPrefetching {
            prefetch = try PrefetchStep.steps(keyPaths, from: info.entity, in: runtime.schema)
        }
        return BoundFetch(
            info: info, plan: plan, includesPendingChanges: request.includesPendingChanges,
            asFaults: request.returnsObjectsAsFaults, stores: request.affectedStores,
            refreshes: request.shouldRefreshRefetchedObjects && request.includesPropertyValues,
            batchSize: batchSize ?? RowChunk.maximumCount, prefetch: prefetch)
    }

    private func entityInfo<T>(of request: NSFetchRequest<T>) throws -> EntityInfo {
        if let name = request.entityName {
            guard let info = runtime.info(named: name) else {
                throw CocoaError.coreData(134060, "The model has no entity \(name), which a fetch request names.")
            }
            return info
        }
        if let type = T.self as? NSManagedObject.Type, let info = runtime.info(for: type) { return info }
        throw CocoaError.coreData(134060, "A fetch request names no entity; use NSFetchRequest(entityName:).")
    }

    private func condition<T>(of request: NSFetchRequest<T>, on entity: EntityIndex) throws -> FetchCondition {
        guard let predicate = request.predicate else { return .everything }
        if !runtime.schema.hasTransformables, let filled = predicate.filledCondition { return filled }
        return .tree(try bridge(predicate, on: entity))
    }

    private func sort<T>(of request: NSFetchRequest<T>, _ info: EntityInfo) throws -> [SortTerm] {
        guard let descriptors = request.sortDescriptors, !descriptors.isEmpty else { return [] }
        // SQLite ends the process where a row is sorted by 64 keys beside a join, its own number among them.
        guard descriptors.count <= FetchPlan.sortLimit else {
            throw CocoaError.coreData(
                134060,
                "A fetch of \(info.entity.name) has \(descriptors.count) sort descriptors; \(FetchPlan.sortLimit) are the "
                    + "most. Leave out those that can only part what the others have parted.")
        }
        var terms = [try bridge(descriptors[0], info)]
        for descriptor in descriptors.dropFirst() { terms.append(try bridge(descriptor, info)) }
        return terms
    }

    /// - Parameter entity: the entity whose rows are judged; nil for groups of rows.
    final func bridge(_ predicate: NSPredicate, on entity: EntityIndex? = nil) throws -> Predicate {
        do {
            if let entity, runtime.schema.hasTransformables { return try bridge(predicate, transforming: entity) }
            return try predicate.tree(fetching: true) { try self.value(of: $0) }
        } catch { throw CocoaError.reading(error) }
    }

    @inline(never)
    private func bridge(_ predicate: NSPredicate, transforming entity: EntityIndex) throws -> Predicate {
        return try predicate.tree(
            fetching: true, transforming: (TransformableConstants(schema: runtime.schema), entity)
        ) {
            try self.value(of: $0)
        }
    }

    final func bridge(_ expression: NSExpression) throws -> Expression {
        do {
            return try expression.tree(fetching: true) { try self.value(of: $0) }
        } catch { throw CocoaError.reading(error) }
    }

    /// Returns the value of a constant that is an object, object ID or entity; nil for others.
    private func value(of object: Any) throws -> Value? {
        let id: NSManagedObjectID
        switch object {
        case let object as NSManagedObject: id = object.objectID
        case let named as NSManagedObjectID: id = named
        case let entity as NSEntityDescription: return .text(entity.entityName)
        default: return nil
        }
        guard id.identity === requiredCoordinator.identities else {
            throw CocoaError.coreData(134060, "A predicate names \(id), an object of another coordinator.")
        }
        // A context above may have saved it since.
        return .key(id.key.number > 0 ? id.key : currentKey(id.key))
    }

    private func bridge(_ descriptor: NSSortDescriptor, _ info: EntityInfo) throws -> SortTerm {
        do {
            return try descriptor.term { try KeyPathNames.keys(of: $0, in: info, runtime) }
        } catch {
            throw CocoaError.coreData(134060, "A fetch of \(info.entity.name) cannot be sorted: \(error)")
        }
    }
}
