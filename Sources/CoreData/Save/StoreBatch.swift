// What a save hands to one store, and which object each row belongs to.

import CoreDataValues
import Foundation

/// What a save hands to one store, and which object each row belongs to. A class, because copying it would retain a dozen lists.
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

    /// Rows that another writer changed are not what the batch has: their objects stay on those that they have read, so that the
    /// next change of theirs is seen to be a conflict.
    func leaveOut(_ overtaken: [RowKey]) {
        if overtaken.isEmpty { return }
        let keys = Set(overtaken)
        touched.removeAll { keys.contains($0.key) }
    }
}
