// Fetches objects: the store's results with the context's pending changes merged in.

import CCoreDataRuntime
import CoreDataValues
import Foundation

extension NSManagedObjectContext {
    /// Returns the results of a request, unsaved changes included.
    ///
    /// Runs one statement for each store and no other I/O. Registered objects keep their values.
    /// - Throws: an error of the Cocoa domain; also that of an earlier read in a getter.
    public final func fetch<T>(_ request: NSFetchRequest<T>) throws -> [T] {
        checkQueue()
        try faulting.throwReadError()
        if coredata_is_observed() { return try observed(request) { try found(request) } }
        return try found(request)
    }

    @inline(__always)
    private func found<T>(_ request: NSFetchRequest<T>) throws -> [T] {
        switch request.resultType {
        case .managedObjectResultType:
            if request.propertiesToFetch != nil || request.propertiesToGroupBy != nil {
                try checkProperties(of: request)
            }
            let fetch = try bound(request)
            let objects = try fetchObjects(fetch)
            if !fetch.prefetch.isEmpty {
                try Prefetch(context: self, isEverything: fetch.plan.isEverything).run(fetch.prefetch, objects)
            }
            if request.refusesFaults {
                faulting.expectNoFaults(of: objects)
            } else if faulting.isTracing {
                faulting.trace(objects)
            }
            return try cast(objects, request)
        case .managedObjectIDResultType:
            return try cast(fetchObjects(try bound(request)).map(\.objectID), request)
        case .countResultType:
            return try cast([NSNumber(value: try count(try bound(request)))], request)
        case .dictionaryResultType:
            return try cast(dictionaries(request), request)
        case let other:
            throw CocoaError.unsupported("NSFetchRequest.resultType \(other.rawValue)")
        }
    }

    /// How many objects `fetch` would find.
    public final func count<T>(for request: NSFetchRequest<T>) throws -> Int { try counted(request) }

    /// How many objects `fetch` would find.
    public final func count(for request: NSFetchRequest<any NSFetchRequestResult>) throws -> Int {
        try counted(request)
    }

    /// Returns the results of a request of no particular type, unsaved changes included.
    @_disfavoredOverload
    public final func fetch(_ request: NSFetchRequest<any NSFetchRequestResult>) throws -> [Any] {
        let found: [any NSFetchRequestResult] = try fetch(request)
        return found
    }

    private func counted<T>(_ request: NSFetchRequest<T>) throws -> Int {
        checkQueue()
        try faulting.throwReadError()
        if coredata_is_observed() { return try observedCount(request) { try countNow(request) } }
        return try countNow(request)
    }

    @inline(__always)
    private func countNow<T>(_ request: NSFetchRequest<T>) throws -> Int {
        if request.resultType == .dictionaryResultType { return try countOfDictionaries(request) }
        return try count(try bound(request))
    }

    /// Casts results to the request's type.
    private func cast<T, R: NSObject>(_ results: [R], _ request: NSFetchRequest<T>) throws -> [T] {
        try NSManagedObjectContext.check(results, areOf: T.self, named: request.entityName)
        return unsafeBitCast(results, to: [T].self)
    }

    /// Throws unless each result is of the request's type. Checks each class once, not each element (86 ns each).
    static func check<T, R: NSObject>(_ results: [R], areOf type: T.Type, named entity: String?) throws {
        var place = 0
        var checked = ObjectIdentifier(T.self)
        while true {
            place = NSManagedObjectContext.firstOther(
                than: checked, in: unsafeBitCast(results, to: [NSObject].self), from: place)
            guard place < results.count else { return }
            guard results[place] is T else {
                throw CocoaError.coreData(
                    134060,
                    "A fetch of \(entity ?? "") found \(Swift.type(of: results[place])) where the request says \(T.self)."
                )
            }
            checked = ObjectIdentifier(Swift.type(of: results[place]))
        }
    }

    /// The index of the first object of another class. Not generic, so that it compiles to one loop.
    private static func firstOther(than type: ObjectIdentifier, in objects: [NSObject], from start: Int) -> Int {
        var place = start
        while place < objects.count, ObjectIdentifier(Swift.type(of: objects[place])) == type { place += 1 }
        return place
    }

    final func fetchObjects(_ fetch: BoundFetch) throws -> [NSManagedObject] {
        let stores = self.stores(for: fetch)
        if let overlay = try overlay(for: fetch, over: stores) { return try overlay.objects(from: stores) }
        guard let store = stores.first else { return [] }
        return try self.fetch(
            fetch.plan, from: store, asFaults: fetch.asFaults, refreshing: fetch.refreshes, batchSize: fetch.batchSize)
    }

    final func fetch(
        _ plan: FetchPlan, from store: NumberedStore, asFaults: Bool, refreshing: Bool = false,
        batchSize: Int = RowChunk.maximumCount
    ) throws -> [NSManagedObject] {
        // Apart, as a plan that is asked as it is need not be copied.
        if store.isOnlyOne { return try fetch(asked: plan, from: store, asFaults, refreshing, batchSize) }
        return try fetch(asked: store.asked(plan), from: store, asFaults, refreshing, batchSize)
    }

    private func fetch(
        asked plan: FetchPlan, from store: NumberedStore, _ asFaults: Bool, _ refreshing: Bool, _ batchSize: Int
    ) throws -> [NSManagedObject] {
        var objects: ContiguousArray<NSManagedObject> = []
        let cache = rowCache
        let ticket = cache?.ticket ?? 0
        do {
            try store.rows.fetch(plan, .latest) { batch in
                if plan.includesValues {
                    cache?.add(batch, store: store.number, since: ticket)
                    faulting.materialize(batch, store: store.number, asFaults: asFaults, into: &objects)
                    if refreshing { refreshObjects(with: batch, store: store.number) }
                } else {
                    appendFaults(for: batch, of: store, to: &objects)
                }
                if let fetchProgress { fetchProgress.add(batch.count) }
                return .more
            }
        } catch { throw CocoaError.reading(error) }
        if !plan.includesValues { joinBatches(of: objects, batchSize) }
        return Array(objects)
    }

    private func count(_ fetch: BoundFetch) throws -> Int {
        let stores = self.stores(for: fetch)
        if let overlay = try overlay(for: fetch, over: stores) { return try overlay.count(from: stores) }
        guard let store = stores.first else { return 0 }
        do { return try store.rows.count(store.asked(fetch.plan), .latest) } catch { throw CocoaError.reading(error) }
    }

    /// The stores that a fetch asks. Mostly those of the coordinator, as they are.
    final func stores(for fetch: BoundFetch) -> [NumberedStore] {
        readsElsewhere ? link.stores(for: fetch, self) : requiredCoordinator.stores(for: fetch)
    }
}
