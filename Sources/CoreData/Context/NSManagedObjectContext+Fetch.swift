// Fetching: what the store has, with the context's pending changes laid over it.

import CoreDataValues
import Foundation

extension NSManagedObjectContext {
    /// The results of a request, unsaved changes included.
    ///
    /// One statement a store and no other I/O. Objects that are here already keep their values.
    /// - Throws: an error of the Cocoa domain; also one that an earlier read inside a getter left.
    public final func fetch<T>(_ request: NSFetchRequest<T>) throws -> [T] {
        checkQueue()
        try throwReadError()
        switch request.resultType {
        case .managedObjectResultType:
            let order = try order(request)
            let objects = try fetchObjects(order)
            if !order.prefetch.isEmpty {
                try Prefetch(context: self, isEverything: order.plan.isEverything).run(order.prefetch, objects)
            }
            if request.refusesFaults { watch(objects) } else if isTracing { trace(objects) }
            return try cast(objects, request)
        case .managedObjectIDResultType:
            return try cast(fetchObjects(try order(request)).map(\.objectID), request)
        case .countResultType:
            return try cast([NSNumber(value: try count(try order(request)))], request)
        case .dictionaryResultType:
            throw CocoaError.unsupported("NSFetchRequest.resultType .dictionaryResultType; fetch objects and read their values")
        case let other:
            throw CocoaError.unsupported("NSFetchRequest.resultType \(other.rawValue)")
        }
    }

    /// How many objects `fetch` would find.
    public final func count<T>(for request: NSFetchRequest<T>) throws -> Int { try counted(request) }

    /// How many objects `fetch` would find.
    public final func count(for request: NSFetchRequest<any NSFetchRequestResult>) throws -> Int { try counted(request) }

    /// The results of a request of no particular type, unsaved changes included.
    @_disfavoredOverload
    public final func fetch(_ request: NSFetchRequest<any NSFetchRequestResult>) throws -> [Any] {
        let found: [any NSFetchRequestResult] = try fetch(request)
        return found
    }

    private func counted<T>(_ request: NSFetchRequest<T>) throws -> Int {
        checkQueue()
        try throwReadError()
        return try count(try order(request))
    }

    /// Results as the type that the request promises. Checked once a class, not element by element (86 ns each, YARDSTICKS §2).
    private func cast<T, R: NSObject>(_ results: [R], _ request: NSFetchRequest<T>) throws -> [T] {
        var place = 0
        var checked = ObjectIdentifier(T.self)
        while true {
            place = NSManagedObjectContext.firstOther(than: checked, in: unsafeBitCast(results, to: [NSObject].self), from: place)
            guard place < results.count else { return unsafeBitCast(results, to: [T].self) }
            guard results[place] is T else {
                throw CocoaError.coreData(
                    134060,
                    "A fetch of \(request.entityName ?? "") found \(Swift.type(of: results[place])) where the request says \(T.self).")
            }
            checked = ObjectIdentifier(Swift.type(of: results[place]))
        }
    }

    /// Where the first object of another class is. Not generic, so that the loop is one.
    private static func firstOther(than type: ObjectIdentifier, in objects: [NSObject], from start: Int) -> Int {
        var place = start
        while place < objects.count, ObjectIdentifier(Swift.type(of: objects[place])) == type { place += 1 }
        return place
    }

    private func fetchObjects(_ order: FetchOrder) throws -> [NSManagedObject] {
        let stores = stores(for: order)
        guard stores.count == 1, let store = stores.first, !concernsPendingChanges(order) else {
            return try PendingOverlay(context: self, order: order).objects(from: stores)
        }
        return try fetch(order.plan, from: store, asFaults: order.asFaults, renewing: order.renews)
    }

    final func fetch(
        _ plan: FetchPlan, from store: NumberedStore, asFaults: Bool, renewing: Bool = false
    ) throws -> [NSManagedObject] {
        var objects: ContiguousArray<NSManagedObject> = []
        let cache = rowCache
        let ticket = cache?.ticket ?? 0
        do {
            try store.rows.fetch(plan) { batch in
                if plan.includesValues {
                    cache?.add(batch, store: store.number, since: ticket)
                    materialize(batch, store: store.number, asFaults: asFaults, into: &objects)
                    if renewing { renew(batch, store: store.number) }
                } else {
                    for key in batch.keys(inStore: store.number) { objects.append(object(for: key)) }
                }
                return .more
            }
        } catch { throw CocoaError.reading(error) }
        if !plan.includesValues { join(objects) }
        return Array(objects)
    }

    private func count(_ order: FetchOrder) throws -> Int {
        let stores = stores(for: order)
        guard stores.count == 1, let store = stores.first, !concernsPendingChanges(order) else {
            return try fetchObjects(order).count
        }
        do { return try store.rows.count(order.plan) } catch { throw CocoaError.reading(error) }
    }

