// What a controller fetches: the request, read once.

import CoreDataFoundation
import CoreDataValues
import enum CoreDataValues.Expression
import enum CoreDataValues.Predicate
import Foundation
import Synchronization

/// A controller's request as of one `performFetch()`.
struct FetchedPlan {
    let order: FetchOrder
    private let query: Query
    let evaluator: BoundEvaluator
    let objectOrder: ObjectOrder
    let sectionKeyPath: String?
    /// The entities whose objects can change the results.
    private let watched: [ClosedRange<UInt16>]
    /// Whether an object's own values decide its place.
    let isLocal: Bool
    /// Whether an object may be among the results.
    private let accepts: (NSManagedObject) -> Bool
    /// Throws where an object that was fetched may not be among the results.
    let check: ([NSManagedObject]) throws -> Void
    /// All that the results depend on, in words.
    let words: String
    /// The same with the IDs that the objects in its predicate have now; nil where it names none.
    let renewed: (() throws -> FetchedPlan)?

    init<T>(_ request: NSFetchRequest<T>, _ sectionKeyPath: String?, _ context: NSManagedObjectContext) throws {
        let name = request.entityName ?? ""
        guard request.resultType == .managedObjectResultType else {
            throw CocoaError.unsupported(
                "NSFetchedResultsController with NSFetchRequest.resultType \(request.resultType.rawValue)")
        }
        guard request.includesPendingChanges else {
            throw CocoaError.unsupported(
                "NSFetchedResultsController with NSFetchRequest.includesPendingChanges = false")
        }
        guard request.sortDescriptors?.isEmpty == false else {
            throw CocoaError.coreData(
                134060, "A fetched results controller for \(name) needs a fetch request with sort descriptors.")
        }
        let order = try context.order(request)
        self.order = order
        self.sectionKeyPath = sectionKeyPath
        do { query = try Query(order.plan, in: context.runtime.schema) } catch { throw CocoaError.reading(error) }
        (evaluator, objectOrder) = (BoundEvaluator(query), ObjectOrder(query))
        let sections = sectionKeyPath.flatMap { FetchedPlan.reach(of: $0, order.plan, context.runtime.schema) }
        let reach = query.bound.reach
        watched = [reach.rows] + (reach.links + (sections?.links ?? [])).map(\.entities)
        isLocal =
            reach.isLocal && sections?.isLocal ?? true && order.stores == nil && order.plan.limit == 0
            && order.plan.offset == 0
        accepts = { $0 is T }
        check = { try NSManagedObjectContext.check($0, areOf: T.self, named: name) }
        let sorts = order.plan.sort.map { "\($0)" }
        let condition = order.plan.condition.tree
        let kept = condition?.namesObjects == true ? request.copy() as? NSFetchRequest<T> : nil
        renewed = kept.map { kept in { try FetchedPlan(kept, sectionKeyPath, context) } }
        words = [
            name, condition.map { "\($0)" } ?? "", sorts.joined(separator: ","), sectionKeyPath ?? "",
            "\(request.includesSubentities) \(request.fetchLimit) \(request.fetchOffset)",
        ].joined(separator: "\n")
    }

    /// What else the names of sections depend on; nil where a getter computes them, which is taken to look at its own object.
    private static func reach(of keyPath: String, _ plan: FetchPlan, _ schema: Schema) -> QueryReach? {
        var sorted = FetchPlan(entity: plan.entity)
        sorted.sort = [SortTerm(keyPath: keyPath.split(separator: ".").map(String.init))]
        return try? Query(sorted, in: schema).bound.reach
    }

    func watches(_ object: NSManagedObject) -> Bool {
        let entity = object._state.pointee.entity
        return watched.contains { $0.contains(entity) }
    }

    /// Whether an object that is there may be a result, its values aside.
    func mayHave(_ object: NSManagedObject) -> Bool {
        !object._state.has([.deleted, .gone]) && query.bound.reach.rows.contains(object._state.pointee.entity)
            && accepts(object)
    }

    /// The name of an object's section.
    func sectionName(of object: NSManagedObject) -> String {
        guard let sectionKeyPath else { return "" }
        return switch object.value(forKeyPath: sectionKeyPath) {
        case nil, is NSNull: ""
        case let text as String: text
        case let number as NSNumber: number.stringValue
        case let value?: "\(value)"
        }
    }
}

extension Predicate {
    /// Whether an object stands in it, which it knows by the key that the object had then.
    fileprivate var namesObjects: Bool {
        switch self {
        case .constant: false
        case .comparison(let comparison): comparison.left.namesObjects || comparison.right.namesObjects
        case .and(let parts), .or(let parts): parts.contains(where: \.namesObjects)
        case .not(let part): part.namesObjects
        }
    }
}

extension Expression {
    fileprivate var namesObjects: Bool {
        switch self {
        case .constant(.key): true
        case .constant, .this, .keyPath, .variable: false
        case .list(let items), .function(_, let items): items.contains(where: \.namesObjects)
        case .subquery(let collection, _, let condition): collection.namesObjects || condition.namesObjects
        case .conditional(let condition, let first, let second):
            condition.namesObjects || first.namesObjects || second.namesObjects
        }
    }
}
