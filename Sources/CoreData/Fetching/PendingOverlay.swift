// Whether a fetch has to look at unsaved changes, and how these are merged into the results of stores.

import CoreDataValues
import Foundation

/// The stores that one fetch asks; a child asks its parent for each of them separately.
private struct AskedStores {
    let numbers: Set<UInt16>
    /// Whether every unsaved object will be saved in one of them.
    let areAll: Bool

    init(_ stores: [NumberedStore], _ fetch: BoundFetch, _ context: NSManagedObjectContext) {
        numbers = Set(stores.map(\.number))
        areAll = fetch.stores == nil && stores.count == context.requiredCoordinator.stores(for: fetch).count
    }
}

/// A fetch over stores and pending changes, which applies predicate, order, offset and limit to the merged view.
///
/// Only rows that changed here, and rows that lead to these by a relationship in the query, are judged in memory; all
/// others by the store, which is asked for as many more rows as judged ones may drop out of its result.
struct PendingOverlay {
    let context: NSManagedObjectContext
    let fetch: BoundFetch
    private let query: Query

    init(context: NSManagedObjectContext, fetch: BoundFetch) throws {
        self.context = context
        self.fetch = fetch
        do { query = try Query(fetch.plan, in: context.runtime.schema) } catch { throw CocoaError.reading(error) }
    }

    /// Whether a changed object can affect the result. Pending deletions are propagated before.
    var isNeeded: Bool {
        let reach = query.bound.reach
        return context.tracker.dirty.contains { $0._state.has(.dirty) && reach.includes($0._state.info.entity.index) }
    }

    func objects(from stores: [NumberedStore]) throws -> [NSManagedObject] {
        let judged = try Judged(self, stores)
        if stores.count == 1, fetch.plan.limit > 0 || fetch.plan.offset > 0, !objectOrder.isEmpty {
            return try page(judged, stores[0])
        }
        var plan = fetch.plan
        if plan.limit > 0 { plan.limit = sum(plan.limit, plan.offset, judged.storedKeys.count) }
        plan.offset = 0
        var found: [NSManagedObject] = []
        for store in stores { found += try fetched(plan, store) }
        return window(try merged(found, judged, isOneStore: stores.count == 1), from: fetch.plan.offset)
    }

    var objectOrder: ObjectOrder { ObjectOrder(query) }

    /// The judged objects in the result, in its order, and the predicate for all other rows.
    func parts(from stores: [NumberedStore]) throws -> (judged: [NSManagedObject], others: Predicate?) {
        let judged = try Judged(self, stores)
        return (
            objectOrder.isEmpty ? judged.fitting : try objectOrder.sorted(judged.fitting),
            judged.othersThanStored(fetch.plan.predicate)
        )
    }

    private func fetched(_ plan: FetchPlan, _ store: NumberedStore) throws -> [NSManagedObject] {
        var found = try context.fetch(
            plan, from: store, asFaults: fetch.asFaults, refreshing: fetch.refreshes, batchSize: fetch.batchSize)
        found.removeAll { fetch.isLeftOut($0) }
        return found
    }

    /// Fetches a page of an order: the store is asked for the other rows alone, from as far before the offset as judged
    /// objects may push rows behind it.
    private func page(_ judged: Judged, _ store: NumberedStore) throws -> [NSManagedObject] {
        var plan = fetch.plan
        plan.predicate = judged.othersThanStored(fetch.plan.predicate)
        plan.offset = max(0, fetch.plan.offset - judged.fitting.count)
        if plan.limit > 0 { plan.limit = sum(plan.limit, fetch.plan.offset - plan.offset) }
        let others = try fetched(plan, store)
        return window(objectOrder.inserted(judged.fitting, into: others), from: fetch.plan.offset - plan.offset)
    }

    private func window(_ objects: [NSManagedObject], from offset: Int) -> [NSManagedObject] {
        Array(objects.dropFirst(offset).prefix(fetch.plan.limit > 0 ? fetch.plan.limit : .max))
    }

