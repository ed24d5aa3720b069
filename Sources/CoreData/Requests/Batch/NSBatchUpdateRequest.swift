// Writing values into rows in the stores, without objects.

import CoreDataFoundation
import CoreDataValues
import enum CoreDataValues.Expression
import Foundation

/// What a batch update answers.
public enum NSBatchUpdateRequestResultType: UInt, Sendable {
    /// Whether it was done.
    case statusOnlyResultType = 0
    /// The IDs of the objects that it found.
    case updatedObjectIDsResultType = 1
    /// How many it found.
    case updatedObjectsCountResultType = 2
}

/// An update of all rows of an entity that a predicate selects, one transaction a store.
///
/// Versions rise, so that a save of an object that has read an earlier row meets a conflict. Validation and hooks of objects play no part; what
/// the model says of stored values does. Objects of contexts stay as they are unless `refreshesRegisteredObjects` is set or the IDs are
/// merged.
open class NSBatchUpdateRequest: NSPersistentStoreRequest {
    public final let entityName: String
    private let described: NSEntityDescription?
    open var predicate: NSPredicate?
    open var includesSubentities = true
    open var resultType: NSBatchUpdateRequestResultType = .statusOnlyResultType
    /// What becomes of properties, by their names or descriptions: a value, `NSNull`, or an `NSExpression` that is computed of each row as it
    /// was before. Attributes, elements of composites by their paths, and to-ones (an object or its ID).
    open var propertiesToUpdate: [AnyHashable: Any]?
    /// Whether the context that executes the request refreshes its objects of these rows. Ours; costs an ID a row.
    open var refreshesRegisteredObjects = false
    open override var requestType: NSPersistentStoreRequestType { .batchUpdateRequestType }

    public init(entityName: String) {
        self.entityName = entityName
        described = nil
        super.init()
    }

    public init(entity: NSEntityDescription) {
        entityName = entity.name ?? ""
        described = entity
        super.init()
    }

    /// Of a request that was made by name a description with that name, until a context executes it.
    public final var entity: NSEntityDescription {
        if let described { return described }
        let entity = NSEntityDescription()
        entity.name = entityName
        return entity
    }

    open override func copy(with zone: NSZone? = nil) -> Any {
        let copy = described.map { NSBatchUpdateRequest(entity: $0) } ?? NSBatchUpdateRequest(entityName: entityName)
        copy.predicate = predicate
        copy.includesSubentities = includesSubentities
        copy.resultType = resultType
        copy.propertiesToUpdate = propertiesToUpdate
        copy.refreshesRegisteredObjects = refreshesRegisteredObjects
        copy.affectedStores = affectedStores
        return copy
    }

    override func executed(in context: NSManagedObjectContext) throws -> Any { try result(in: context) }

    override func result(in context: NSManagedObjectContext) throws -> NSPersistentStoreResult {
        let run = try BatchRun(self, entity: entityName, in: context)
        var plan = FetchPlan(entity: run.info.entity.index)
        plan.includesSubentities = includesSubentities
        plan.predicate = try predicate.map { try context.bridge($0, on: plan.entity) }
        let assignments = try (propertiesToUpdate ?? [:]).map { try assignment($0.key, $0.value, run) }
        let wantsIDs = resultType == .updatedObjectIDsResultType || refreshesRegisteredObjects
        var (count, ids, changed): (Int, [NSManagedObjectID], [NSManagedObjectID]) = (0, [], [])
        for store in try stores(for: plan, assignments, run) {
            let outcome = try run.apply(.update(plan, assignments), wantsIDs ? .keys : .count, in: store)
            count += outcome.count
            ids += run.ids(outcome.keys, in: store)
            changed += run.ids(outcome.touched.changed, in: store)
        }
        if refreshesRegisteredObjects { run.tell(updated: Array(Set(ids + changed))) }
        return NSBatchUpdateResult(resultType, ids, count)
    }

    /// The stores to update. One in which an object of another store is assigned is left out where the plan finds nothing in it.
    ///
    /// - Throws: 133010 where it finds something, before anything is written.
    private func stores(for plan: FetchPlan, _ assignments: [SetChange.Assignment], _ run: BatchRun) throws
        -> [NumberedStore]
    {
        try run.stores.filter { store in
            let crossing = assignments.first { assignment in
                if case .constant(.key(let key)) = assignment.value { key.store != store.number } else { false }
            }
            guard let crossing else { return true }
            let count: Int
            do { count = try store.rows.count(store.asked(plan), .latest) } catch { throw CocoaError.reading(error) }
            if count == 0 { return false }
            throw CocoaError.coreData(
                133010,
                "A batch update of \(entityName) gives “\(crossing.property)” an object of another store to \(count) rows of the store "
                    + "\(store.store.url?.path ?? store.store.identifier ?? ""); nothing was written. Name the object's store in affectedStores."
            )
        }
    }

    private func assignment(_ key: AnyHashable, _ value: Any, _ run: BatchRun) throws -> SetChange.Assignment {
        let name: String
        switch key.base {
        case let text as String: name = text
        case let property as NSPropertyDescription: name = property.name
        default:
            throw CocoaError.coreData(
                134060,
                "A batch update of \(entityName) names a property by \(type(of: key.base)); use its name or its description."
            )
        }
        if let expression = value as? NSExpression { return .init(name, try run.context.bridge(expression)) }
        return .init(name, .constant(try BatchValues(run.info).value(value, for: name, run.context)))
    }
}

/// What a batch update came to.
open class NSBatchUpdateResult: NSPersistentStoreResult {
    public final let resultType: NSBatchUpdateRequestResultType
    /// A boolean, an array of object IDs or a number, as the type says.
    public final let result: Any?

    init(_ type: NSBatchUpdateRequestResultType, _ ids: [NSManagedObjectID], _ count: Int) {
        resultType = type
        result =
            switch type {
            case .statusOnlyResultType: NSNumber(value: true)
            case .updatedObjectIDsResultType: ids
            case .updatedObjectsCountResultType: NSNumber(value: count)
            }
        super.init()
    }
}
