// The rows that a save writes to one store, with their objects.

import CoreDataValues
import Foundation

/// The rows that a save writes to one store, with their objects. A class: a copy would retain a dozen lists.
final class StoreBatch {
    let store: NumberedStore
    let batch: ChangeBatch
    let written: ContiguousArray<WrittenRow>
    /// The rows of the batch's touches.
    private(set) var touched: ContiguousArray<WrittenRow>

    init(
        store: NumberedStore, batch: ChangeBatch, written: ContiguousArray<WrittenRow>,
        touched: ContiguousArray<WrittenRow>
    ) {
        self.store = store
        self.batch = batch
        self.written = written
        self.touched = touched
    }

    /// Drops touched rows that another writer has changed: the batch does not have their present values. Their objects
    /// keep the rows that they read, so that their next change is a conflict.
    func dropOvertaken(_ overtaken: [RowKey]) {
        if overtaken.isEmpty { return }
        let keys = Set(overtaken)
        touched.removeAll { keys.contains($0.key) }
    }
}