    /// Adds limits without overflow: they may be as large as `Int.max`.
    private func sum(_ numbers: Int...) -> Int {
        numbers.reduce(0) { sum, number in
            let (next, isTooLarge) = sum.addingReportingOverflow(number)
            return isTooLarge ? .max : next
        }
    }

    /// Counts what `objects` would return, without reading rows that the changes cannot affect.
    func count(from stores: [NumberedStore]) throws -> Int {
        let judged = try Judged(self, stores)
        var plan = fetch.plan
        plan.limit = 0
        plan.offset = 0
        var count = judged.fitting.count
        for store in stores { count += try context.counted(plan, in: store) - judged.stored(plan, in: store, context) }
        count = max(0, count - fetch.plan.offset)
        return fetch.plan.limit > 0 ? min(count, fetch.plan.limit) : count
    }

    // MARK: Order

    /// Merges judged objects into fetched ones. Without an order they keep the store's places, new ones come last.
    private func merged(_ found: [NSManagedObject], _ judged: Judged, isOneStore: Bool) throws -> [NSManagedObject] {
        let order = objectOrder
        guard !order.isEmpty else {
            let fitting = Set(judged.fitting)
            let kept = found.filter { !judged.all.contains($0) || fitting.contains($0) }
            let seen = Set(kept)
            return kept + judged.fitting.filter { !seen.contains($0) }
        }
        let rest = found.filter { !judged.all.contains($0) }
        guard isOneStore else { return try order.sorted(rest + judged.fitting) }
        return order.inserted(judged.fitting, into: rest)
    }

    // MARK: Objects judged in memory

    /// The objects that only memory can judge.
    private struct Judged {
        private(set) var all: Set<NSManagedObject> = []
        /// The matching ones, in order of change.
        private(set) var fitting: [NSManagedObject] = []
        /// The keys of saved ones, which a store may find too.
        private(set) var storedKeys: [ObjectKey] = []

        init(_ overlay: PendingOverlay, _ stores: [NumberedStore]) throws {
            guard overlay.fetch.includesPendingChanges else { return }
            let (context, query) = (overlay.context, overlay.query)
            let reach = query.bound.reach
            let changed = context.tracker.dirty.filter {
                $0._state.has(.dirty) && reach.includes($0._state.info.entity.index)
            }
            var candidates = changed.filter { reach.rows.contains($0._state.pointee.entity) }
            all = Set(candidates)
            if let plan = Judged.linked(changed, query, overlay.fetch.plan) {
                for store in stores {
                    for object in try context.fetch(plan, from: store, asFaults: true) where all.insert(object).inserted
                    {
                        candidates.append(object)
                    }
                }
            }
            storedKeys = all.filter { !$0._state.has(.inserted) }.map(\._state.key)
            try overlay.readLinks(of: candidates)
            let asked = AskedStores(stores, overlay.fetch, context)
            let evaluator = BoundEvaluator(query)
            fitting = candidates.filter { overlay.isWanted($0, asked) && evaluator.matches(ObjectSource($0)) }
        }

        /// The plan for rows that lead to a changed object; nil if the query follows no relationship to one.
        private static func linked(
            _ changed: [NSManagedObject], _ query: Query, _ plan: FetchPlan
        ) -> FetchPlan? {
            let parts = query.bound.reach.links.compactMap { link -> Predicate? in
                let keys = changed.filter {
                    link.entities.contains($0._state.pointee.entity) && !$0._state.has(.inserted)
                        && $0.mayDiffer(in: link.keys)
                }
                if keys.isEmpty { return nil }
                return .comparison(
                    Comparison(
                        .keyPath(link.path), .in, .list(keys.map { .constant(.key($0._state.key)) }),
                        modifier: link.passesToMany ? .any : .direct))
            }
            guard !parts.isEmpty else { return nil }
            var linked = FetchPlan(entity: plan.entity)
            linked.includesSubentities = plan.includesSubentities
            linked.predicate = .or(parts)
            return linked
        }

