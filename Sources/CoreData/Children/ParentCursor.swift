// The rows that a child's fetch finds in its parent, read on demand.

import CoreDataValues
import Foundation

/// Reads a fetch over one store in batches as a parent has them: rows from below as they are, registered or changed
/// objects packed. Unsaved changes count as they are when the cursor begins.
///
/// Used while the caller holds the parent and all its ancestors.
final class ParentCursor {
    private let parent: NSManagedObjectContext
    private let store: UInt16
    /// The store's rows, if no unsaved change can affect the result.
    private var rows: (any ReadCursor<RowBatch>)?
    private var objects: FetchCursor?
    private var ready: ArraySlice<RowBatch> = []

    init(_ parent: NSManagedObjectContext, _ plan: FetchPlan, from number: UInt16) throws {
        (self.parent, store) = (parent, number)
        let fetch = parent.bound(plan)
        guard let store = parent.stores(for: fetch).first(where: { $0.number == number }) else { return }
        if try parent.overlay(for: fetch, over: [store]) == nil {
            rows = try store.rows.open(plan, .latest)
        } else {
            objects = try FetchCursor(parent, fetch, from: [store])
        }
    }

    /// Returns the next rows; nil at the end.
    func next() throws -> RowBatch? {
        while true {
            if let batch = ready.popFirst() { if batch.count > 0 { return batch } else { continue } }
            if let batch = try rows?.next() {
                ready = try parent.asHeld(batch, store: store)[...]
            } else if let some = try objects?.next() {
                ready = try parent.pack(some)[...]
            } else {
                return nil
            }
        }
    }

    deinit { rows?.close() }
}
