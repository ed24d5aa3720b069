// A fetch whose rows are read on demand.

import CoreDataValues
import Foundation

/// Returns the objects of a fetch in batches: those of the stores and unsaved ones, merged in the fetch's order.
final class FetchCursor {
    /// Objects of one store, or the judged ones, in order.
    private struct Source {
        var cursor: (any ReadCursor<RowBatch>)?
        var store: UInt16 = 0
        var objects: ArraySlice<NSManagedObject> = []
    }
    private let context: NSManagedObjectContext
    private let fetch: BoundFetch
    private var sources: [Source] = []
    /// How objects of the sources are merged; nil if the sources are returned one after the other.
    private var merging: ObjectOrder?
    private var skips = 0
    private var wanted = Int.max

    /// - Parameter stores: the stores to ask; nil for all of the request.
    init(_ context: NSManagedObjectContext, _ fetch: BoundFetch, from stores: [NumberedStore]? = nil) throws {
        self.context = context
        self.fetch = fetch
        var plan = fetch.plan
        plan.includesValues = true
        let stores = stores ?? context.stores(for: fetch)
        if let overlay = try context.overlay(for: fetch, over: stores) {
            let parts = try overlay.parts(from: stores)
            plan.predicate = parts.others
            (skips, wanted) = (plan.offset, plan.limit > 0 ? plan.limit : .max)
            (plan.offset, plan.limit) = (0, 0)
            merging = overlay.objectOrder.isEmpty ? nil : overlay.objectOrder
            sources.append(Source(objects: parts.judged[...]))
        }
        for (place, store) in stores.enumerated() {
            do {
                sources.insert(
                    Source(cursor: try store.rows.open(store.asked(plan), .latest), store: store.number), at: place)
            } catch { throw CocoaError.reading(error) }
        }
    }

    /// Returns the next objects; nil at the end.
    func next() throws -> [NSManagedObject]? {
        var batch: [NSManagedObject] = []
        while wanted > 0, batch.isEmpty, let some = try merging == nil || sources.count == 1 ? following() : merged() {
            let present = some.filter { !fetch.isLeftOut($0) }
            batch = Array(present.dropFirst(skips).prefix(wanted))
            skips -= min(skips, present.count)
            wanted -= batch.count
        }
        guard !batch.isEmpty else { return nil }
        if !fetch.prefetch.isEmpty { try Prefetch(context: context, isEverything: false).run(fetch.prefetch, batch) }
        return batch
    }

    /// The next batch of the first source that has one.
    private func following() throws -> [NSManagedObject]? {
        while !sources.isEmpty {
            if try refill(0) {
                defer { sources[0].objects = [] }
                return Array(sources[0].objects)
            }
            sources.removeFirst()
        }
        return nil
    }

    /// Merges up to a chunk's number of objects, taking the first one among the sources each time.
    private func merged() throws -> [NSManagedObject]? {
        var result: [NSManagedObject] = []
        while result.count < RowChunk.maximumCount {
            var first: Int?
            for place in sources.indices where try refill(place) {
                if let best = first, let a = sources[best].objects.first, let b = sources[place].objects.first,
                    merging?.precedes(b, a) != true
                {
                    continue
                }
                first = place
            }
            guard let first else { break }
            result.append(sources[first].objects.removeFirst())
        }
        return result.isEmpty ? nil : result
    }

    /// Reads a source's next batch if it has no objects left; false at its end.
    private func refill(_ place: Int) throws -> Bool {
        while sources[place].objects.isEmpty {
            guard let cursor = sources[place].cursor else { return false }
            do {
                guard let batch = try cursor.next() else {
                    sources[place].cursor = nil
                    return false
                }
                let objects = context.faulting.materialize(
                    [batch], store: sources[place].store, asFaults: fetch.asFaults)
                if fetch.refreshes { context.refreshObjects(with: batch, store: sources[place].store) }
                sources[place].objects = objects[...]
            } catch { throw CocoaError.reading(error) }
        }
        return true
    }

    deinit { for source in sources { source.cursor?.close() } }
}