        /// The predicate for the other rows of a store.
        func othersThanStored(_ predicate: Predicate?) -> Predicate? {
            storedKeys.isEmpty ? predicate : Judged.both(predicate, .not(Judged.among(storedKeys)))
        }

        /// How many rows of judged objects a store counts.
        func stored(_ plan: FetchPlan, in store: NumberedStore, _ context: NSManagedObjectContext) throws -> Int {
            // The parent may have them without a store.
            let keys = storedKeys.filter { $0.store == store.number || $0.store == 0 }
            if keys.isEmpty { return 0 }
            var judged = plan
            judged.predicate = Judged.both(plan.predicate, Judged.among(keys))
            return try context.counted(judged, in: store)
        }

        private static func among(_ keys: [ObjectKey]) -> Predicate {
            .comparison(Comparison(.this, .in, .list(keys.map { .constant(.key($0)) })))
        }

        private static func both(_ asked: Predicate?, _ other: Predicate) -> Predicate {
            asked.map { .and([$0, other]) } ?? other
        }
    }

    /// Prefetches the relationships in the query for judged objects; otherwise each would read its own.
    private func readLinks(of objects: [NSManagedObject]) throws {
        guard objects.count > 1, !query.bound.reach.isLocal else { return }
        let paths = query.bound.reach.links.map { $0.path.joined(separator: ".") }
        let steps = try PrefetchStep.steps(paths, from: fetch.info.entity, in: context.runtime.schema)
        try Prefetch(context: context, isEverything: false).run(steps, objects)
    }

    /// Whether an object can be in the result: a new one belongs to the store that it will be saved in.
    private func isWanted(_ object: NSManagedObject, _ stores: AskedStores) -> Bool {
        let state = object._state
        guard !state.has([.deleted, .detached]) else { return false }
        let isHere =
            state.pointee.store != 0
            ? stores.numbers.contains(state.pointee.store)
            : stores.areAll || stores.numbers.contains(context.home(of: object, among: fetch))
        return isHere && query.bound.reach.rows.contains(state.pointee.entity)
    }
}

extension NSManagedObjectContext {
    /// Returns the overlay that merges pending changes into a fetch; nil if one store's answer is the result.
    final func overlay(for fetch: BoundFetch, over stores: [NumberedStore]) throws -> PendingOverlay? {
        if fetch.includesPendingChanges {
            processChanges()
            // A fetch by a store during a save must not see pending changes.
            if tracker.dirtyCount > 0, !requiredCoordinator.isView {
                let overlay = try PendingOverlay(context: self, fetch: fetch)
                if overlay.isNeeded || stores.count != 1 { return overlay }
            }
        }
        return stores.count == 1 ? nil : try PendingOverlay(context: self, fetch: fetch)
    }

    fileprivate final func counted(_ plan: FetchPlan, in store: NumberedStore) throws -> Int {
        do { return try store.rows.count(store.asked(plan), .latest) } catch { throw CocoaError.reading(error) }
    }
}

extension NSManagedObject {
    /// Whether a row that leads to this object may be judged differently now, if these properties are read. A changed
    /// relationship always counts, as the inverse that changed with it need not be in memory.
    fileprivate func mayDiffer(in keys: Set<String>) -> Bool {
        guard !_state.has(.deleted), let overlay = _state.overlay else { return true }
        var mayDiffer = false
        forEachToMany { _, members in if members.isChanged { mayDiffer = true } }
        if mayDiffer { return true }
        let entity = _state.info.entity
        return entity.slots.indices.contains { slot in
            overlay.isPresent(slot)
                && (entity.slots[slot].relationship != nil || keys.contains(entity.slots[slot].name))
        }
    }
}
