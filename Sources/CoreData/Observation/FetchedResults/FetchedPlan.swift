// What a controller fetches: the request, read once.

import CoreDataFoundation
import CoreDataValues
import Foundation
import Synchronization

/// A controller's request as of one `performFetch()`.
struct FetchedPlan {
    let fetch: BoundFetch
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
        let fetch = try context.bound(request)
        self.fetch = fetch
        self.sectionKeyPath = sectionKeyPath
        do { query = try Query(fetch.plan, in: context.runtime.schema) } catch { throw CocoaError.reading(error) }
        (evaluator, objectOrder) = (BoundEvaluator(query), ObjectOrder(query))
        let sections = sectionKeyPath.flatMap { FetchedPlan.reach(of: $0, fetch.plan, context.runtime.schema) }
        let reach = query.bound.reach
        watched = [reach.rows] + (reach.links + (sections?.links ?? [])).map(\.entities)
        isLocal =
            reach.isLocal && sections?.isLocal ?? true && fetch.stores == nil && fetch.plan.limit == 0
            && fetch.plan.offset == 0
        accepts = { $0 is T }
        check = { try NSManagedObjectContext.check($0, areOf: T.self, named: name) }
        let kept = fetch.plan.condition.tree?.namesRows == true ? request.copy() as? NSFetchRequest<T> : nil
        renewed = kept.map { kept in { try FetchedPlan(kept, sectionKeyPath, context) } }
    }

    /// All that the results depend on, in words. Objects are named by their keys.
    var words: String {
        let plan = fetch.plan
        let sorts = plan.sort.map { "\($0)" }
        return [
            fetch.info.entity.name, plan.condition.tree.map { "\($0)" } ?? "", sorts.joined(separator: ","),
            sectionKeyPath ?? "", "\(plan.includesSubentities) \(plan.limit) \(plan.offset)",
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
        !object._state.has([.deleted, .detached]) && query.bound.reach.rows.contains(object._state.pointee.entity)
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