    /// Whether pending changes can make a difference to a fetch.
    final func concernsPendingChanges(_ order: FetchOrder) -> Bool {
        guard order.includesPendingChanges else { return false }
        settle()
        guard tracker.dirtyCount > 0 else { return false }
        if PendingOverlay.looksBeyond(order.plan) { return true }
        return tracker.dirty.contains { $0._state.has(.dirty) && $0._state.info.entity.isKind(of: order.info.entity) }
    }
}

/// The stores that one fetch asks: a child asks its parent for each of them by itself.
private struct AskedStores {
    let numbers: Set<UInt16>
    /// Whether every unsaved object will be saved in one of them.
    let areAll: Bool

    init(_ stores: [NumberedStore], _ order: FetchOrder, _ context: NSManagedObjectContext) {
        numbers = Set(stores.map(\.number))
        areAll = order.stores == nil && stores.count == context.requiredCoordinator.stores(for: order).count
    }
}

/// A fetch over stores and pending changes: the result is what predicate, order, offset and limit make of the merged view.
struct PendingOverlay {
    let context: NSManagedObjectContext
    let order: FetchOrder

    func objects(from stores: [NumberedStore]) throws -> [NSManagedObject] {
        var plan = order.plan
        plan.limit = 0
        plan.offset = 0
        let beyond = order.includesPendingChanges && PendingOverlay.looksBeyond(plan) && context.tracker.dirtyCount > 0
        // The store does not see such a predicate, so its keys are looked at here.
        do { try KeyPathCheck(schema: context.runtime.schema).run(plan) } catch { throw CocoaError.reading(error) }
        if beyond { plan.predicate = nil }
        var found: [NSManagedObject] = []
        for store in stores { found += try context.fetch(plan, from: store, asFaults: order.asFaults, renewing: order.renews) }
        let evaluator = try order.plan.predicate.map { try PendingOverlay.evaluator($0) }
        if order.includesPendingChanges { found = merge(found, evaluator, AskedStores(stores, order, context), all: beyond) }
        try sort(&found)
        return Array(found.dropFirst(order.plan.offset).prefix(order.plan.limit > 0 ? order.plan.limit : .max))
    }

    private func merge(
        _ found: [NSManagedObject], _ evaluator: Evaluator?, _ stores: AskedStores, all: Bool
    ) -> [NSManagedObject] {
        func fits(_ object: NSManagedObject) -> Bool {
            evaluator?.matches(ObjectSource(object), variables: [:]) ?? true
        }
        var result = found.filter { object in
            let state = object._state
            if state.has([.deleted, .gone]) { return false }
            return state.has(.dirty) || all ? fits(object) : true
        }
        var seen = Set(result)
        for object in context.tracker.dirty where isWanted(object, stores) && !seen.contains(object) && fits(object) {
            seen.insert(object)
            result.append(object)
        }
        return result
    }

    /// A new object is found in the store that it will be saved in.
    private func isWanted(_ object: NSManagedObject, _ stores: AskedStores) -> Bool {
        let state = object._state
        guard state.has([.inserted, .updated]), !state.has([.deleted, .gone]) else { return false }
        let isHere =
            state.pointee.store != 0
            ? stores.numbers.contains(state.pointee.store)
            : stores.areAll || stores.numbers.contains(context.home(of: object, among: order))
        guard isHere else { return false }
        if !order.plan.includesSubentities { return state.info.entity.index == order.plan.entity }
        return state.info.entity.isKind(of: order.info.entity)
    }

    private func sort(_ objects: inout [NSManagedObject]) throws {
        guard !order.plan.sort.isEmpty, objects.count > 1 else { return }
        let sortOrder: CoreDataValues.SortOrder
        do { sortOrder = try CoreDataValues.SortOrder(order.plan.sort) } catch { throw CocoaError.reading(error) }
        let isAscending = order.plan.sort.last?.isAscending ?? true
        objects.sort { a, b in
            let result = sortOrder.compare(ObjectSource(a), ObjectSource(b))
            if result != .orderedSame { return result == .orderedAscending }
            return isAscending ? PendingOverlay.isOlder(a, b) : PendingOverlay.isOlder(b, a)
        }
    }

    /// What breaks ties, as in a store: the number of the row; rows still to be written come last, as they were made.
    private static func isOlder(_ a: NSManagedObject, _ b: NSManagedObject) -> Bool {
        let (x, y) = (a._state.key.number, b._state.key.number)
        return (x < 0) == (y < 0) ? abs(x) < abs(y) : y < 0
    }

    /// Whether a predicate or an order follows relationships, so that changes of other objects matter too.
    static func looksBeyond(_ plan: FetchPlan) -> Bool {
        plan.sort.contains { $0.keyPath.count > 1 } || plan.predicate?.followsRelationships == true
    }

    static func evaluator(_ predicate: Predicate) throws -> Evaluator {
        do { return try Evaluator(predicate) } catch { throw CocoaError.reading(error) }
    }
}
