// What a child's fetch finds in its parent, read as the child asks for it.

import CoreDataValues
import Foundation

/// The rows of a fetch over one store as a parent has them, by the batch: rows from below as they are, objects that are held or changed
/// here packed anew. What is unsaved counts as it is when the stream begins.
///
/// Used while the caller holds the parent and all contexts above it.
final class ParentStream {
    private let parent: NSManagedObjectContext
    private let store: UInt16
    /// Where nothing that is unsaved matters.
    private var rows: (any ReadCursor<RowBatch>)?
    private var objects: FetchStream?
    private var ready: ArraySlice<RowBatch> = []

    init(_ parent: NSManagedObjectContext, _ plan: FetchPlan, from number: UInt16) throws {
        (self.parent, store) = (parent, number)
        let order = parent.order(plan)
        guard let store = parent.stores(for: order).first(where: { $0.number == number }) else { return }
        if try parent.overlay(for: order, over: [store]) == nil {
            rows = try store.rows.open(plan, .latest)
        } else {
            objects = try FetchStream(parent, order, from: [store])
        }
    }

    /// The next rows; nil at the end.
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
